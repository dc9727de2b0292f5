package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// ErrLinks says that stored links do not fit the space.
var ErrLinks = errors.New("links do not fit the rows")

// Links returns the graph as bytes, nil when there is none. number gives the new number of a row; rows without one are left
// out. Format, all little endian: u32 rows, u32 entry; for each row u32 number, u8 layers, and for each layer from 0 on u8
// links and u32 numbers.
//
// It is the graph as it was when Links was called: links to rows that came later are left out. So are twins, which are found again when
// they are linked in anew. Others may use the space meanwhile, and wait for a thousand rows at most.
func (s *Space) Links(number func(Row) (uint32, bool)) []byte {
	s.mu.RLock()
	w := linkWriter{g: s.graph, number: number, end: Row(len(s.rows)), entryLevel: -1}
	if w.g == nil || w.g.size == 0 {
		s.mu.RUnlock()
		return nil
	}
	// Its memory goes with the graph, which may be replaced.
	defer runtime.KeepAlive(w.g)
	w.members.member = slices.Clone(w.g.member)
	size := w.g.size
	s.mu.RUnlock()
	w.out = make([]byte, 8, 8+size*128)
	for first := Row(0); first < w.end; first += linkedAtOnce {
		s.mu.RLock()
		w.write(first, min(first+linkedAtOnce, w.end))
		s.mu.RUnlock()
	}
	binary.LittleEndian.PutUint32(w.out, w.count)
	binary.LittleEndian.PutUint32(w.out[4:], w.entry)
	return w.out
}

// linkedAtOnce is how many rows are written under one lock.
const linkedAtOnce = 1024

// linkWriter writes the links of a graph.
type linkWriter struct {
	g          *graph
	members    graph // of which only the rows that are written are known
	number     func(Row) (uint32, bool)
	end        Row
	out        []byte
	count      uint32
	entry      uint32
	entryLevel int
}

func (w *linkWriter) write(first, end Row) {
	for row := first; row < end; row++ {
		to, ok := w.number(row)
		if !ok || !w.members.has(row) || !w.g.linked(row) {
			continue
		}
		w.count++
		level := w.g.levelOf(row)
		if level > w.entryLevel {
			w.entry, w.entryLevel = to, level
		}
		w.out = binary.LittleEndian.AppendUint32(w.out, to)
		w.out = append(w.out, byte(level+1))
		for l := range level + 1 {
			w.links(row, l)
		}
	}
}

func (w *linkWriter) links(row Row, level int) {
	at := len(w.out)
	w.out = append(w.out, 0)
	for _, link := range w.g.links(row, level) {
		if to, ok := w.number(Row(link)); ok && w.members.has(Row(link)) {
			w.out = binary.LittleEndian.AppendUint32(w.out, to)
			w.out[at]++
		}
	}
}

// Hold keeps the space from starting to build a graph until SetLinks or Resume.
func (s *Space) Hold() {
	s.lock()
	defer s.unlock()
	s.held = true
}

// Resume ends Hold.
func (s *Space) Resume() {
	s.lock()
	defer s.unlock()
	s.held = false
	s.startLocked()
}

// SetLinks gives a space that was held since it was empty the graph that Links returned for the same rows under their new
// numbers, and ends Hold. Rows outside the graph are linked in later. It returns ErrLinks, and the space builds its graph
// anew, when anything in data does not fit.
func (s *Space) SetLinks(data []byte) error {
	s.lock()
	defer s.unlock()
	s.held = false
	defer s.startLocked()
	if !haveKernels || len(data) == 0 {
		return nil
	}
	if s.graph != nil {
		return fmt.Errorf("%w: the space has a graph", ErrLinks)
	}
	g, err := s.readLinksLocked(data)
	if err != nil {
		return err
	}
	s.graph = g
	for i := range s.rows {
		if s.rows[i].live && !g.has(Row(i)) {
			s.rows[i].pending = true
			s.tail = append(s.tail, Row(i))
		}
	}
	return nil
}

// linkReader reads the bytes of Links and remembers whether they sufficed.
type linkReader struct {
	b   []byte
	bad bool
}

func (r *linkReader) u8() int {
	if len(r.b) < 1 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return int(v)
}

func (r *linkReader) u32() uint32 {
	if len(r.b) < 4 {
		r.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

// fill reads a number for each place of into.
func (r *linkReader) fill(into []uint32) bool {
	if len(r.b) < 4*len(into) {
		r.bad = true
		return false
	}
	for i := range into {
		into[i] = binary.LittleEndian.Uint32(r.b[4*i:])
	}
	r.b = r.b[4*len(into):]
	return true
}

func (s *Space) readLinksLocked(data []byte) (*graph, error) {
	r := &linkReader{b: data}
	count, entry := r.u32(), Row(r.u32())
	g := newGraph()
	for range count {
		if err := s.readRowLocked(g, r); err != nil {
			return nil, err
		}
	}
	if r.bad || len(r.b) > 0 || !g.has(entry) {
		return nil, fmt.Errorf("%w: %d bytes left, entry %d", ErrLinks, len(r.b), entry)
	}
	g.entry, g.top = entry, g.levelOf(entry)
	return g, s.checkLinksLocked(g)
}

func (s *Space) readRowLocked(g *graph, r *linkReader) error {
	row, layers := Row(r.u32()), r.u8()
	if r.bad || int(row) >= len(s.rows) || !s.rows[row].live || g.has(row) || layers < 1 || layers > maxLevel+1 {
		return fmt.Errorf("%w: row %d with %d layers", ErrLinks, row, layers)
	}
	g.admit(row, layers-1)
	for l := range layers {
		n := r.u8()
		if n > room(l) {
			return fmt.Errorf("%w: row %d has %d links", ErrLinks, row, n)
		}
		var links [linksBase]uint32
		if !r.fill(links[:n]) {
			return fmt.Errorf("%w: row %d, links missing", ErrLinks, row)
		}
		g.setLinks(row, l, links[:n])
	}
	return nil
}

// checkLinksLocked makes sure that every link leads to a row that is in the graph at that layer.
func (s *Space) checkLinksLocked(g *graph) error {
	for i := range s.rows {
		row := Row(i)
		if !g.has(row) {
			continue
		}
		level := g.levelOf(row)
		if level > g.top {
			return fmt.Errorf("%w: row %d is above the entry", ErrLinks, row)
		}
		for l := range level + 1 {
			for _, link := range g.links(row, l) {
				if !g.has(Row(link)) || g.levelOf(Row(link)) < l {
					return fmt.Errorf("%w: row %d, layer %d, link %d", ErrLinks, row, l, link)
				}
			}
		}
	}
	return nil
}
