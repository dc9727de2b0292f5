package vector

import "slices"

// Filters. A walk among the wanted rows alone: from a row it goes on to those among its links, and through links that are not
// wanted to the wanted rows behind them, in the manner of Patel et al., "ACORN: Performant and Predicate-Agnostic Search Over
// Vector Embeddings and Structured Data" (ACORN-1). What it costs hardly depends on the share of the rows that are wanted. It
// begins where the upper layers lead to and at wanted rows from all over the space: they may lie together, far from the query.
const (
	reachRows   = 16  // wanted rows are looked for behind unwanted links until there are so many to score
	seedRows    = 16  // wanted rows that a walk begins at besides the entry
	sampledRows = 256 // to estimate the share of rows that a filter accepts, and to find the seeds
	fewRows     = 16  // of fewer wanted rows for each of width a walk would miss some
)

// filteredLocked leaves the width best wanted rows that it comes to in w.line, best first. It gives up and returns false after
// scoring a walkPart-th of the rows, and where it runs dry before it has found width.
func (s *Space) filteredLocked(g *graph, w *walker, c *scanner, start scored, width int) bool {
	budget := s.live / s.walkPart
	w.begin(start.row)
	w.beginFilter()
	if s.anyWantedLocked(g, c, start.row) {
		w.line = append(w.line, keyOf(start.score, uint32(start.row)))
	}
	n := s.reachLocked(g, w, c, start.row, s.seedLocked(g, w, c))
	for at := 0; ; {
		if budget -= n; budget < 0 {
			return false
		}
		if n > 0 {
			s.score(w, c.code, n)
			at = s.lineUpAll(w, n, at, width)
		}
		for at < len(w.line) && w.line[at]&gone != 0 {
			at++
		}
		if at == len(w.line) {
			return len(w.line) == width
		}
		w.line[at] |= gone
		n = s.reachLocked(g, w, c, w.line[at].row(), 0)
	}
}

// reachLocked writes the wanted rows that the walk has not come to yet and that a row leads to behind the first n of w.rows,
// and returns how many there are then.
func (s *Space) reachLocked(g *graph, w *walker, c *scanner, row Row, n int) int {
	for _, link := range g.links(row, 0) {
		switch {
		case w.has(link):
		case s.admitLocked(g, w, c, link):
			w.rows[n] = link
			n++
		case n < reachRows:
			n = s.behindLocked(g, w, c, link, n)
		}
	}
	return n
}

// behindLocked adds the wanted rows among the links of a row that is not wanted itself. The walk does not come back to a row
// all of whose links it has looked at.
func (s *Space) behindLocked(g *graph, w *walker, c *scanner, row uint32, n int) int {
	for _, link := range g.links(Row(row), 0) {
		if n >= reachRows {
			return n
		}
		if !w.has(link) && s.admitLocked(g, w, c, link) {
			w.rows[n] = link
			n++
		}
	}
	w.see(row)
	return n
}

// anyWantedLocked reports whether a row of the graph, or one of its twins, is wanted.
func (s *Space) anyWantedLocked(g *graph, c *scanner, row Row) bool {
	if s.wantedLocked(c, row) {
		return true
	}
	return len(g.twins) > 0 && slices.ContainsFunc(g.twins[row], func(twin Row) bool { return s.wantedLocked(c, twin) })
}

// admitLocked reports whether a row is wanted, and notes that the walk has come to it, or that it is not wanted.
func (s *Space) admitLocked(g *graph, w *walker, c *scanner, row uint32) bool {
	if w.unwanted[row/64]>>(row%64)&1 == 1 {
		return false
	}
	if !s.anyWantedLocked(g, c, Row(row)) {
		w.unwanted[row/64] |= 1 << (row % 64)
		return false
	}
	w.see(row)
	return true
}

// seedLocked writes wanted rows from all over the graph to w.rows and returns their number.
func (s *Space) seedLocked(g *graph, w *walker, c *scanner) (n int) {
	for i := range uint64(sampledRows) {
		row := s.sampledLocked(i)
		if g.linked(row) && !w.has(uint32(row)) && s.admitLocked(g, w, c, uint32(row)) {
			w.rows[n] = uint32(row)
			if n++; n == seedRows {
				break
			}
		}
	}
	return n
}

// sampledLocked is row i of a sample. Multiples of an odd constant, so that it does not fall in step with the order of the rows.
func (s *Space) sampledLocked(i uint64) Row {
	return Row(i * 0x9E3779B97F4A7C15 >> 32 * uint64(len(s.rows)) >> 32)
}

// worthLocked reports whether a walk that looks for width rows among those that q may find costs less than looking at all of
// them. It costs about as much as walkCost rows of a list for each of width; a row of a full scan costs half of one of a list.
func (s *Space) worthLocked(q Search, width int) bool {
	share, rows := s.shareLocked(q), float64(s.live)
	walk := float64(width * s.walkCost)
	if q.Allow != nil && share < listShare {
		return walk <= share*rows+rows/listCost
	}
	return walk <= rows/2 && share*rows >= float64(fewRows*width)
}

// shareLocked estimates the share of rows that q may find.
func (s *Space) shareLocked(q Search) float64 {
	if q.Allow != nil && q.Accept == nil && q.Part == AnyPart {
		return min(1, float64(q.Allow.Len())*float64(max(1, s.parts))/float64(max(1, len(s.rows))))
	}
	c := scanner{q: q}
	wanted := 0
	for i := range uint64(sampledRows) {
		if s.wantedLocked(&c, s.sampledLocked(i)) {
			wanted++
		}
	}
	return float64(wanted) / sampledRows
}
