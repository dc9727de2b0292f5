package vector

// Filters: a walk sees about width/share rows, each with some links not seen before, at random places in memory. From where
// that costs more than reading all codes in order, the scan is taken.
const (
	widthWalk   = 96  // rows kept by a search
	walkCost    = 64  // rows of a scan that cost as much as one step of a walk
	listCost    = 20  // labels that are looked at in the time of a row's scan
	walkPart    = 8   // a walk gives up after seeing one in so many of the rows
	sampledRows = 256 // to estimate the share of rows that a filter accepts
	rerankRows  = 16  // rows beyond the limit whose values a walk looks at
)

// walkLocked is the approximate search through the graph, with an exact scan of the rows that are not in it yet. ok is false
// when the scan of everything is the better way: much is not in the graph, a filter accepts few rows, or the walk runs long.
func (s *Space) walkLocked(c *scanner) (ok bool) {
	g := s.graph
	if g == nil || len(s.tail) > s.live/2 || g.size == 0 {
		return false
	}
	width := c.q.Width
	if width <= 0 {
		width = widthWalk
	}
	width = min(max(width, c.limit+c.limit/2), len(s.rows))
	filtered := c.q.Accept != nil || c.q.Allow != nil || c.q.Part != AnyPart && s.parts > 1
	if filtered && !s.worthLocked(c.q, width) {
		return false
	}
	w := s.walkerLocked()
	defer s.walkers.Put(w)
	start := s.descendLocked(g, w, c.code, 0)
	switch {
	case !filtered:
		s.nearLocked(g, w, c.code, start, 0, width+int(uint64(width)*uint64(g.dead)/uint64(g.size)))
	case !s.filteredLocked(g, w, c, start, width):
		return false
	}
	for _, k := range w.line {
		if r := k.scored(); filtered || s.wantedLocked(c, r.row) {
			c.keep(r)
		}
	}
	s.offerTailLocked(c, w)
	c.limitRerank(c.limit + c.limit/2 + rerankRows)
	return true
}

// worthLocked reports whether a walk that looks for width rows among those that q may find costs less than the scan.
func (s *Space) worthLocked(q Search, width int) bool {
	share := s.shareLocked(q)
	scan := float64(s.live)
	if q.Allow != nil && share < listShare {
		scan = share*scan + scan/listCost
	}
	return float64(width*s.walkCost) <= share*scan
}

// filteredLocked leaves the width best wanted rows of layer 0 in w.line, best first; the others are only walked through. It
// gives up and returns false after seeing a walkPart-th of the rows.
func (s *Space) filteredLocked(g *graph, w *walker, c *scanner, start scored, width int) bool {
	budget := s.live / s.walkPart
	w.begin(start.row)
	s.visitLocked(w, c, keyOf(start.score, uint32(start.row)), width)
	for len(w.open) > 0 {
		var here key
		here, w.open = pop(w.open)
		if len(w.found) >= width && here > ^w.found[0] {
			break
		}
		n := w.unseen(g.block(here.row(), 0))
		if n == 0 {
			continue
		}
		if budget -= n; budget < 0 {
			return false
		}
		s.scoreLocked(w, c.code, n)
		for i, score := range w.scores[:n] {
			if k := keyOf(score, w.rows[i]); len(w.found) < width || k < ^w.found[0] {
				s.visitLocked(w, c, k, width)
			}
		}
	}
	for len(w.found) > 0 {
		var k key
		k, w.found = pop(w.found)
		w.line = append(w.line, ^k)
	}
	return true
}

// visitLocked puts a row among those to go on from and, when wanted, among those found.
func (s *Space) visitLocked(w *walker, c *scanner, k key, width int) {
	w.open = push(w.open, k)
	if !s.wantedLocked(c, k.row()) {
		return
	}
	if len(w.found) < width {
		w.found = push(w.found, ^k)
		return
	}
	w.found[0] = ^k
	sink(w.found)
}

// shareLocked estimates the share of rows that q may find.
func (s *Space) shareLocked(q Search) float64 {
	if q.Allow != nil && q.Accept == nil && q.Part == AnyPart {
		return min(1, float64(q.Allow.Len())*float64(max(1, s.parts))/float64(max(1, len(s.rows))))
	}
	c := scanner{q: q}
	wanted := 0
	for i := range uint64(sampledRows) {
		// Multiples of an odd constant, so that the sample does not fall in step with the order of the rows.
		row := Row(i * 0x9E3779B97F4A7C15 >> 32 * uint64(len(s.rows)) >> 32)
		if s.wantedLocked(&c, row) {
			wanted++
		}
	}
	return float64(wanted) / sampledRows
}

// offerTailLocked scores the rows that are not in the graph yet.
func (s *Space) offerTailLocked(c *scanner, w *walker) {
	for rest := s.tail; len(rest) > 0; {
		n := 0
		for _, row := range rest[:min(len(rest), batchRows)] {
			w.rows[n] = uint32(row)
			n++
		}
		rest = rest[n:]
		s.offerRowsLocked(c, w, n)
	}
}

// offerRowsLocked scores the first n of w.rows and keeps those wanted.
func (s *Space) offerRowsLocked(c *scanner, w *walker, n int) {
	s.scoreLocked(w, c.code, n)
	bar := c.bar()
	for i, score := range w.scores[:n] {
		if score >= bar && s.wantedLocked(c, Row(w.rows[i])) {
			c.keep(scored{score, Row(w.rows[i])})
			bar = c.bar()
		}
	}
}
