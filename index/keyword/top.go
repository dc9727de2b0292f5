package keyword

import "slices"

// top keeps the k best matches in a heap with the worst on top.
type top struct {
	k      int
	before func(a, b uint32) bool
	heap   []Match
}

func (t *top) full() bool { return len(t.heap) == t.k }

// worse reports whether a comes behind b.
func (t *top) worse(a, b Match) bool {
	return a.Score < b.Score || a.Score == b.Score && t.before(b.Doc, a.Doc)
}

// wants reports whether m would be kept.
func (t *top) wants(m Match) bool { return !t.full() || t.worse(t.heap[0], m) }

// push adds a match that is wanted.
func (t *top) push(m Match) {
	if !t.full() {
		t.heap = append(t.heap, m)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if !t.worse(t.heap[i], t.heap[up]) {
				break
			}
			t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
			i = up
		}
		return
	}
	t.heap[0] = m
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.worse(t.heap[child], t.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		t.heap[i], t.heap[least] = t.heap[least], t.heap[i]
		i = least
	}
}

// sorted returns a copy of the matches, best first.
func (t *top) sorted() []Match {
	out := slices.Clone(t.heap)
	slices.SortFunc(out, func(a, b Match) int {
		if t.worse(b, a) {
			return -1
		}
		return 1
	})
	return out
}
