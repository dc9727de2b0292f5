package vector

import (
	"runtime"
	"slices"
)

// graphRows is the number of rows from which a graph is built. Measured at 40,000 rows of 384 values: a scan takes 1.7 ms of a
// core, a walk 0.4 ms, and each row costs 0.35 ms to link. Below, the gain is small and the scan is exact.
const graphRows = 32 << 10

// Of a graph's rows, those removed are dropped by building it anew when there are more than deadRows and a quarter of all.
const deadRows = 1024

// builders limits the graphs that are built at once in a process: half the cores.
var builders = make(chan struct{}, max(1, runtime.NumCPU()/2))

// startLocked starts the builder when there is something to build and none is running. It ends by itself.
func (s *Space) startLocked() {
	if !haveKernels || s.closed || s.held || s.building != nil {
		return
	}
	if s.graph == nil && s.live < s.minGraph || s.graph != nil && len(s.tail) == 0 && !s.staleLocked() {
		return
	}
	if s.graph == nil {
		s.graph = newGraph()
		s.tail = s.tail[:0]
		for i := range s.rows {
			if s.rows[i].live {
				s.rows[i].pending = true
				s.tail = append(s.tail, Row(i))
			}
		}
	}
	done := make(chan struct{})
	s.building = done
	go s.build(done)
}

func (s *Space) staleLocked() bool { return s.graph.dead > deadRows && s.graph.dead > s.graph.size/4 }

// Wait returns when no builder is running.
func (s *Space) Wait() {
	for {
		s.mu.RLock()
		done := s.building
		s.mu.RUnlock()
		if done == nil {
			return
		}
		<-done
	}
}

// Close ends the builder and waits for it. The space can still be used; rows added later stay outside the graph, where they
// are found by the scan.
func (s *Space) Close() {
	s.lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	s.unlock()
	s.Wait()
}

// build takes rows from the tail into the graph until there are none left.
func (s *Space) build(done chan struct{}) {
	defer close(done)
	select {
	case builders <- struct{}{}:
		defer func() { <-builders }()
	case <-s.stop:
	}
	for {
		s.lock()
		if s.closed || len(s.tail) == 0 && !s.staleLocked() {
			s.building = nil
			s.unlock()
			return
		}
		if s.staleLocked() {
			s.unlock()
			s.rebuild()
			continue
		}
		row := s.tail[len(s.tail)-1]
		if !s.rows[row].live {
			s.leaveTailLocked(row)
			s.free = append(s.free, row)
			s.unlock()
			continue
		}
		s.unlock()
		s.insert(s.graph, row, func() { s.leaveTailLocked(row) })
	}
}

// leaveTailLocked takes a row out of the tail. Rows may have been added behind it meanwhile.
func (s *Space) leaveTailLocked(row Row) {
	i := len(s.tail) - 1
	for s.tail[i] != row {
		i--
	}
	s.tail = slices.Delete(s.tail, i, i+1)
	s.rows[row].pending = false
}

// rebuild makes a new graph of the rows that are still there while the old one serves, and puts it in its place.
func (s *Space) rebuild() {
	s.lock()
	old, fresh := s.graph, newGraph()
	s.fresh = fresh
	s.unlock()
	done := s.refill(old, fresh)
	s.lock()
	s.fresh = nil
	if done {
		s.graph = fresh
	}
	s.unlock()
	if done {
		s.freeRows(old, fresh)
	}
}

// refill links the rows of a graph that are still there into another; it returns false when the space is closed meanwhile.
func (s *Space) refill(old, fresh *graph) bool {
	for row := Row(0); ; row++ {
		s.mu.RLock()
		closed, end := s.closed, int(row) >= len(s.rows)
		live := !end && s.rows[row].live && old.has(row)
		s.mu.RUnlock()
		switch {
		case closed:
			return false
		case end:
			return true
		case live:
			s.insert(fresh, row, func() {})
		}
	}
}

// freedAtOnce is how many rows are looked at under one lock when a graph has been replaced.
const freedAtOnce = 1024

// freeRows gives the places of the rows free that were left behind with a graph. A row that is freed may be used again before the end, but
// lies behind the place that has been reached.
func (s *Space) freeRows(old, fresh *graph) {
	for first, more := Row(0), true; more; first += freedAtOnce {
		s.lock()
		end := min(first+freedAtOnce, Row(len(s.rows)))
		for row := first; row < end; row++ {
			if !s.rows[row].live && old.has(row) && !fresh.has(row) {
				s.free = append(s.free, row)
			}
		}
		more = end < Row(len(s.rows))
		s.unlock()
	}
}

