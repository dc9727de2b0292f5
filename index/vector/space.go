package vector

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"
)

// MaxParts is the number of rows an owner may have.
const MaxParts = 4

// arenaRows is the number of rows of one arena.
const arenaRows = 1024

var (
	// ErrDims says that a vector has another number of values than the space.
	ErrDims = errors.New("vector has the wrong number of values")
	// ErrValue says that a vector has a value that is NaN or infinite, or is not of unit length.
	ErrValue = errors.New("vector is not a finite unit vector")
)

// Row is the number of a vector in a space.
type Row uint32

// Match is the best row of an owner for a query.
type Match struct {
	Owner  uint32  // as given to Add
	Part   uint8   // as given to Add
	Cosine float32 // scalar product of unit vectors
}

// Space is a set of unit vectors of one size. Each belongs to an owner, which may have several, told apart by a part
// number. A Space is safe for concurrent use.
type Space struct {
	dims     int
	minGraph int // rows from which there is a graph
	walkCost int // see the constants of these names
	walkPart int
	folder   string        // for values; empty: in memory
	stop     chan struct{} // closed by Close
	scanners sync.Pool     // *scanner
	walkers  sync.Pool     // *walker

	// writes is held by those who change anything below, mu besides for the change itself: what has to grow is copied before it, while
	// others read. The memory that belongs to writes alone is handed out under it.
	writes sync.Mutex
	slab   slab  // memory for codes
	values slab  // memory for values
	spill  spill // memory for values that are mapped from a file

	mu      sync.RWMutex
	arenas  []*arena // may be ahead of the rows
	mapped  int64    // bytes of the arenas' values that lie in a file
	rows    []label
	byOwner rowsOf
	free    []Row
	live    int
	parts   int     // rows an owner has at most
	loss    float64 // greatest loss of a row, never reduced

	graph    *graph        // nil below minGraph rows
	fresh    *graph        // while the graph is being built anew
	tail     []Row         // with a graph: rows that are not in it yet
	building chan struct{} // closed when the builder ends; nil when none runs
	closed   bool
	held     bool // no builder is started
}

// label says whose row it is.
type label struct {
	owner   uint32
	next    uint32 // another row of the owner; see rowsOf
	part    uint8
	live    bool
	pending bool // in the tail
}

// Options configure a space. Dims is needed.
type Options struct {
	Dims int // values of a vector
	// Folder is where the float32 values of large spaces lie, in a file without a name that is mapped into memory, so that the
	// system may write them out; codes, links and labels, about a third, are always in memory. The file is gone with the
	// space or the process. Empty, or where a file cannot be made or extended: in memory.
	Folder string
	// GraphRows is the number of rows from which there is a graph. 0: 32,768.
	GraphRows int
}

// NewSpace returns an empty space of vectors with dims values, held in memory.
func NewSpace(dims int) *Space { return NewSpaceWith(Options{Dims: dims}) }

// NewSpaceWith returns an empty space.
func NewSpaceWith(o Options) *Space {
	if o.GraphRows <= 0 {
		o.GraphRows = graphRows
	}
	return &Space{dims: o.Dims, folder: o.Folder, minGraph: o.GraphRows, walkCost: walkCost, walkPart: walkPart, stop: make(chan struct{})}
}

// Dims returns the number of values of a vector.
func (s *Space) Dims() int { return s.dims }

// Len returns the number of rows.
func (s *Space) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.live
}

// Check returns ErrDims or ErrValue for a vector the space cannot hold or search for. Length may be off by 1e-3.
func (s *Space) Check(values []float32) error {
	if len(values) != s.dims {
		return fmt.Errorf("%w: %d, want %d", ErrDims, len(values), s.dims)
	}
	if len(values) == 0 {
		return fmt.Errorf("%w: no values", ErrDims)
	}
	sum := float64(vek32.Dot(values, values))
	if !(math.Abs(sum-1) < 2e-3) {
		return fmt.Errorf("%w: squared length %v", ErrValue, sum)
	}
	return nil
}

