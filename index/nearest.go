package index

import (
	"fmt"

	"cairn/index/embed"
	"cairn/index/vector"
)

// Neighbour is a document near a vector.
type Neighbour struct {
	ID          string
	Meta        any
	Cosine      float64 // on the scale of the embedder
	VectorIndex int     // which of the document's vectors
}

// Nearest returns the k documents nearest to v, best first, equal cosines by id; a document counts with the better of its
// vectors. There is no floor. filter (nil: all) is asked before scoring and must not call methods of the pool. Vectors of other embedders are not
// looked at; a pool without any of v's embedder gives none. It returns ErrQuery when v is zero or not usable.
func (p *Pool) Nearest(v embed.Vector, k int, filter func(id string, meta any) bool) ([]Neighbour, error) {
	return p.nearest(v, k, vector.AnyPart, filter)
}

// NearestAt is Nearest over one of the vectors of each document: vectorIndex 0 compares with scenarios only, 1 with contents.
func (p *Pool) NearestAt(v embed.Vector, vectorIndex, k int, filter func(id string, meta any) bool) ([]Neighbour, error) {
	if vectorIndex < 0 || vectorIndex >= MaxVectors {
		return nil, fmt.Errorf("%w: vector index %d", ErrQuery, vectorIndex)
	}
	return p.nearest(v, k, vectorIndex, filter)
}

func (p *Pool) nearest(v embed.Vector, k, part int, filter func(string, any) bool) ([]Neighbour, error) {
	if k < 0 {
		return nil, fmt.Errorf("%w: k %d", ErrQuery, k)
	}
	v, err := unitQuery(v)
	if err != nil {
		return nil, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	matches, err := p.nearestLocked(v, k, part, p.chooseLocked(filter, nil))
	if err != nil {
		return nil, err
	}
	out := make([]Neighbour, len(matches))
	for i, m := range matches {
		r := &p.docs[m.Owner]
		out[i] = Neighbour{r.id, r.meta, float64(m.Cosine), int(m.Part)}
	}
	return out, nil
}

// Cosines compares vectors with those of document id place by place: scenario with scenario, content with content. Places that
// cannot be compared (missing, of another embedder) have ok = false. found is false for an unknown id.
func (p *Pool) Cosines(id string, vectors []embed.Vector) (pairs []Pair, found bool) {
	d, found := p.Get(id)
	if !found {
		return nil, false
	}
	pairs = make([]Pair, min(len(vectors), len(d.Vectors)))
	for i := range pairs {
		pairs[i].Cosine, pairs[i].OK = Cosine(vectors[i], d.Vectors[i])
	}
	return pairs, true
}

// Pair is the cosine of two vectors at the same place; OK is false when they cannot be compared.
type Pair struct {
	Cosine float64
	OK     bool
}
