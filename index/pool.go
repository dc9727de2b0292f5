package index

import (
	"fmt"
	"slices"
	"sync"

	"github.com/viterin/vek/vek32"

	"cairn/index/embed"
	"cairn/index/keyword"
	"cairn/index/vector"
)

// Pool is a searchable set of documents. It is safe for concurrent use: a document can be found when Put returns and cannot
// be found any more when Delete returns. A Filter must not call methods of the pool it filters.
//
// Lock order: Pool.writes, Pool.mu, then the locks inside keyword.Index and vector.Space.
type Pool struct {
	keywords *keyword.Index

	writes sync.Mutex // held by those who write; mu besides for the change itself

	mu     sync.RWMutex
	byID   map[string]uint32
	docs   []record // by document number
	free   []uint32 // numbers to be used again
	spaces map[string]*vector.Space
	hold   bool   // new spaces build no graph until the pool is loaded
	folder string // for the values of large spaces; empty: in memory
}

// record is a document as the pool keeps it: the vectors are rows of the spaces.
type record struct {
	id     string
	fields []Field
	meta   any
	rows   []rowRef
}

// rowRef says where a vector lies; space is nil when the document has none at this place.
type rowRef struct {
	embedder string
	space    *vector.Space
	row      vector.Row
}

// NewPool returns an empty pool.
func NewPool() *Pool {
	return &Pool{
		keywords: keyword.New(),
		byID:     map[string]uint32{},
		spaces:   map[string]*vector.Space{},
	}
}

// NewPoolIn is NewPool with the float32 values of large spaces in files without names in folder, mapped into memory; see
// vector.Options. They are gone with the pool or the process: a pool is kept by SaveFile.
func NewPoolIn(folder string) *Pool {
	p := NewPool()
	p.folder = folder
	return p
}

// Put adds a document and replaces the one with the same id. On error the pool is as before.
// It returns ErrDocument for a document without id, with too many vectors, or with one that is not usable.
func (p *Pool) Put(d Doc) error {
	ready, err := d.ready()
	if err != nil {
		return err
	}
	return p.putReady(ready)
}

// readyDoc is a document that is checked and taken apart: what can be done without the pool.
type readyDoc struct {
	Doc
	units []embed.Vector
	terms keyword.Terms
}

func (d Doc) ready() (readyDoc, error) {
	units, err := d.checked()
	if err != nil {
		return readyDoc{}, err
	}
	terms, err := keyword.Analyse(d.keywords())
	if err != nil {
		return readyDoc{}, fmt.Errorf("document %q: %w: %w", d.ID, ErrDocument, err)
	}
	return readyDoc{d, units, terms}, nil
}

func (p *Pool) putReady(d readyDoc) error {
	p.writes.Lock()
	defer p.writes.Unlock()
	for i, v := range d.units {
		if s := p.spaces[v.Embedder]; s != nil && s.Dims() != len(v.Values) {
			return fmt.Errorf("document %q, vector %d: %w: %d values, the pool has %d", d.ID, i, ErrDocument, len(v.Values), s.Dims())
		}
	}
	p.makeRoom(d)
	err := p.put(d)
	p.keywords.Sweep()
	return err
}

// put is called with writes held.
func (p *Pool) put(d readyDoc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	doc, known := p.byID[d.ID]
	if !known {
		doc = p.numberLocked()
	}
	p.keywords.PutTerms(doc, d.terms)
	p.dropRowsLocked(doc)
	r := record{id: d.ID, fields: append([]Field(nil), d.Fields...), meta: d.Meta, rows: make([]rowRef, len(d.units))}
	for i, v := range d.units {
		if v.IsZero() {
			continue
		}
		s := p.spaceLocked(v)
		row, err := s.Add(v.Values, doc, uint8(i))
		if err != nil {
			return fmt.Errorf("document %q, vector %d: %w", d.ID, i, err)
		}
		r.rows[i] = rowRef{v.Embedder, s, row}
	}
	p.docs[doc] = r
	p.byID[d.ID] = doc
	return nil
}

// makeRoom is called with writes held. What has to grow for a document is copied here, while others search.
func (p *Pool) makeRoom(d readyDoc) {
	doc, known := p.byID[d.ID]
	switch {
	case known:
	case len(p.free) > 0:
		doc = p.free[len(p.free)-1]
	default:
		doc = uint32(len(p.docs))
		if docs := slices.Grow(p.docs, 1); cap(docs) != cap(p.docs) {
			p.mu.Lock()
			p.docs = docs
			p.mu.Unlock()
		}
	}
	p.keywords.Reserve(doc, d.terms)
	for _, v := range d.units {
		if s := p.spaces[v.Embedder]; s != nil {
			s.Reserve(doc, len(d.units))
		}
	}
}

// Delete takes a document out and reports whether it was there.
func (p *Pool) Delete(id string) bool {
	p.writes.Lock()
	defer p.writes.Unlock()
	doc, ok := p.byID[id]
	if !ok {
		return false
	}
	p.keywords.Reserve(doc, keyword.Terms{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keywords.Delete(doc)
	p.dropRowsLocked(doc)
	p.docs[doc] = record{}
	p.free = append(p.free, doc)
	delete(p.byID, id)
	return true
}

// Get returns a document with copies of its vectors.
func (p *Pool) Get(id string) (Doc, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	doc, ok := p.byID[id]
	if !ok {
		return Doc{}, false
	}
	return p.docs[doc].document(), true
}

// Len returns the number of documents.
func (p *Pool) Len() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.byID)
}

// All calls visit for every document in no particular order until it returns false. Documents put or deleted meanwhile
// may or may not be visited. visit may call methods of the pool.
func (p *Pool) All(visit func(Doc) bool) {
	p.mu.RLock()
	ids := make([]string, 0, len(p.byID))
	for id := range p.byID {
		ids = append(ids, id)
	}
	p.mu.RUnlock()
	for _, id := range ids {
		if d, ok := p.Get(id); ok && !visit(d) {
			return
		}
	}
}

func (p *Pool) numberLocked() uint32 {
	if n := len(p.free); n > 0 {
		doc := p.free[n-1]
		p.free = p.free[:n-1]
		return doc
	}
	p.docs = append(p.docs, record{})
	return uint32(len(p.docs) - 1)
}

func (p *Pool) spaceLocked(v embed.Vector) *vector.Space {
	s := p.spaces[v.Embedder]
	if s == nil {
		s = vector.NewSpaceWith(vector.Options{Dims: len(v.Values), Folder: p.folder})
		if p.hold {
			s.Hold()
		}
		p.spaces[v.Embedder] = s
	}
	return s
}

func (p *Pool) dropRowsLocked(doc uint32) {
	for _, r := range p.docs[doc].rows {
		if r.space != nil {
			r.space.Remove(r.row)
		}
	}
}

func (r *record) document() Doc {
	d := Doc{ID: r.id, Fields: append([]Field(nil), r.fields...), Meta: r.meta, Vectors: make([]embed.Vector, len(r.rows))}
	for i, ref := range r.rows {
		if ref.space != nil {
			d.Vectors[i] = embed.Vector{Embedder: ref.embedder, Values: ref.space.Values(ref.row)}
		}
	}
	return d
}

func dot(a, b []float32) float64 { return float64(vek32.Dot(a, b)) }
