package keyword

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// windowDocs is how many document numbers are looked at together.
const windowDocs = 2048

// searcher answers one query by MaxScore (Turtle and Flood 1995) with bounds of blocks (Ding and Suel 2011). The terms stand from the rarest to the
// most frequent. The last of them that together cannot lift a document to the k-th place are not read: documents of the others alone
// are candidates, and are looked up in their lists. This is decided anew for each window of document numbers, by the greatest impacts of the blocks
// that reach into it. Sums of impacts bound the score; documents that they do not exclude are scored from their forward lists.
type searcher struct {
	x       *Index
	inverse float64
	terms   []cursor
	byTerm  []int32 // places in terms, by number of the term
	counts  []float32
	rest    []uint32 // rest[i] bounds what the terms from the i-th on add to a document of the window
	unit    float64
	ask     Search
	top     top
	least   uint32 // units that a document needs; 0 while fewer than k are found
	sums    [windowDocs]uint32
	seen    [windowDocs / 64]uint64
}

// searcherLocked prepares a query: the terms that the index has, those of the greatest weight first. It is the order in which scores are summed.
func (x *Index) searcherLocked(q Query) *searcher {
	e, _ := x.scratch.Get().(*searcher)
	if e == nil {
		e = &searcher{x: x}
	}
	e.inverse = x.inverseLocked()
	e.terms = e.terms[:0]
	for i, term := range q.terms {
		if t, ok := x.terms[term]; ok {
			e.terms = append(e.terms, cursor{list: &x.lists[t], term: t, idf: q.counts[i] * idf(x.live, x.lists[t].n)})
		}
	}
	slices.SortStableFunc(e.terms, func(a, b cursor) int {
		switch {
		case a.idf > b.idf:
			return -1
		case a.idf < b.idf:
			return 1
		}
		return 0
	})
	e.byTerm = e.byTerm[:0]
	if len(e.terms) > fewTerms {
		for i := range e.terms {
			e.byTerm = append(e.byTerm, int32(i))
		}
		slices.SortFunc(e.byTerm, func(a, b int32) int { return int(e.terms[a].term) - int(e.terms[b].term) })
		e.counts = slices.Grow(e.counts[:0], len(e.terms))[:len(e.terms)]
	}
	return e
}

// release forgets what belongs to the index and to the caller.
func (x *Index) release(e *searcher) {
	clear(e.terms)
	e.ask, e.top.before = Search{}, nil
	x.scratch.Put(e)
}

// begin sets the bounds of the terms.
func (e *searcher) begin(s Search) {
	e.ask, e.least = s, 0
	e.top.k, e.top.before, e.top.heap = s.K, s.Before, e.top.heap[:0]
	total := 0.
	for i := range e.terms {
		c := &e.terms[i]
		c.step = 0
		for j := range c.list.blocks {
			b := &c.list.blocks[j]
			c.step = max(c.step, float64(b.top)*max(1, float64(b.ref)/e.inverse))
			c.stale = c.stale || float64(b.ref) > e.inverse
		}
		total += c.step * c.idf
	}
	e.unit = (1 << 30) / total
	for i := range e.terms {
		c := &e.terms[i]
		most := c.step
		c.step = c.idf * e.unit
		c.units = unitsOf(c.step)
		c.most = unitsOf(c.step * most)
		if c.stale {
			c.most += math.MaxUint8 // each block's worth is rounded up by itself
		} else {
			c.most = uint32(most) * c.units
		}
	}
	// From here on a unit is that of a score: the impacts are steps of 1/255 of idf * (k1 + 1).
	e.unit *= math.MaxUint8 / (k1 + 1)
	e.rest = slices.Grow(e.rest[:0], len(e.terms)+1)[:len(e.terms)+1]
}

// run goes through all windows.
func (e *searcher) run() {
	for from := uint64(0); ; {
		read := e.reading()
		start, ok := e.start(read, from)
		if !ok {
			return
		}
		from = uint64(start) + windowDocs
		e.window(read, start, from)
	}
}

// reading returns how many terms must be read: documents without any of them are out of reach.
func (e *searcher) reading() int {
	sum := uint32(0)
	for i := len(e.terms) - 1; i >= 0; i-- {
		if sum += e.terms[i].most; sum >= e.least {
			return i + 1
		}
	}
	return 0
}

// start returns the first document from one on that has one of the first terms.
func (e *searcher) start(terms int, from uint64) (first uint32, ok bool) {
	if from > math.MaxUint32 {
		return 0, false
	}
	for i := range terms {
		c := &e.terms[i]
		c.seek(uint32(from))
		if doc, more := c.next(); more && (!ok || doc < first) {
			first, ok = doc, true
		}
	}
	return first, ok
}

// window looks at the documents from start to before end. The first terms are at start.
func (e *searcher) window(terms int, start uint32, end uint64) {

	e.rest[len(e.terms)] = 0
	read := 0
	for i := len(e.terms) - 1; i >= 0; i-- {
		c := &e.terms[i]
		if i >= terms {
			c.block = forward(c.list.blocks, min(c.block, len(c.list.blocks)-1), start)
		}
		c.bound(end, e.inverse)
		c.looked = c.block
		if e.rest[i] = e.rest[i+1] + c.here; e.rest[i] >= e.least && read == 0 {
			read = i + 1
		}
	}
	switch read = min(read, terms); {
	case read == 1:
		e.readOne(end)
	case read > 1:
		for i := range read {
			e.add(&e.terms[i], start, end)
		}
		e.harvest(read, start)
	}
}

