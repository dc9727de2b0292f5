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

// weighted is a term of a query as an index knows it.
type weighted struct {
	term uint32
	idf  float64 // ln(1 + (N - n + .5)/(n + .5)), which is greater than 0
	most float64 // what the term adds to a score at most
}

// accumulator holds the sums of one search by document number.
type accumulator struct {
	sum     []float64
	touched []uint32
	rest    []float64
}

// Search returns the k documents with the greatest scores, best first. accept (nil: all) decides which documents may be found;
// it is asked at most once for a document. before (nil: by number) orders documents of equal score. Neither may call the index.
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
	x.sumLocked(acc, x.resolveLocked(q), k, accept == nil)
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

// Score returns the BM25 score of one document, 0 when it shares no term with the query or is unknown.
func (x *Index) Score(q Query, doc uint32) float64 { return x.Scores(q, []uint32{doc})[0] }

// Scores returns the BM25 score of each document, bit for bit the score that Search gives.
func (x *Index) Scores(q Query, docs []uint32) []float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	terms, out := x.resolveLocked(q), make([]float64, len(docs))
	inverse := x.inverseLocked()
	for i, doc := range docs {
		if int(doc) < len(x.docs) && x.docs[doc].live {
			out[i] = x.finishLocked(0, terms, doc, inverse)
		}
	}
	return out
}

// finishLocked adds what terms give to the score of a document.
func (x *Index) finishLocked(sum float64, terms []weighted, doc uint32, inverse float64) float64 {
	d := &x.docs[doc]
	for _, w := range terms {
		if i, ok := slices.BinarySearch(d.terms, w.term); ok {
			sum += part(w.idf, d.count[i], x.lengths[doc], inverse)
		}
	}
	return sum
}

// resolveLocked returns the terms of a query that the index has, the rarest first. It is the order in which scores are summed.
func (x *Index) resolveLocked(q Query) []weighted {
	out, inverse := make([]weighted, 0, len(q.terms)), x.inverseLocked()
	for _, term := range q.terms {
		if t, ok := x.terms[term]; ok {
			n := float64(len(x.postings[t].docs))
			idf := math.Log(1 + (float64(x.live)-n+.5)/(n+.5))
			out = append(out, weighted{t, idf, (1 + 1e-9) * part(idf, x.postings[t].top, x.postings[t].short, inverse)})
		}
	}
	slices.SortStableFunc(out, func(a, b weighted) int {
		switch {
		case a.idf > b.idf:
			return -1
		case a.idf < b.idf:
			return 1
		}
		return 0
	})
	return out
}

// sumLocked adds up the scores of all documents that can be among the best k. With stop, it does not read the postings of the
// last, frequent terms when these alone cannot lift a document to the k-th place: only documents seen before can still win
// (MaxScore, Turtle and Flood 1995), and their counts are in the forward lists.
func (x *Index) sumLocked(acc *accumulator, terms []weighted, k int, stop bool) {
	inverse := x.inverseLocked()
	left := 0.
	for _, w := range terms {
		left += w.most
	}
	for i, w := range terms {
		p := &x.postings[w.term]
		if stop && len(acc.touched) >= k && len(p.docs) > len(acc.touched)/4 {
			if place := acc.place(k); left < place {
				x.finishAllLocked(acc, terms[i:], place-left*(1+1e-9), inverse)
				return
			}
		}
		x.addLocked(acc, w.idf, p, inverse)
		left -= w.most
	}
}

// addLocked adds what a term gives to the sums of its documents.
func (x *Index) addLocked(acc *accumulator, idf float64, p *postings, inverse float64) {
	sums, lengths, counts := acc.sum, x.lengths[:len(x.docs)], p.count[:len(p.docs)]
	touched := slices.Grow(acc.touched, len(p.docs))
	n := len(touched)
	touched = touched[:n+len(p.docs)]
	for j, doc := range p.docs {
		sum := sums[doc]
		touched[n] = doc
		if sum == 0 {
			n++
		}
		sums[doc] = sum + part(idf, counts[j], lengths[doc], inverse)
	}
	acc.touched = touched[:n]
}

// inverseLocked is 1 over the mean length of a document.
func (x *Index) inverseLocked() float64 { return float64(x.live) / x.length }

// finishAllLocked completes the sums of the documents that have at least bar and forgets the others.
func (x *Index) finishAllLocked(acc *accumulator, terms []weighted, bar, inverse float64) {
	kept := acc.touched[:0]
	for _, doc := range acc.touched {
		if acc.sum[doc] < bar {
			acc.sum[doc] = 0
			continue
		}
		acc.sum[doc] = x.finishLocked(acc.sum[doc], terms, doc, inverse)
		kept = append(kept, doc)
	}
	acc.touched = kept
}

// place returns the k-th greatest sum so far.
func (acc *accumulator) place(k int) float64 {
	h := acc.rest[:0]
	for _, doc := range acc.touched {
		v := acc.sum[doc]
		if len(h) < k {
			h = append(h, v)
			for i := len(h) - 1; i > 0 && h[i] < h[(i-1)/2]; i = (i - 1) / 2 {
				h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
			}
		} else if v > h[0] {
			h[0] = v
			sinkLeast(h)
		}
	}
	acc.rest = h
	return h[0]
}

func sinkLeast(h []float64) {
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

// part is what one term adds to the BM25 score of a document; inverse is 1 over the mean length.
func part(idf float64, count, length float32, inverse float64) float64 {
	c := float64(count)
	return float64(idf*(k1+1)) * c / (c + float64(k1*(1-b)) + float64(float64(length)*float64(float64(k1*b)*inverse)))
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

// Bound returns what no document's score for q can reach: the sum over all terms, those without documents included, of
// idf * (k1 + 1). A score divided by it says how much of the query, by weight of its terms, a document answers.
func (x *Index) Bound(q Query) float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	sum := 0.
	for _, term := range q.terms {
		n := 0.
		if t, ok := x.terms[term]; ok {
			n = float64(len(x.postings[t].docs))
		}
		sum += math.Log(1+(float64(x.live)-n+.5)/(n+.5)) * (k1 + 1)
	}
	return sum
}
