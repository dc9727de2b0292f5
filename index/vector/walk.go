package vector

const (
	walkCost   = 128 // rows of a list that cost as much as a walk with a filter does for each row of width
	listCost   = 20  // labels that are looked at in the time of a row of a list
	walkPart   = 4   // a walk with a filter gives up after scoring one in so many of the rows
	rerankRows = 16  // rows beyond the limit whose values a walk looks at
)

// walkLocked is the approximate search through the graph, with an exact scan of the rows that are not in it yet. ok is false
// when the scan of everything is the better way: much is not in the graph, a filter accepts few rows, or the walk runs long or dry.
func (s *Space) walkLocked(c *scanner) (ok bool) {
	g := s.graph
	if g == nil || len(s.tail) > s.live/2 || g.size == 0 {
		return false
	}
	width := c.q.Width
	if width <= 0 {
		width = walkWidth(g.size)
	}
	width = min(max(width, c.limit+c.limit/2), len(s.rows))
	filtered := c.q.Accept != nil || c.q.Allow != nil || c.q.Part != AnyPart && s.parts > 1
	if filtered && !s.worthLocked(c.q, width) {
		return false
	}
	w := s.walkerLocked()
	defer s.release(w)
	start := s.descend(g, w, c.code, 0)
	switch {
	case !filtered:
		s.near(g, w, c.code, start, 0, width+int(uint64(width)*uint64(g.dead)/uint64(g.size)))
	case !s.filteredLocked(g, w, c, start, width+width/2):
		return false
	}
	for _, k := range w.line {
		s.keepLocked(g, c, k.scored(), filtered)
	}
	s.offerTailLocked(c, w)
	if !filtered && len(c.kept) < c.limit {
		// It ran dry: of rows that are all alike, few lead to the others.
		c.kept, c.best = c.kept[:0], c.best[:0]
		return false
	}
	c.limitRerank(c.limit + c.limit/2 + rerankRows)
	return true
}

// keepLocked keeps a row and its twins, those that are wanted. passed says that the row, or a twin of it, has passed the filter.
func (s *Space) keepLocked(g *graph, c *scanner, r scored, passed bool) {
	var twins []Row
	if len(g.twins) > 0 {
		twins = g.twins[r.row]
	}
	if passed && len(twins) == 0 || s.wantedLocked(c, r.row) {
		c.keep(r)
	}
	for _, twin := range twins {
		if s.wantedLocked(c, twin) {
			c.keep(scored{r.score, twin})
		}
	}
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
	s.score(w, c.code, n)
	bar := c.bar()
	for i, score := range w.scores[:n] {
		if score >= bar && s.wantedLocked(c, Row(w.rows[i])) {
			c.keep(scored{score, Row(w.rows[i])})
			bar = c.bar()
		}
	}
}