// readOne looks at the documents of the rarest term.
func (e *searcher) readOne(end uint64) {
	c := &e.terms[0]
	for ; c.block < len(c.list.blocks); c.block, c.at = c.block+1, 0 {
		b := &c.list.blocks[c.block]
		if uint64(b.first) >= end {
			return
		}
		worth, n := c.worth(b, e.inverse), c.before(end)
		least := uint32(0)
		if e.least > e.rest[1] {
			least = (e.least - e.rest[1] + worth - 1) / worth
		}
		if least <= uint32(b.top) {
			for i, v := range b.impacts()[c.at:n] {
				if uint32(v) >= least {
					e.visit(b.doc(c.at+i), uint32(v)*worth, 1)
				}
			}
		}
		if n < int(b.n) {
			c.at = n
			return
		}
	}
}

// add puts the impacts of a term to the sums of the window.
func (e *searcher) add(c *cursor, start uint32, end uint64) {
	for ; c.block < len(c.list.blocks); c.block, c.at = c.block+1, 0 {
		b := &c.list.blocks[c.block]
		if uint64(b.first) >= end {
			return
		}
		n := c.before(end)

		worth, base := c.worth(b, e.inverse), b.first-start
		offsets := b.data[2*c.at : 2*n]
		for i, v := range b.impacts()[c.at:n] {
			doc := (base + uint32(binary.LittleEndian.Uint16(offsets[2*i:]))) % windowDocs
			e.sums[doc] += uint32(v) * worth
			e.seen[doc/64] |= 1 << (doc % 64)
		}
		if n < int(b.n) {
			c.at = n
			return
		}
	}
}

// harvest visits the documents of the window and empties its sums.
func (e *searcher) harvest(read int, start uint32) {
	for i, word := range e.seen {
		if word == 0 {
			continue
		}
		e.seen[i] = 0
		for ; word != 0; word &= word - 1 {
			doc := uint32(i*64 + bits.TrailingZeros64(word))
			sum := e.sums[doc]
			e.sums[doc] = 0
			if sum+e.rest[read] >= e.least {
				e.visit(start+doc, sum, read)
			}
		}
	}
}

// visit looks a document up in the lists of the terms that were not read, until its bound falls too low, and offers it otherwise.
func (e *searcher) visit(doc, sum uint32, read int) {

	if !e.ask.allows(doc) {
		return
	}
	for i := read; i < len(e.terms); i++ {
		if sum+e.rest[i] < e.least {
			return
		}
		sum += e.lookUp(&e.terms[i], doc, sum+e.rest[i+1])
	}
	if sum >= e.least {
		e.offer(doc)
	}
}

// lookUp returns what a term adds to the sum of a document of the window, or 0 when that cannot lift it from sum to the least.
// Documents are asked for in order.
func (e *searcher) lookUp(c *cursor, doc, sum uint32) uint32 {

	if c.looked >= len(c.list.blocks) {
		return 0
	}
	c.looked = forward(c.list.blocks, c.looked, doc)
	b := &c.list.blocks[c.looked]
	worth := c.worth(b, e.inverse)
	if sum+uint32(b.top)*worth < e.least {
		return 0
	}
	return uint32(b.impact(doc)) * worth
}

// offer scores a document and keeps it when it is among the best.
func (e *searcher) offer(doc uint32) {

	m := Match{doc, e.score(doc)}
	if m.Score <= 0 || !e.top.wants(m) || e.ask.Accept != nil && !e.ask.Accept(doc) {
		return
	}
	e.top.push(m)
	if e.top.full() {
		e.least = uint32(e.top.heap[0].Score * e.unit * (1 - 1e-9))
	}
}

// score sums what the terms add to the score of a document.
func (e *searcher) score(doc uint32) float64 {
	d, sum := &e.x.docs[doc], 0.
	if len(e.terms) > fewTerms {
		return e.scoreMany(d)
	}
	for i := range e.terms {
		c := &e.terms[i]
		if n := d.count(c.term); n > 0 {
			sum += part(c.idf, n, d.length, e.inverse)
		}
	}
	return sum
}

// scoreMany is score by going through the terms of the query and those of the document together.
func (e *searcher) scoreMany(d *document) float64 {
	clear(e.counts)
	entries := d.entries
	for _, i := range e.byTerm {
		term := e.terms[i].term
		for len(entries) > 0 && entries[0].term < term {
			entries = entries[1:]
		}
		if len(entries) == 0 {
			break
		}
		if entries[0].term == term {
			e.counts[i] = entries[0].count
		}
	}
	sum := 0.
	for i, n := range e.counts {
		if n > 0 {
			sum += part(e.terms[i].idf, n, d.length, e.inverse)
		}
	}
	return sum
}
