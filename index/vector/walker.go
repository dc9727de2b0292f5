package vector

import (
	"math"
	"unsafe"
)

// batchRows is the number of rows that are scored together, at most.
const batchRows = 64

// walker is the working memory of a walk through a graph. It is used by one goroutine at a time.
type walker struct {
	arenas   []*arena // those of the space when the walk began
	seen     []uint64 // bit set of the rows that the walk has come to
	unwanted []uint64 // bit set of the rows that a filter is known to refuse, as long as seen
	line     []key    // the best rows so far, best first
	rows     [batchRows]uint32
	at       [batchRows]*int8
	scales   [batchRows]float32
	scores   [batchRows]float32
}

// key orders rows by score, best first, then by number: the inverted bits of the score above the number of the row. The
// highest bit of the number says that the walk has gone on from the row.
type key uint64

const (
	gone    key = 1 << 31
	rowBits     = 1<<31 - 1
)

func keyOf(score float32, row uint32) key {
	b := math.Float32bits(score)
	b ^= uint32(int32(b)>>31) | 1<<31 // rises with the score
	return key(^b)<<32 | key(row)
}

func (k key) row() Row { return Row(k & rowBits) }

func (k key) score() float32 {
	b := ^uint32(k >> 32)
	if b>>31 == 1 {
		return math.Float32frombits(b ^ 1<<31)
	}
	return math.Float32frombits(^b)
}

func (k key) scored() scored { return scored{k.score(), k.row()} }

func (s *Space) walkerLocked() *walker {
	w, _ := s.walkers.Get().(*walker)
	if w == nil {
		w = &walker{}
	}
	if n := (len(s.rows) + 63) / 64; len(w.seen) < n {
		w.seen = make([]uint64, n+n/4)
	}
	w.arenas = s.arenas
	return w
}

// release gives a walker back.
func (s *Space) release(w *walker) {
	w.arenas = nil
	s.walkers.Put(w)
}

// values returns the values of a row.
func (w *walker) values(row Row, dims int) []float32 { return valuesIn(w.arenas, row, dims) }

// begin forgets what an earlier walk saw.
func (w *walker) begin(start Row) {
	clear(w.seen)
	w.seen[start/64] |= 1 << (start % 64)
	w.line = w.line[:0]
}

// beginFilter forgets what an earlier filter refused.
func (w *walker) beginFilter() {
	if len(w.unwanted) < len(w.seen) {
		w.unwanted = make([]uint64, len(w.seen))
	}
	clear(w.unwanted)
}

func (w *walker) has(row uint32) bool { return w.seen[row/64]>>(row%64)&1 == 1 }

func (w *walker) see(row uint32) { w.seen[row/64] |= 1 << (row % 64) }

// unseen writes the links that the walk has not come to yet to w.rows and returns their number.
func (w *walker) unseen(links []uint32) (n int) {
	for _, link := range links {
		if link == noRow {
			break
		}
		word := &w.seen[link/64]
		w.rows[n%batchRows] = link
		n += int(^*word >> (link % 64) & 1)
		*word |= 1 << (link % 64)
	}
	return n
}

// score scores the first n rows of w.rows, at most batchRows.
func (s *Space) score(w *walker, q code, n int) {
	step := stride(s.dims)
	for i, row := range w.rows[:n] {
		a := w.arenas[row/arenaRows]
		w.at[i] = &a.codes[int(row%arenaRows)*step]
		w.scales[i] = a.scales[row%arenaRows]
	}
	for i := n; i%rowGroup != 0; i++ {
		w.at[i] = w.at[n-1]
	}
	rowDots(&w.scores[0], &w.at[0], (n+rowGroup-1)/rowGroup, &q.values[0], len(q.values))
	for i, x := range w.scales[:n] {
		w.scores[i] *= x * q.scale
	}
}

// lineUp puts a row in its place among the best width and returns the place; width when it is not among them.
func (w *walker) lineUp(k key, width int) int {
	n := len(w.line)
	if n >= width && k > w.line[n-1] {
		return width
	}
	low := 0
	for size := n; size > 0; {
		half := size / 2
		if w.line[low+half] < k {
			low += half + 1
			size -= half + 1
		} else {
			size = half
		}
	}
	if n < width {
		w.line = append(w.line, 0)
	}
	copy(w.line[low+1:], w.line[low:])
	w.line[low] = k
	return low
}

// near leaves the width best rows of a layer, as a walk from start finds them, in w.line.
func (s *Space) near(g *graph, w *walker, q code, start scored, level, width int) {
	w.begin(start.row)
	w.line = append(w.line, keyOf(start.score, uint32(start.row)))
	for at := 0; at < len(w.line); {
		if w.line[at]&gone != 0 {
			at++
			continue
		}
		w.line[at] |= gone
		n := w.unseen(g.block(w.line[at].row(), level))
		if n == 0 {
			continue
		}
		if level == 0 && at+1 < len(w.line) {
			// Most likely the next one to go on from.
			prefetch(unsafe.Pointer(&g.block(w.line[at+1].row(), 0)[0]), 4*linksBase)
		}
		s.score(w, q, n)
		at = s.lineUpAll(w, n, at, width)
	}
}

// lineUpAll puts the n rows scored in their places and returns the place to go on from.
func (s *Space) lineUpAll(w *walker, n, at, width int) int {
	for i, score := range w.scores[:n] {
		at = min(at, w.lineUp(keyOf(score, w.rows[i]), width))
	}
	return at
}

// descend walks greedily from the top to layer level and returns the row it ends at.
func (s *Space) descend(g *graph, w *walker, q code, level int) scored {
	w.rows[0] = uint32(g.entry)
	s.score(w, q, 1)
	here := scored{w.scores[0], g.entry}
	for l := g.top; l > level; l-- {
		for moved := true; moved; {
			moved = false
			n := copy(w.rows[:], g.links(here.row, l))
			if n == 0 {
				break
			}
			s.score(w, q, n)
			for i, score := range w.scores[:n] {
				if score > here.score {
					here, moved = scored{score, Row(w.rows[i])}, true
				}
			}
		}
	}
	return here
}