// Add copies values into the space. part is below MaxParts, and an owner has at most one row for each.
func (s *Space) Add(values []float32, owner uint32, part uint8) (Row, error) {
	if err := s.Check(values); err != nil {
		return 0, err
	}
	if part >= MaxParts {
		return 0, fmt.Errorf("%w: part %d", ErrValue, part)
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	s.makeRoom(owner, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	row := Row(len(s.rows))
	if n := len(s.free); n > 0 {
		row, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.rows = append(s.rows, label{})
	}
	loss := s.arenas[int(row)/arenaRows].put(int(row)%arenaRows, values)
	s.loss, s.parts = max(s.loss, loss), max(s.parts, int(part)+1)
	s.rows[row] = label{owner: owner, part: part, live: true}
	s.joinOwnerLocked(row)
	s.live++
	if s.graph != nil {
		s.rows[row].pending = true
		s.tail = append(s.tail, row)
	}
	s.startLocked()
	return row, nil
}

// Reserve makes room for n rows of an owner, so that adding them later takes no time for growing. Searches go on meanwhile.
func (s *Space) Reserve(owner uint32, n int) {
	s.writes.Lock()
	defer s.writes.Unlock()
	s.makeRoom(owner, n)
}

// makeRoom is called with writes held. It copies what is full and puts the copies in place.
func (s *Space) makeRoom(owner uint32, n int) {
	rows, arenas, first := s.rows, s.arenas, s.byOwner.first
	if n -= len(s.free); n > 0 {
		rows = slices.Grow(rows, n)
		for len(rows)+n > len(arenas)*arenaRows {
			arenas = append(slices.Clip(arenas), s.newArena(len(arenas)))
		}
	}
	if more := int(owner) + 1 - len(first); more > 0 && !s.byOwner.scattered && !s.scattersLocked(owner) {
		first = slices.Grow(first, more)
	}
	if cap(rows) == cap(s.rows) && len(arenas) == len(s.arenas) && cap(first) == cap(s.byOwner.first) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows, s.arenas, s.byOwner.first, s.mapped = rows, arenas, first, s.spill.size
}

// lock takes both locks of those who write.
func (s *Space) lock() {
	s.writes.Lock()
	s.mu.Lock()
}

func (s *Space) unlock() {
	s.mu.Unlock()
	s.writes.Unlock()
}

// Remove takes a row out and reports whether it was there.
func (s *Space) Remove(row Row) bool {
	s.lock()
	defer s.unlock()
	if int(row) >= len(s.rows) || !s.rows[row].live {
		return false
	}
	s.live--
	s.rows[row].live = false
	s.leaveOwnerLocked(row)
	switch {
	case s.rows[row].pending && s.building != nil: // the builder frees it
	case s.rows[row].pending:
		s.leaveTailLocked(row)
		s.free = append(s.free, row)
	case s.graph != nil && s.graph.has(row):
		s.graph.dead++
		if s.fresh != nil && s.fresh.has(row) {
			s.fresh.dead++
		}
	default:
		s.free = append(s.free, row)
	}
	s.startLocked()
	return true
}

// Values returns a copy of a row, nil when there is none.
func (s *Space) Values(row Row) []float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if int(row) >= len(s.rows) || !s.rows[row].live {
		return nil
	}
	return slices.Clone(s.rowLocked(row))
}

// Cosine returns the scalar product of a row and a unit vector; ok is false when there is no such row.
func (s *Space) Cosine(row Row, values []float32) (cos float32, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if int(row) >= len(s.rows) || !s.rows[row].live || len(values) != s.dims {
		return 0, false
	}
	return vek32.Dot(s.rowLocked(row), values), true
}

func (s *Space) rowLocked(row Row) []float32 { return valuesIn(s.arenas, row, s.dims) }

func valuesIn(arenas []*arena, row Row, dims int) []float32 {
	i := int(row) % arenaRows * dims
	return arenas[int(row)/arenaRows].values[i : i+dims : i+dims]
}

// Stats describes a space.
type Stats struct {
	Rows  int   // rows that can be found
	Graph int   // rows in the graph, removed ones included
	Tail  int   // with a graph: rows that are only scanned
	Dead  int   // removed rows whose place is not free yet
	Bytes int64 // memory of values, codes, labels and links, without what is mapped
	// Mapped is the size of the file of values that is mapped into memory; see Options.Folder.
	Mapped int64
}

// Stats returns the present size of the space.
func (s *Space) Stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := Stats{Rows: s.live, Tail: len(s.tail)}
	st.Mapped = s.mapped
	st.Bytes = int64(len(s.arenas))*arenaRows*int64(4*s.dims+stride(s.dims)+4) - st.Mapped + int64(cap(s.rows))*12 + int64(cap(s.byOwner.first))*4
	if s.graph != nil {
		st.Graph, st.Dead = s.graph.size, s.graph.dead
		st.Bytes += int64(len(s.graph.base))*arenaRows*4*(linksBase+1) + int64(cap(s.graph.upper))*4
	}
	return st
}
