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

// limitLocked is the number of rows that hold k owners in any case.
func (s *Space) limitLocked(k int) int { return min(min(k, s.live)*s.parts, s.live) }

// bar is the score from which a row can still matter.
func (c *scanner) bar() float32 {
	if len(c.best) < c.limit {
		return float32(math.Inf(-1))
	}
	return c.best[0] - c.slack
}

// offer looks at rows numbered first, first+1, ... whose codes at points to.
func (s *Space) offerLocked(c *scanner, first Row, at []*int8) {
	n := len(at) / rowGroup * rowGroup
	if n > 0 {
		codeDots(&c.scores[0], &at[0], n/rowGroup, &c.code.values[0], len(c.code.values)/codeBlock, c.code.scale)
	}
	if n < len(at) {
		var rest [rowGroup]*int8
		for i := range rest {
			rest[i] = at[min(n+i, len(at)-1)]
		}
		var out [rowGroup]float32
		codeDots(&out[0], &rest[0], 1, &c.code.values[0], len(c.code.values)/codeBlock, c.code.scale)
		copy(c.scores[n:], out[:len(at)-n])
	}
	bar := c.bar()
	for i, score := range c.scores[:len(at)] {
		if score < bar {
			continue
		}
		if s.wantedLocked(c, first+Row(i)) {
			c.keep(scored{score, first + Row(i)})
			bar = c.bar()
		}
	}
}

// wantedLocked reports whether a row is there, has the part asked for and an owner that is accepted.
func (s *Space) wantedLocked(c *scanner, row Row) bool {
	l := s.rows[row]
	if !l.live || c.q.Part != AnyPart && int(l.part) != c.q.Part {
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
func (s *Space) scanLocked(q Search) []Match {
	if !haveKernels {
		return s.scanFloatLocked(q)
	}
	c := s.scannerLocked(q)
	defer s.scanners.Put(c)
	for first := 0; first < len(s.rows); first += arenaRows {
		s.offerLocked(c, Row(first), s.arenas[first/arenaRows].at[:min(arenaRows, len(s.rows)-first)])
	}
	return s.rerankLocked(q, c.kept, c.bar(), c.limit)
}

// rerankLocked scores rows from bar on by their values and returns the best owners.
func (s *Space) rerankLocked(q Search, rows []scored, bar float32, limit int) []Match {
	top := newBest(limit, q.Before)
	for _, r := range rows {
		if r.score >= bar {
			l := s.rows[r.row]
			top.offer(Match{l.owner, l.part, vek32.Dot(s.rowLocked(r.row), q.Values)})
		}
	}
	return top.owners(q.K)
}

// scanFloatLocked is scanLocked by values alone.
func (s *Space) scanFloatLocked(q Search) []Match {
	c := scanner{q: q}
	top := newBest(s.limitLocked(q.K), q.Before)
	for i, l := range s.rows {
		if s.wantedLocked(&c, Row(i)) {
			top.offer(Match{l.owner, l.part, vek32.Dot(s.rowLocked(Row(i)), q.Values)})
		}
	}
	return top.owners(q.K)
}
