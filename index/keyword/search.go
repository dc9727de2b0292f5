package keyword

import (
	"math"
	"slices"
)

// Match is a document and its BM25 score for a query, greater than 0.
type Match struct {
	Doc   uint32
	Score float64
}

// Query is a tokenized query: its distinct terms in the order of the text. A term counts once, however often it occurs.
// It may be used for any index, and concurrently.
type Query struct{ terms []string }

// NewQuery tokenizes text.
func NewQuery(text string) Query {
	var q Query
	seen := map[string]bool{}
	for _, t := range Tokenize(text) {
		if !seen[t] {
			seen[t] = true
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// Empty reports whether the query has no terms.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// accumulator holds the sums of one search by document number.
type accumulator struct {
	sum     []float64
	touched []uint32
}

// Search returns the k documents with the greatest scores, best first. accept (nil: all) is asked once for every document
// that shares a term with the query; before (nil: by number) orders documents of equal score. Neither may call the index.
func (x *Index) Search(q Query, k int, accept func(doc uint32) bool, before func(a, b uint32) bool) []Match {
	if k <= 0 || q.Empty() {
		return nil
	}
	if before == nil {
		before = func(a, b uint32) bool { return a < b }
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	acc := x.borrow()
	defer x.giveBack(acc)
	x.sumLocked(acc, q)
	top := make([]Match, 0, min(k, len(acc.touched)))
	worse := func(a, b Match) bool { return a.Score < b.Score || a.Score == b.Score && before(b.Doc, a.Doc) }
	for _, doc := range acc.touched {
		m := Match{doc, acc.sum[doc]}
		if len(top) == k && !worse(top[0], m) || accept != nil && !accept(doc) {
			continue
		}
		top = push(top, m, k, worse)
	}
	slices.SortFunc(top, func(a, b Match) int {
		if worse(b, a) {
			return -1
		}
		return 1
	})
	return top
}

// Score returns the BM25 score of one document, 0 when it shares no term with the query or is unknown. It is bit for bit
// the score that Search gives.
func (x *Index) Score(q Query, doc uint32) float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if int(doc) >= len(x.docs) || !x.docs[doc].live {
		return 0
	}
	d := &x.docs[doc]
	var sum float64
	for _, term := range q.terms {
		t, ok := x.terms[term]
		if !ok {
			continue
		}
		if i, ok := slices.BinarySearch(d.terms, t); ok {
			sum += x.partLocked(x.idfLocked(t), float64(d.count[i]), float64(d.length))
		}
	}
	return sum
}

func (x *Index) sumLocked(acc *accumulator, q Query) {
	for _, term := range q.terms {
		t, ok := x.terms[term]
		if !ok {
			continue
		}
		idf, p := x.idfLocked(t), &x.postings[t]
		for i, doc := range p.docs {
			if acc.sum[doc] == 0 {
				acc.touched = append(acc.touched, doc)
			}
			acc.sum[doc] += x.partLocked(idf, float64(p.count[i]), float64(x.docs[doc].length))
		}
	}
}

// idfLocked is ln(1 + (N - n + .5)/(n + .5)), which is never negative.
func (x *Index) idfLocked(term uint32) float64 {
	n := float64(len(x.postings[term].docs))
	return math.Log(1 + (float64(x.live)-n+.5)/(n+.5))
}

// partLocked is the share of one term in the BM25 score of a document.
func (x *Index) partLocked(idf, count, length float64) float64 {
	mean := x.length / float64(x.live)
	return idf * (count * (k1 + 1) / (count + k1*(1-b+b*length/mean)))
}

func (x *Index) borrow() *accumulator {
	acc, _ := x.sums.Get().(*accumulator)
	if acc == nil {
		acc = &accumulator{}
	}
	if len(acc.sum) < len(x.docs) {
		acc.sum = make([]float64, len(x.docs)+len(x.docs)/4)
	}
	return acc
}

func (x *Index) giveBack(acc *accumulator) {
	for _, doc := range acc.touched {
		acc.sum[doc] = 0
	}
	acc.touched = acc.touched[:0]
	x.sums.Put(acc)
}

// push adds m to a heap of at most k matches with the worst on top.
func push(top []Match, m Match, k int, worse func(a, b Match) bool) []Match {
	if len(top) < k {
		top = append(top, m)
		for i := len(top) - 1; i > 0; {
			up := (i - 1) / 2
			if !worse(top[i], top[up]) {
				break
			}
			top[i], top[up] = top[up], top[i]
			i = up
		}
		return top
	}
	top[0] = m
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(top) && worse(top[child], top[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		top[i], top[least] = top[least], top[i]
		i = least
	}
}
