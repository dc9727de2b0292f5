package vector

// walker is the working memory of a walk through a graph.
type walker struct {
	stamp  uint32
	seen   []uint32 // by row: the stamp of the walk that saw it
	open   []scored // heap, the best on top
	found  []scored // heap, the worst on top
	rows   [linksBase + rowGroup]Row
	at     [linksBase + rowGroup]*int8
	scores [linksBase + rowGroup]float32
}

func (s *Space) walkerLocked() *walker {
	w, _ := s.walkers.Get().(*walker)
	if w == nil {
		w = &walker{}
	}
	if len(w.seen) < len(s.rows) {
		w.seen, w.stamp = make([]uint32, len(s.rows)+len(s.rows)/4), 0
	}
	return w
}

// scoreLocked scores the first n rows of w.rows.
func (s *Space) scoreLocked(w *walker, q code, n int) {
	for i, row := range w.rows[:n] {
		w.at[i] = s.arenas[int(row)/arenaRows].at[int(row)%arenaRows]
	}
	for i := n; i%rowGroup != 0; i++ {
		w.at[i] = w.at[n-1]
	}
	codeDots(&w.scores[0], &w.at[0], (n+rowGroup-1)/rowGroup, &q.values[0], len(q.values)/codeBlock, q.scale)
}

// descendLocked walks greedily from the top to layer level and returns the row it ends at.
func (s *Space) descendLocked(g *graph, w *walker, q code, level int) scored {
	w.rows[0] = g.entry
	s.scoreLocked(w, q, 1)
	here := scored{w.scores[0], g.entry}
	for l := g.top; l > level; l-- {
		for moved := true; moved; {
			moved = false
			links := g.links(here.row, l)
			for i, row := range links {
				w.rows[i] = Row(row)
			}
			if len(links) == 0 {
				break
			}
			s.scoreLocked(w, q, len(links))
			for i, score := range w.scores[:len(links)] {
				if score > here.score {
					here, moved = scored{score, w.rows[i]}, true
				}
			}
		}
	}
	return here
}

// layerLocked looks for the width best rows of a layer from start on and leaves them in w.found. wanted (nil: all) decides
// which rows may be found; the others are only walked through. It gives up and returns false after seeing budget rows.
func (s *Space) layerLocked(g *graph, w *walker, q code, start scored, level, width, budget int, wanted func(Row) bool) bool {
	if w.stamp++; w.stamp == 0 {
		clear(w.seen)
		w.stamp = 1
	}
	w.open, w.found = w.open[:0], w.found[:0]
	w.seen[start.row] = w.stamp
	w.visit(start, width, wanted)
	for len(w.open) > 0 {
		here := w.popOpen()
		if len(w.found) >= width && here.score < w.found[0].score {
			return true
		}
		n := 0
		for _, link := range g.links(here.row, level) {
			if w.seen[link] != w.stamp {
				w.seen[link] = w.stamp
				w.rows[n] = Row(link)
				n++
			}
		}
		if n == 0 {
			continue
		}
		if budget -= n; budget < 0 {
			return false
		}
		s.scoreLocked(w, q, n)
		for i, score := range w.scores[:n] {
			if len(w.found) < width || score > w.found[0].score {
				w.visit(scored{score, w.rows[i]}, width, wanted)
			}
		}
	}
	return true
}

// visit puts a row among those to go on from and, when wanted, among those found.
func (w *walker) visit(r scored, width int, wanted func(Row) bool) {
	w.open = append(w.open, r)
	for i := len(w.open) - 1; i > 0 && w.open[i].score > w.open[(i-1)/2].score; i = (i - 1) / 2 {
		w.open[i], w.open[(i-1)/2] = w.open[(i-1)/2], w.open[i]
	}
	if wanted != nil && !wanted(r.row) {
		return
	}
	if len(w.found) < width {
		w.found = append(w.found, r)
		for i := len(w.found) - 1; i > 0 && w.found[i].score < w.found[(i-1)/2].score; i = (i - 1) / 2 {
			w.found[i], w.found[(i-1)/2] = w.found[(i-1)/2], w.found[i]
		}
		return
	}
	w.found[0] = r
	sink(w.found, func(a, b scored) bool { return a.score < b.score })
}

func (w *walker) popOpen() scored {
	top := w.open[0]
	last := len(w.open) - 1
	w.open[0] = w.open[last]
	w.open = w.open[:last]
	sink(w.open, func(a, b scored) bool { return a.score > b.score })
	return top
}

func sink(h []scored, above func(a, b scored) bool) {
	for i := 0; ; {
		first := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && above(h[child], h[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}

// Filters: a walk sees about width/share rows, each with some links not seen before, at random places in memory. From where
// that costs more than reading all codes in order, the scan is taken.
const (
	walkCost    = 64  // rows of a scan that cost as much as one step of a walk
	walkPart    = 8   // a walk gives up after seeing one in so many of the rows
	sampledRows = 256 // to estimate the share of rows that a filter accepts
)

// walkLocked is the approximate search through the graph, with an exact scan of the rows that are not in it yet. ok is false
// when the scan of everything is the better way: much is not in the graph, a filter accepts few rows, or the walk runs long.
func (s *Space) walkLocked(q Search) (matches []Match, ok bool) {
	g := s.graph
	if g == nil || len(s.tail) > s.live/2 || g.size == 0 {
		return nil, false
	}
	limit := s.limitLocked(q.K)
	width := max(widthWalk, limit+limit/2)
	if float64(width*s.walkCost) > s.shareLocked(q)*float64(s.live) {
		return nil, false
	}
	w := s.walkerLocked()
	defer s.walkers.Put(w)
	c := s.scannerLocked(q)
	defer s.scanners.Put(c)
	wanted := func(row Row) bool { return s.wantedLocked(c, row) }
	start := s.descendLocked(g, w, c.code, 0)
	if !s.layerLocked(g, w, c.code, start, 0, width, s.live/s.walkPart, wanted) {
		return nil, false
	}
	for _, r := range w.found {
		c.keep(r)
	}
	s.offerTailLocked(c, w)
	return s.rerankLocked(q, c.kept, c.bar(), c.limit), true
}

// shareLocked estimates the share of rows that q may find; 1 without a filter.
func (s *Space) shareLocked(q Search) float64 {
	if q.Accept == nil && q.Part == AnyPart {
		return float64(s.live) / float64(len(s.rows))
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
		n := min(len(rest), linksBase)
		copy(w.rows[:n], rest[:n])
		rest = rest[n:]
		s.scoreLocked(w, c.code, n)
		for i, score := range w.scores[:n] {
			if score >= c.bar() && s.wantedLocked(c, w.rows[i]) {
				c.keep(scored{score, w.rows[i]})
			}
		}
	}
}
