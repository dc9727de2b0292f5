package keyword

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// BM25 constants.
const (
	k1 = 1.2
	b  = .75
)

// ErrWeight says that the weight of a field is negative or not finite.
var ErrWeight = errors.New("weight of field is not usable")

// Field is one text of a document. Weight multiplies its term counts and its length; 0 stands for 1.
type Field struct {
	Text   string
	Weight float64
}

// Index is an inverted index over documents with small integer numbers. It is safe for concurrent use.
// Numbers are chosen by the caller and may be used again after Delete; memory grows with the greatest number.
type Index struct {
	mu       sync.RWMutex
	terms    map[string]uint32
	postings []postings // by term
	docs     []document // by document number
	lengths  []float32  // by document number
	free     []uint32   // terms without documents, to be used again
	live     int        // documents
	length   float64    // sum of the lengths of live documents
	sums     sync.Pool  // *accumulator
}

// postings are the documents of a term, by number, with the weighted count of the term in each.
// top and short bound what the term can add to a score: no count is above the one, no length below the other.
type postings struct {
	term  string
	docs  []uint32
	count []float32
	top   float32
	short float32
}

// document is the forward list of one document: its terms and counts, by term.
type document struct {
	terms []uint32
	count []float32
	live  bool
}

// New returns an empty index.
func New() *Index {
	return &Index{terms: map[string]uint32{}}
}

// Len returns the number of documents.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.live
}

// Terms are the counted terms of a document, made by Analyse outside of any lock.
type Terms struct {
	counts []termCount
	length float64
}

// Analyse tokenizes and counts fields. It returns ErrWeight for a weight that is not usable.
func Analyse(fields []Field) (Terms, error) {
	counts, length, err := count(fields)
	return Terms{counts, length}, err
}

// Put indexes fields under number doc and replaces what was there. The document can be found when Put returns.
func (x *Index) Put(doc uint32, fields []Field) error {
	terms, err := Analyse(fields)
	if err != nil {
		return fmt.Errorf("put document %d: %w", doc, err)
	}
	x.PutTerms(doc, terms)
	return nil
}

// PutTerms is Put for fields that were analysed before.
func (x *Index) PutTerms(doc uint32, terms Terms) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deleteLocked(doc)
	if int(doc) >= len(x.docs) {
		x.docs = append(x.docs, make([]document, int(doc)+1-len(x.docs))...)
		x.lengths = append(x.lengths, make([]float32, int(doc)+1-len(x.lengths))...)
	}
	type entry struct {
		term  uint32
		count float32
	}
	entries := make([]entry, len(terms.counts))
	for i, c := range terms.counts {
		entries[i] = entry{x.termLocked(c.term), float32(c.n)}
	}
	slices.SortFunc(entries, func(a, b entry) int { return int(a.term) - int(b.term) })
	d := document{terms: make([]uint32, len(entries)), count: make([]float32, len(entries)), live: true}
	for i, e := range entries {
		d.terms[i], d.count[i] = e.term, e.count
		x.postings[e.term].insert(doc, e.count, float32(terms.length))
	}
	x.docs[doc], x.lengths[doc] = d, float32(terms.length)
	x.live++
	x.length += float64(x.lengths[doc])
}

// Delete removes a document and reports whether it was there.
func (x *Index) Delete(doc uint32) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.deleteLocked(doc)
}

func (x *Index) deleteLocked(doc uint32) bool {
	if int(doc) >= len(x.docs) || !x.docs[doc].live {
		return false
	}
	d := x.docs[doc]
	for _, t := range d.terms {
		p := &x.postings[t]
		p.remove(doc)
		if len(p.docs) == 0 {
			delete(x.terms, p.term)
			*p = postings{}
			x.free = append(x.free, t)
		}
	}
	x.length -= float64(x.lengths[doc])
	x.docs[doc], x.lengths[doc] = document{}, 0
	x.live--
	if x.live == 0 {
		x.length = 0
	}
	return true
}

// termLocked returns the number of a term, a new one when it has none.
func (x *Index) termLocked(term string) uint32 {
	if t, ok := x.terms[term]; ok {
		return t
	}
	t := uint32(len(x.postings))
	if n := len(x.free); n > 0 {
		t, x.free = x.free[n-1], x.free[:n-1]
		x.postings[t].term = term
	} else {
		x.postings = append(x.postings, postings{term: term})
	}
	x.terms[term] = t
	return t
}

func (p *postings) insert(doc uint32, count, length float32) {
	if len(p.docs) == 0 {
		p.top, p.short = count, length
	}
	p.top, p.short = max(p.top, count), min(p.short, length)
	i, _ := slices.BinarySearch(p.docs, doc)
	p.docs = slices.Insert(p.docs, i, doc)
	p.count = slices.Insert(p.count, i, count)
}

func (p *postings) remove(doc uint32) {
	i, ok := slices.BinarySearch(p.docs, doc)
	if ok {
		p.docs = slices.Delete(p.docs, i, i+1)
		p.count = slices.Delete(p.count, i, i+1)
	}
}

// termCount is a term with its weighted count.
type termCount struct {
	term string
	n    float64
}

// count returns the terms of fields in the order of their first occurrence, and the weighted length.
func count(fields []Field) (counts []termCount, length float64, err error) {
	at := map[string]int{}
	for _, f := range fields {
		w := f.Weight
		if w == 0 {
			w = 1
		}
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, 0, fmt.Errorf("%w: %v", ErrWeight, f.Weight)
		}
		for _, term := range Tokenize(f.Text) {
			i, ok := at[term]
			if !ok {
				i = len(counts)
				at[term] = i
				counts = append(counts, termCount{term: term})
			}
			counts[i].n += w
			length += w
		}
	}
	return counts, length, nil
}
