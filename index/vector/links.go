package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrLinks says that stored links do not fit the space.
var ErrLinks = errors.New("links do not fit the rows")

// Links returns the graph as bytes, nil when there is none. number gives the new number of a row; rows without one are left
// out. Format, all little endian: u32 rows, u32 entry; for each row u32 number, u8 layers, and for each layer from 0 on u8
// links and u32 numbers.
func (s *Space) Links(number func(Row) (uint32, bool)) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	g := s.graph
	if g == nil || g.size == 0 {
		return nil
	}
	out := make([]byte, 8, 8+g.size*128)
	count := uint32(0)
	entry, entryLevel := uint32(0), -1
	for i := range s.rows {
		row := Row(i)
		to, ok := number(row)
		if !ok || !g.has(row) {
			continue
		}
		count++
		level := g.levelOf(row)
		if level > entryLevel {
			entry, entryLevel = to, level
		}
		out = binary.LittleEndian.AppendUint32(out, to)
		out = append(out, byte(level+1))
		for l := range level + 1 {
			out = append(out, 0)
			at := len(out) - 1
			for _, link := range g.links(row, l) {
				if to, ok := number(Row(link)); ok {
					out = binary.LittleEndian.AppendUint32(out, to)
					out[at]++
				}
			}
		}
	}
	binary.LittleEndian.PutUint32(out, count)
	binary.LittleEndian.PutUint32(out[4:], entry)
	return out
}

// Hold keeps the space from starting to build a graph until SetLinks or Resume.
func (s *Space) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// Resume ends Hold.
func (s *Space) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	s.startLocked()
}

// SetLinks gives a space that was held since it was empty the graph that Links returned for the same rows under their new
// numbers, and ends Hold. Rows outside the graph are linked in later. It returns ErrLinks, and the space builds its graph
// anew, when anything in data does not fit.
func (s *Space) SetLinks(data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
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
