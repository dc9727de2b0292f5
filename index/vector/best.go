package vector

import "slices"

// best keeps the best limit rows of a search as a heap with the worst on top.
type best struct {
	limit  int
	before func(a, b uint32) bool
	heap   []Match
}

func (b *best) reset(limit int, before func(a, b uint32) bool) {
	b.limit, b.before, b.heap = limit, before, b.heap[:0]
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

// owners returns the best k owners, best first, each once. An owner has at most parts rows.
func (b *best) owners(k, parts int) []Match {
	slices.SortFunc(b.heap, func(x, y Match) int {
		if b.worse(y, x) {
			return -1
		}
		return 1
	})
	if parts <= 1 {
		return slices.Clone(b.heap[:min(k, len(b.heap))])
	}
	seen := make(map[uint32]bool, min(k, len(b.heap)))
	out := make([]Match, 0, min(k, len(b.heap)))
	for _, m := range b.heap {
		if !seen[m.Owner] && len(out) < k {
			seen[m.Owner] = true
			out = append(out, m)
		}
	}
	return out
}
