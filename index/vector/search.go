package vector

import (
	"slices"

	"github.com/viterin/vek/vek32"
)

// AnyPart makes a search look at all rows of an owner.
const AnyPart = -1

// Search asks for the nearest rows to a vector.
type Search struct {
	Values []float32 // unit vector
	K      int       // number of owners; 0 or less: none
	Part   int       // only rows with this part number, or AnyPart
	// Accept decides whether an owner may be found, before it is scored. Nil accepts all. It is asked once for neighbouring
	// rows of one owner. It must not call the space.
	Accept func(owner uint32) bool
	// Before orders owners of equal cosine. Nil: by number. It must not call the space.
	Before func(a, b uint32) bool
}

// Search returns the K owners with the greatest cosine, best first, each with its best row.
func (s *Space) Search(q Search) ([]Match, error) {
	if err := s.Check(q.Values); err != nil {
		return nil, err
	}
	if q.K <= 0 {
		return nil, nil
	}
	if q.Before == nil {
		q.Before = func(a, b uint32) bool { return a < b }
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	top := newBest(q.K, s.live, q.Before)
	s.scanLocked(q, top)
	return top.owners(q.K), nil
}

func (s *Space) scanLocked(q Search, top *best) {
	asked, answer := false, false
	var last uint32
	for i, l := range s.rows {
		if !l.live || q.Part != AnyPart && int(l.part) != q.Part {
			continue
		}
		if q.Accept != nil {
			if !asked || l.owner != last {
				asked, last, answer = true, l.owner, q.Accept(l.owner)
			}
			if !answer {
				continue
			}
		}
		top.offer(Match{l.owner, l.part, vek32.Dot(s.rowLocked(Row(i)), q.Values)})
	}
}

// best keeps the best matches of a scan as a heap with the worst on top. An owner may be in it with several rows, so it
// holds more than k of them; MaxParts rows an owner are allowed for.
type best struct {
	limit  int
	before func(a, b uint32) bool
	heap   []Match
}

// MaxParts is the greatest number of rows an owner may have for a search to be sure of K owners.
const MaxParts = 4

func newBest(k, rows int, before func(a, b uint32) bool) *best {
	limit := min(min(k, rows)*MaxParts, rows)
	return &best{limit: limit, before: before, heap: make([]Match, 0, limit)}
}

func (b *best) worse(x, y Match) bool {
	if x.Cosine != y.Cosine {
		return x.Cosine < y.Cosine
	}
	if x.Owner != y.Owner {
		return b.before(y.Owner, x.Owner)
	}
	return x.Part > y.Part
}

func (b *best) offer(m Match) {
	if len(b.heap) < b.limit {
		b.heap = append(b.heap, m)
		for i := len(b.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if !b.worse(b.heap[i], b.heap[up]) {
				return
			}
			b.heap[i], b.heap[up] = b.heap[up], b.heap[i]
			i = up
		}
		return
	}
	if b.limit == 0 || !b.worse(b.heap[0], m) {
		return
	}
	b.heap[0] = m
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(b.heap) && b.worse(b.heap[child], b.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		b.heap[i], b.heap[least] = b.heap[least], b.heap[i]
		i = least
	}
}

// owners returns the best k owners, best first, each once.
func (b *best) owners(k int) []Match {
	slices.SortFunc(b.heap, func(x, y Match) int {
		if b.worse(y, x) {
			return -1
		}
		return 1
	})
	seen := make(map[uint32]bool, k)
	out := b.heap[:0]
	for _, m := range b.heap {
		if !seen[m.Owner] && len(out) < k {
			seen[m.Owner] = true
			out = append(out, m)
		}
	}
	return out
}