// update is a list of links to be set.
type update struct {
	row   Row
	level int
	links []uint32
}

// insert looks for the neighbours of a row while others search and write, then links it in one short write. linked is called under
// the lock. Only the builder calls insert, so that what it reads of the graph does not change meanwhile; the codes of rows in a graph, and of
// the one in question, do not either.
func (s *Space) insert(g *graph, row Row, linked func()) {
	level := drawLevel(row)
	updates, twin := s.plan(g, row, level)
	if twin != Row(noRow) {
		level = 0
	}
	s.makeRoomIn(g, row, level)
	s.lock()
	defer s.unlock()
	g.admit(row, level)
	switch {
	case twin != Row(noRow):
		g.join(twin, row)
	case g.size == 1 || level > g.top:
		g.entry, g.top = row, level
	}
	for _, u := range updates {
		g.setLinks(u.row, u.level, u.links)
	}
	if !s.rows[row].live {
		g.dead++
	}
	linked()
}

// plan finds the links of a row and the links that its neighbours get, or the linked row that has the same values.
func (s *Space) plan(g *graph, row Row, level int) (updates []update, twin Row) {
	if g.size == 0 {
		return nil, Row(noRow)
	}
	s.mu.RLock()
	w := s.walkerLocked()
	s.mu.RUnlock()
	defer s.release(w)
	q := s.codeOf(w, row)
	start := s.descend(g, w, q, level)
	for l := min(level, g.top); l >= 0; l-- {
		s.near(g, w, q, start, l, buildWidth(g.size))
		near := make([]scored, len(w.line))
		for i, k := range w.line {
			near[i] = k.scored()
		}
		if twin := s.twinOf(w, q, row, near); twin != Row(noRow) {
			return nil, twin
		}
		start = near[0]
		links := s.spread(w, near, linksUpper)
		updates = append(updates, update{row, l, links})
		for _, other := range links {
			updates = append(updates, update{Row(other), l, s.linkBack(g, w, Row(other), row, l)})
		}
	}
	return updates, Row(noRow)
}

// twinOf returns the first of the rows near (best first) that has the values of a row.
func (s *Space) twinOf(w *walker, q code, row Row, near []scored) Row {
	w.rows[0] = uint32(row)
	s.score(w, q, 1)
	for _, r := range near {
		if r.score < w.scores[0] {
			break
		}
		if slices.Equal(w.values(r.row, s.dims), w.values(row, s.dims)) {
			return r.row
		}
	}
	return Row(noRow)
}

func (s *Space) codeOf(w *walker, row Row) code {
	return w.arenas[int(row)/arenaRows].code(int(row)%arenaRows, s.dims)
}

// linkBack returns the links of row with added among them, thinned out when there is no room.
func (s *Space) linkBack(g *graph, w *walker, row, added Row, level int) []uint32 {
	old := g.links(row, level)
	links := append(append(make([]uint32, 0, len(old)+1), old...), uint32(added))
	if len(links) <= room(level) {
		return links
	}
	copy(w.rows[:], links)
	s.score(w, s.codeOf(w, row), len(links))
	near := make([]scored, len(links))
	for i := range links {
		near[i] = scored{w.scores[i], Row(links[i])}
	}
	sortScored(near)
	return s.spread(w, near, room(level))
}

// spread chooses at most n of the rows near (best first) so that they lie in different directions: a row is left out
// when it is nearer to one already chosen than to the row whose links these are (the heuristic of algorithm 4).
func (s *Space) spread(w *walker, near []scored, n int) []uint32 {
	chosen := make([]uint32, 0, n)
	for _, r := range near {
		if len(chosen) == n {
			break
		}
		if !s.crowded(w, r, chosen) {
			chosen = append(chosen, uint32(r.row))
		}
	}
	return chosen
}

// crowded reports whether one of chosen is nearer to r than r.score says.
func (s *Space) crowded(w *walker, r scored, chosen []uint32) bool {
	for len(chosen) > 0 {
		n := copy(w.rows[:2*rowGroup], chosen)
		s.score(w, s.codeOf(w, r.row), n)
		if slices.Max(w.scores[:n]) > r.score {
			return true
		}
		chosen = chosen[n:]
	}
	return false
}

func sortScored(rows []scored) {
	slices.SortFunc(rows, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return int(a.row) - int(b.row)
	})
}
