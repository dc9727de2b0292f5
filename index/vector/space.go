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
	dims int

	scanners sync.Pool // *scanner

	mu     sync.RWMutex
	arenas []*arena
	rows   []label
	free   []Row
	live   int
	parts  int     // rows an owner has at most
	loss   float64 // greatest loss of a row, never reduced
}

// label says whose row it is.
type label struct {
	owner uint32
	part  uint8
	live  bool
}

// NewSpace returns an empty space of vectors with dims values.
func NewSpace(dims int) *Space { return &Space{dims: dims} }

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
	var sum float64
	for _, x := range values {
		sum += float64(x) * float64(x)
	}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	row := Row(len(s.rows))
	if n := len(s.free); n > 0 {
		row, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.rows = append(s.rows, label{})
		if int(row)/arenaRows == len(s.arenas) {
			s.arenas = append(s.arenas, newArena(s.dims))
		}
	}
	loss := s.arenas[int(row)/arenaRows].put(int(row)%arenaRows, values)
	s.loss, s.parts = max(s.loss, loss), max(s.parts, int(part)+1)
	s.rows[row] = label{owner, part, true}
	s.live++
	return row, nil
}

// Remove takes a row out and reports whether it was there.
func (s *Space) Remove(row Row) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(row) >= len(s.rows) || !s.rows[row].live {
		return false
	}
	s.rows[row] = label{}
	s.free = append(s.free, row)
	s.live--
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

func (s *Space) rowLocked(row Row) []float32 {
	i := int(row) % arenaRows * s.dims
	return s.arenas[int(row)/arenaRows].values[i : i+s.dims : i+s.dims]
}
