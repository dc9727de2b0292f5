package vector

import (
	"math"
	"slices"

	"github.com/viterin/vek/vek32"
)

// scanner finds the best rows exactly: it scores codes first and keeps every row that the rounding of codes could have put
// below its place, then scores those by their float32 values.
//
// With e = rounding of the row and d = rounding of the query, the two products differ by at most |e| + |d| (1 + |e|). A row
// whose code product lies more than twice that below the limit-th best cannot be among the best limit rows.
type scanner struct {
	q      Search
	code   code
	slack  float32 // 2 (|e| + |d| (1 + |e|)) for the greatest e of the space
	limit  int     // rows that surely hold K owners
	best   []float32
	kept   []scored
	top    best
	scores [arenaRows]float32
	codes  []int8
	asked  bool
	last   uint32
	answer bool
}

// scored is a row with its product by codes.
type scored struct {
	score float32
	row   Row
}

// keepAtMost is how many kept rows there are before those that fell out of reach are dropped.
const keepAtMost = 2048

func (s *Space) scannerLocked(q Search) *scanner {
	c, _ := s.scanners.Get().(*scanner)
	if c == nil {
		c = &scanner{}
	}
	if len(c.codes) != padded(s.dims) {
		c.codes = make([]int8, padded(s.dims))
	}
	c.q, c.code = q, encode(q.Values, c.codes)
	c.limit = s.limitLocked(q.K)
	c.slack = float32(2*(s.loss+c.code.loss*(1+s.loss)) + 1e-5)
	c.best, c.kept, c.asked = c.best[:0], c.kept[:0], false
	return c
}

// done gives a scanner back without what belongs to the caller of the search.
func (s *Space) done(c *scanner) {
	c.q, c.top.before = Search{}, nil
	s.scanners.Put(c)
}

// limitLocked is the number of rows that hold k owners in any case.
func (s *Space) limitLocked(k int) int { return min(min(k, s.live)*s.parts, s.live) }

// bar is the score from which a row can still matter.
func (c *scanner) bar() float32 {
	if len(c.best) < c.limit {
		return float32(math.Inf(-1))
	}
	return c.best[0] - c.slack
}

// offerLocked looks at the first n rows of an arena, whose first row is numbered first.
func (s *Space) offerLocked(c *scanner, first Row, a *arena, n int) {
	// Rows behind the last are zero or left over; their scores are not looked at.
	scanDots(&c.scores[0], &a.codes[0], stride(s.dims), (n+rowGroup-1)/rowGroup, &c.code.values[0], len(c.code.values))
	scale := c.code.scale
	for i := -1; ; {
		if i = above(&c.scores[0], &a.scales[0], i+1, n, scale, c.bar()); i >= n {
			return
		}
		if row := first + Row(i); s.wantedLocked(c, row) {
			c.keep(scored{c.scores[i] * float32(a.scales[i]*scale), row})
		}
	}
}

// wantedLocked reports whether a row is there, has the part asked for and an owner that is accepted.
func (s *Space) wantedLocked(c *scanner, row Row) bool {
	l := s.rows[row]
	if !l.live || c.q.Part != AnyPart && int(l.part) != c.q.Part || c.q.Allow != nil && !c.q.Allow.Has(l.owner) {
		return false
	}
	if c.q.Accept == nil {
		return true
	}
	if !c.asked || l.owner != c.last {
		c.asked, c.last, c.answer = true, l.owner, c.q.Accept(l.owner)
	}
	return c.answer
}

// keep adds a row to those kept and its score to the best.
func (c *scanner) keep(r scored) {
	c.kept = append(c.kept, r)
	switch {
	case len(c.best) < c.limit:
		c.best = append(c.best, r.score)
		for i := len(c.best) - 1; i > 0 && c.best[i] < c.best[(i-1)/2]; i = (i - 1) / 2 {
			c.best[i], c.best[(i-1)/2] = c.best[(i-1)/2], c.best[i]
		}
	case r.score > c.best[0]:
		c.best[0] = r.score
		sinkLeast(c.best)
	}
	if len(c.kept) >= keepAtMost && len(c.kept) >= 2*c.limit && len(c.kept)%keepAtMost == 0 {
		bar := c.bar()
		c.kept = slices.DeleteFunc(c.kept, func(r scored) bool { return r.score < bar })
	}
}

// limitRerank keeps the n best of those kept: what a walk found is not exact, so that there is no use in the bound of the scan.
func (c *scanner) limitRerank(n int) {
	if len(c.kept) > n {
		sortScored(c.kept)
		c.kept = c.kept[:n]
	}
}

func sinkLeast(h []float32) {
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child] < h[least] {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// scanLocked is the exact search over all rows.
func (s *Space) scanLocked(c *scanner) {
	if c.q.Allow != nil && s.shareLocked(c.q) < listShare {
		s.listLocked(c)
		return
	}
	for first := 0; first < len(s.rows); first += arenaRows {
		s.offerLocked(c, Row(first), s.arenas[first/arenaRows], min(arenaRows, len(s.rows)-first))
	}
}

// listShare is the share of allowed owners below which a scan goes through the list of their rows alone.
const listShare = .4

// listLocked is scanLocked for a set of owners that is small beside the space.
func (s *Space) listLocked(c *scanner) {
	w := s.walkerLocked()
	defer s.release(w)
	n := 0
	add := func(row uint32) {
		w.rows[n] = row
		if n++; n == batchRows {
			s.offerRowsLocked(c, w, n)
			n = 0
		}
	}
	if s.byOwner.scattered {
		for row, l := range s.rows {
			if l.live && c.q.Allow.Has(l.owner) {
				add(uint32(row))
			}
		}
	} else {
		c.q.Allow.each(len(s.byOwner.first), func(owner uint32) {
			for row := s.byOwner.first[owner]; row != noRow; row = s.rows[row].next {
				add(row)
			}
		})
	}
	if n > 0 {
		s.offerRowsLocked(c, w, n)
	}
}

// rerankLocked scores the rows kept by their values and returns the best owners.
func (s *Space) rerankLocked(c *scanner) []Match {
	bar := c.bar()
	c.top.reset(c.limit, c.q.Before)
	for _, r := range c.kept {
		if r.score >= bar {
			l := s.rows[r.row]
			c.top.offer(Match{l.owner, l.part, vek32.Dot(s.rowLocked(r.row), c.q.Values)})
		}
	}
	return c.top.owners(c.q.K, s.parts)
}

// scanFloatLocked is the exact search by values alone.
func (s *Space) scanFloatLocked(c *scanner) []Match {
	c.top.reset(c.limit, c.q.Before)
	for i, l := range s.rows {
		if s.wantedLocked(c, Row(i)) {
			c.top.offer(Match{l.owner, l.part, vek32.Dot(s.rowLocked(Row(i)), c.q.Values)})
		}
	}
	return c.top.owners(c.q.K, s.parts)
}
