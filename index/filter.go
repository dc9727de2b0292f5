package index

import "cairn/index/vector"

// Filters: a filter that few documents pass is asked for all of them, once, so that both searches go through the list of those that
// do, exactly. One that many pass is asked only for documents that come into question.
const (
	sampledDocs = 256  // asked to estimate the share that passes
	askAllDocs  = 1024 // up to so many documents all are asked
	askAllShare = .25  // below it all are asked
)

// choice is which documents a search may find: those in allow, or those that accept confirms; all when both are nil.
type choice struct {
	allow  vector.Owners
	accept func(doc uint32) bool
}

// chooseLocked prepares a filter (nil: all) for searches among the documents with the ids of among (nil: all of them). The filter is asked at
// most once for a document.
func (p *Pool) chooseLocked(filter func(id string, meta any) bool, among []string) choice {
	switch {
	case among != nil:
		return choice{allow: p.amongLocked(filter, among)}
	case filter == nil:
		return choice{}
	}
	m := memo{pool: p, filter: filter, asked: make(vector.Owners, len(p.docs)/64+1), passed: make(vector.Owners, len(p.docs)/64+1)}
	if len(p.byID) > askAllDocs && m.share(sampledDocs) >= askAllShare {
		return choice{accept: m.accept}
	}
	for doc := range p.docs {
		m.accept(uint32(doc))
	}
	return choice{allow: m.passed}
}

// amongLocked returns the set of the documents with ids that pass a filter.
func (p *Pool) amongLocked(filter func(id string, meta any) bool, ids []string) vector.Owners {
	allow := vector.Owners{}
	for _, id := range ids {
		doc, ok := p.byID[id]
		if ok && !allow.Has(doc) && (filter == nil || filter(id, p.docs[doc].meta)) {
			allow = allow.Add(doc)
		}
	}
	return allow
}

// memo remembers the answers of a filter.
type memo struct {
	pool          *Pool
	filter        func(id string, meta any) bool
	asked, passed vector.Owners
}

// accept answers for a document; a number without one does not pass.
func (m *memo) accept(doc uint32) bool {
	if m.asked.Has(doc) {
		return m.passed.Has(doc)
	}
	m.asked.Add(doc)
	r := &m.pool.docs[doc]
	if r.id == "" || !m.filter(r.id, r.meta) {
		return false
	}
	m.passed.Add(doc)
	return true
}

// share estimates which share of the documents passes, from about n that are spread over the pool.
func (m *memo) share(n int) float64 {
	step, live := max(1, len(m.pool.docs)/n), 0
	for doc := 0; doc < len(m.pool.docs); doc += step {
		if m.pool.docs[doc].id != "" {
			live++
			m.accept(uint32(doc))
		}
	}
	return float64(m.passed.Len()) / float64(max(1, live))
}
