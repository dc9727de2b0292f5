package keyword

import (
	"math/bits"
	"slices"
)

// Match is a document and its BM25 score for a query, greater than 0.
type Match struct {
	Doc   uint32
	Score float64
}

// Query is a tokenized query: its distinct terms in the order of the text, with how often each occurs there. A term that occurs
// twice counts twice: a long question repeats what it is about. It may be used for any index, and concurrently.
type Query struct {
	terms  []string
	counts []float64 // by term
}

// NewQuery tokenizes text.
func NewQuery(text string) Query {
	tokens := Tokenize(text)
	if len(tokens) == 0 {
		return Query{}
	}
	q := Query{terms: make([]string, 0, len(tokens)), counts: make([]float64, 0, len(tokens))}
	if len(tokens) <= fewTerms {
		for _, t := range tokens {
			q.count(t, slices.Index(q.terms, t))
		}
		return q
	}
	seen := make(map[string]int, len(tokens))
	for _, t := range tokens {
		at, ok := seen[t]
		if !ok {
			at = -1
			seen[t] = len(q.terms)
		}
		q.count(t, at)
	}
	return q
}

// count adds an occurrence of a term at place at, -1 when it has none yet.
func (q *Query) count(term string, at int) {
	if at < 0 {
		q.terms, q.counts = append(q.terms, term), append(q.counts, 1)
		return
	}
	q.counts[at]++
}

// fewTerms is how many terms are looked through one by one.
const fewTerms = 8

// Empty reports whether the query has no terms.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Search says what is asked for beside the terms.
type Search struct {
	K int // documents; 0 or less: none
	// Allow is the set of documents that may be found: bit d%64 of word d/64 for document d, none beyond its end. Nil allows all, an
	// empty set none. A set that is small beside the postings of the query is gone through by itself.
	Allow []uint64
	// Accept decides which documents may be found. Nil accepts all. It is asked only for documents in Allow that would be among the
	// best found so far, and at most once for each. It must not call the index.
	Accept func(doc uint32) bool
	// Before orders documents of equal score. Nil: by number. It must not call the index.
	Before func(a, b uint32) bool
}

func (s *Search) allows(doc uint32) bool {
	return s.Allow == nil || int(doc/64) < len(s.Allow) && s.Allow[doc/64]>>(doc%64)&1 == 1
}

// Search returns the K documents with the greatest scores, best first. The result is that of scoring every document.
func (x *Index) Search(q Query, s Search) []Match {
	if s.K <= 0 || q.Empty() {
		return nil
	}
	if s.Before == nil {
		s.Before = func(a, b uint32) bool { return a < b }
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	e := x.searcherLocked(q)
	defer x.release(e)
	e.begin(s)
	if s.Allow != nil && x.fewLocked(e) {
		x.listLocked(e)
	} else {
		e.run()
	}
	return e.top.sorted()
}

// listCost is how many postings are read in the time that scoring one document from its forward list takes.
const listCost = 16

// fewLocked reports whether going through the allowed documents costs less than reading postings.
func (x *Index) fewLocked(e *searcher) bool {
	postings, allowed := 0, 0
	for i := range e.terms {
		postings += e.terms[i].list.n
	}
	for _, w := range e.ask.Allow {
		if allowed += bits.OnesCount64(w); allowed > postings/listCost {
			return false
		}
	}
	return true
}

// listLocked scores the allowed documents.
func (x *Index) listLocked(e *searcher) {
	for i, w := range e.ask.Allow {
		for ; w != 0; w &= w - 1 {
			doc := uint32(i*64 + bits.TrailingZeros64(w))
			if int(doc) >= len(x.docs) {
				return
			}
			e.offer(doc)
		}
	}
}

// Score returns the BM25 score of one document, 0 when it shares no term with the query or is unknown.
func (x *Index) Score(q Query, doc uint32) float64 { return x.Scores(q, []uint32{doc})[0] }

// Scores returns the BM25 score of each document, bit for bit the score that Search gives.
func (x *Index) Scores(q Query, docs []uint32) []float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e, out := x.searcherLocked(q), make([]float64, len(docs))
	defer x.release(e)
	for i, doc := range docs {
		if int(doc) < len(x.docs) {
			out[i] = e.score(doc)
		}
	}
	return out
}

// Bound returns what no document's score for q can reach: the sum over all terms, those without documents included, of
// count * idf * (k1 + 1). A score divided by it says how much of the query, by weight of its terms, a document answers.
func (x *Index) Bound(q Query) float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	sum := 0.
	for i, term := range q.terms {
		n := 0
		if t, ok := x.terms[term]; ok {
			n = x.lists[t].n
		}
		sum += float64(q.counts[i]*idf(x.live, n)) * (k1 + 1)
	}
	return sum
}
