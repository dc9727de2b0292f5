package keyword

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Weights of fields lie between these.
const (
	MinWeight = 1e-6
	MaxWeight = 1e6
)

// ErrWeight says that the weight of a field is not between MinWeight and MaxWeight.
var ErrWeight = errors.New("weight of field is not usable")

// Field is one text of a document. Weight multiplies its term counts and its length; 0 stands for 1.
type Field struct {
	Text   string
	Weight float64
}

// Index is an inverted index over documents with small integer numbers. It is safe for concurrent use.
// Numbers are chosen by the caller and may be used again after Delete; memory grows with the greatest number.
type Index struct {
	writes sync.Mutex // held by those who write; mu besides for the change itself

	mu       sync.RWMutex
	terms    map[string]uint32
	lists    []list     // by term
	docs     []document // by document number
	free     []uint32   // terms without documents, to be used again
	live     int        // documents
	length   float64    // sum of the lengths of live documents
	sweep    place
	scratch  sync.Pool // *searcher
	postings int
}

// document is the forward list of one document: its terms by number, with their weighted counts.
type document struct {
	entries []entry
	length  float32 // weighted
	live    bool
}

type entry struct {
	term  uint32
	count float32
}

// count returns the weighted count of a term, 0 when the document does not have it.
func (d *document) count(term uint32) float32 {
	at, n := 0, len(d.entries)
	for n > 1 {
		half := n / 2
		at += half & int((int64(d.entries[at+half].term)-int64(term)-1)>>63)
		n -= half
	}
	if n == 1 && d.entries[at].term == term {
		return d.entries[at].count
	}
	return 0
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

// Stats describes an index.
type Stats struct {
	Docs, Terms, Postings int
	Bytes                 int // memory of postings, forward lists and terms, without what the allocator adds
}

// Stats returns the present size of the index.
func (x *Index) Stats() Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	st := Stats{Docs: x.live, Terms: len(x.terms), Postings: x.postings}
	st.Bytes = cap(x.lists)*listBytes + cap(x.docs)*documentBytes + len(x.terms)*termBytes
	for i := range x.lists {
		l := &x.lists[i]
		st.Bytes += len(l.term) + cap(l.blocks)*blockBytes
		for j := range l.blocks {
			st.Bytes += len(l.blocks[j].data)
		}
	}
	for i := range x.docs {
		st.Bytes += cap(x.docs[i].entries) * entryBytes
	}
	return st
}

// Sizes of the structures on a machine of 64 bits; a term takes a place in the map as well.
const (
	listBytes     = 48
	blockBytes    = 40
	documentBytes = 32
	entryBytes    = 8
	termBytes     = 32
)

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
	x.Sweep()
	return nil
}

// Reserve makes room for a document that will be put or deleted, so that neither takes time for growing or for fetching from memory what it
// changes. Searches go on meanwhile.
func (x *Index) Reserve(doc uint32, terms Terms) {
	x.writes.Lock()
	defer x.writes.Unlock()
	x.makeRoom(doc, terms)
	x.visit(doc, terms)
}

// makeRoom is called with writes held. It copies what is full and puts the copies in place.
func (x *Index) makeRoom(doc uint32, terms Terms) {
	docs := slices.Grow(x.docs, max(0, int(doc)+1-len(x.docs)))
	lists := slices.Grow(x.lists, len(terms.counts))
	if cap(docs) == cap(x.docs) && cap(lists) == cap(x.lists) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.docs, x.lists = docs, lists
}

// visit looks up the places of a document's postings, those it has and those it will have, and returns how many blocks have another behind it.
// What takes long about a change is waiting for memory: after this it is in the cache, while nobody had to wait for the lock. An 81 us hold
// became one of 18 (medians of 100,000 documents of 45 terms, CPU time).
func (x *Index) visit(doc uint32, terms Terms) (behind int) {
	look := func(term uint32) {
		l := &x.lists[term]
		if i := l.at(doc); i >= 0 && l.blocks[i].search(doc) < int(l.blocks[i].n) {
			behind++
		}
	}
	if int(doc) < len(x.docs) {
		for _, e := range x.docs[doc].entries {
			look(e.term)
		}
	}
	for _, c := range terms.counts {
		if t, ok := x.terms[c.term]; ok {
			look(t)
		}
	}
	return behind
}

// PutTerms is Put for fields that were analysed before. Sweep is to be called behind it.
func (x *Index) PutTerms(doc uint32, terms Terms) {
	x.writes.Lock()
	defer x.writes.Unlock()
	x.makeRoom(doc, terms)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.deleteLocked(doc)
	if int(doc) >= len(x.docs) {
		x.docs = x.docs[:doc+1] // zero: the slice never shrinks
	}
	d := document{entries: make([]entry, len(terms.counts)), length: float32(terms.length), live: true}
	for i, c := range terms.counts {
		d.entries[i] = entry{x.termLocked(c.term), float32(c.n)}
	}
	slices.SortFunc(d.entries, func(a, b entry) int { return int(a.term) - int(b.term) })
	x.docs[doc] = d
	x.live++
	x.length += float64(d.length)
	x.postings += len(d.entries)
	ref := x.refLocked()
	for _, e := range d.entries {
		x.lists[e.term].insert(doc, ref, func(ref float32) uint8 { return impactOf(e.count, d.length, ref) })
	}
}

// Delete removes a document and reports whether it was there.
func (x *Index) Delete(doc uint32) bool {
	x.writes.Lock()
	defer x.writes.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.deleteLocked(doc)
}

func (x *Index) deleteLocked(doc uint32) bool {
	if int(doc) >= len(x.docs) || !x.docs[doc].live {
		return false
	}
	d := x.docs[doc]
	for _, e := range d.entries {
		l := &x.lists[e.term]
		l.remove(doc)
		if l.n == 0 {
			delete(x.terms, l.term)
			*l = list{}
			x.free = append(x.free, e.term)
		}
	}
	x.postings -= len(d.entries)
	x.length -= float64(d.length)
	x.docs[doc] = document{}
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
	t := uint32(len(x.lists))
	if n := len(x.free); n > 0 {
		t, x.free = x.free[n-1], x.free[:n-1]
		x.lists[t].term = term
	} else {
		x.lists = append(x.lists, list{term: term})
	}
	x.terms[term] = t
	return t
}

// inverseLocked is 1 over the mean length of a document.
func (x *Index) inverseLocked() float64 { return float64(x.live) / x.length }

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
		if !(w >= MinWeight && w <= MaxWeight) {
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
