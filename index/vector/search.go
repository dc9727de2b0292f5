package vector

import "slices"

// AnyPart makes a search look at all rows of an owner.
const AnyPart = -1

// Search asks for the nearest rows to a vector.
type Search struct {
	Values []float32 // unit vector
	K      int       // number of owners; 0 or less: none
	Part   int       // only rows with this part number, or AnyPart
	// Accept decides whether an owner may be found. Nil accepts all. It is asked for owners whose rows would be among the best
	// found so far, and once for neighbouring rows of one owner. It must not call the space.
	Accept func(owner uint32) bool
	// Before orders owners of equal cosine. Nil: by number. It must not call the space.
	Before func(a, b uint32) bool
}

// Search returns the K owners with the greatest cosine, best first, each with its best row. Cosines are those of the float32
// values. Up to some ten thousand rows the result is exact; beyond, owners may be missing (see Recall), but not such whose
// rows were added a moment ago.
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
	if matches, ok := s.walkLocked(q); ok {
		return matches, nil
	}
	return s.scanLocked(q), nil
}

// Exact is Search by scanning all rows, whatever their number.
func (s *Space) Exact(q Search) ([]Match, error) {
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
	return s.scanLocked(q), nil
}

// Recall asks for the k nearest owners of up to samples of its own rows, once as Search and once as Exact, and returns the
// share of the exact owners that Search found; 1 for an empty space. It is the self-check of the graph.
func (s *Space) Recall(samples, k int) float64 {
	found, want := 0, 0
	for _, v := range s.sample(samples) {
		q := Search{Values: v, K: k, Part: AnyPart}
		exact, err := s.Exact(q)
		got, err2 := s.Search(q)
		if err != nil || err2 != nil {
			continue
		}
		owners := make(map[uint32]bool, len(got))
		for _, m := range got {
			owners[m.Owner] = true
		}
		for _, m := range exact {
			want++
			if owners[m.Owner] {
				found++
			}
		}
	}
	if want == 0 {
		return 1
	}
	return float64(found) / float64(want)
}

// sample returns copies of up to n rows, spread evenly.
func (s *Space) sample(n int) [][]float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out [][]float32
	for i := 0; i < len(s.rows) && n > 0; i += max(1, len(s.rows)/n) {
		if s.rows[i].live {
			out = append(out, slices.Clone(s.rowLocked(Row(i))))
		}
	}
	return out
}

// best keeps the best limit rows of a search as a heap with the worst on top.
type best struct {
	limit  int
	before func(a, b uint32) bool
	heap   []Match
}

func newBest(limit int, before func(a, b uint32) bool) *best {
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
