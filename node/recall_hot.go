package node

import (
	"cairn/index"
	"cairn/index/embed"
	"cairn/node/store"
)

// looking reads what the hits of one search stand for.
type looking struct {
	r     *recalling
	key   poolKey
	pool  *index.Pool
	scope func(*entryState) bool
	// current says that the index had reached the recall's view before what it holds is looked at: what was changed or
	// erased up to the view then is in the index.
	current bool
}

// read returns the experience of a hit and its vectors, nil when it does not pass any more. What is recalled most is taken
// from memory; of all else the index may be a moment behind, and what stands in the state decides.
func (l *looking) read(h index.Hit) (*store.Experience, []embed.Vector, error) {
	ent := h.Meta.(*entry)
	vectors, kept, hot := l.r.n.index.hot.Get(l.key, h.ID, ent)
	if !kept {
		doc, _ := l.pool.Get(h.ID)
		vectors = doc.Vectors
	}
	if hot && !kept {
		l.r.n.index.hot.Keep(l.key, h.ID, ent, vectors)
	}
	s := ent.state.Load()
	if hot && l.current {
		l.r.n.metrics.candidates.WithLabelValues("memory").Inc()
		if !l.scope(s) || !l.r.onRoute(s.exp) || !l.r.hard(s.exp) {
			return nil, nil, nil // it changed after it was found
		}
		return s.exp, vectors, nil
	}
	l.r.n.metrics.candidates.WithLabelValues("state").Inc()
	e, err := l.r.v.ExperienceOf(l.r.ns.Number, s.exp.Owner, s.exp.ID)
	if err != nil || e == nil || e.Version != s.exp.Version || e.Status != s.exp.Status {
		return nil, nil, err
	}
	return e, vectors, nil
}
