package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"cairn/index/embed"
	"cairn/index/keyword"
	"cairn/index/vector"
)

// halfKeyword is the BM25 score at which the keyword part reaches one half: bm25 / (bm25 + halfKeyword).
const halfKeyword = 5

// unknownCoverWeight is the CoverWeight for embedders without a profile.
const unknownCoverWeight = 1.5

// oversample is how many times Limit each of the two searches contributes.
const oversample = 4

// Query asks for documents by keywords, by vector, or by both.
type Query struct {
	Text   string       // keywords; may be empty
	Vector embed.Vector // may be zero; compared only with vectors of its own embedder
	// Others are vectors of the same question by other embedders, for a pool that holds vectors of several. A document is
	// judged by the vector that it is nearest to on the common scale.
	Others []embed.Vector
	Limit  int // hits at most; 0: DefaultLimit
	// Filter decides before scoring which documents may be found. Nil: all. It is asked at most once for a document; for all of them
	// when few pass.
	Filter func(id string, meta any) bool
	// Among are the ids of the documents that may be found. Nil: all; empty: none. A short list is searched exactly and by itself.
	Among []string
	// KeywordWeight multiplies the keyword part of every document. 0: each document's own weight, the CoverWeight of the
	// embedder's profile times the root of Cover. A fixed weight that suits logs of dialogue is three times too high for
	// preferences; by cover one rule does for both.
	KeywordWeight float64
	// IgnoreFloor returns hits below the relevance floor too, marked by AboveFloor = false.
	IgnoreFloor bool
}

// Hit is a document found, with the parts of its score.
type Hit struct {
	ID          string
	Meta        any
	Cosine      float64 // of the better vector, on the scale of its embedder
	HasCosine   bool    // false: the document has no vector that can be compared with the query's
	Embedder    string  // of the query's vector, when HasCosine
	VectorIndex int     // which of the document's vectors; -1 without a cosine
	Common      float64 // cosine on the scale shared by all embedders; 0 without a cosine
	BM25        float64
	Keyword     float64 // BM25 / (BM25 + 5), in [0, 1)
	Cover       float64 // share of the query's terms, by their weight, that the document answers: BM25 / keyword.Index.Bound, in [0, 1)
	Weight      float64 // of the keyword part
	Score       float64 // Common + Weight * Keyword
	AboveFloor  bool
}

// Search returns the best documents by Score, equal scores by id. Candidates are the best 4 * Limit by vector and by
// keywords; both parts are computed for each of them. A document counts as relevant when it has no comparable
// vector but shares a keyword with the query, or when its cosine and its Cover together say so, see relevant. It returns ErrQuery for a query that cannot be answered, and ctx's error when it ends.
func (p *Pool) Search(ctx context.Context, q Query) ([]Hit, error) {
	s, err := newSearch(q)
	if err != nil {
		return nil, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	docs, err := p.candidatesLocked(ctx, s)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(docs))
	scores := p.keywords.Scores(s.words, docs)
	s.bound = p.keywords.Bound(s.words)
	for i, doc := range docs {
		h := p.hitLocked(s, doc, scores[i])
		if h.AboveFloor || q.IgnoreFloor {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(len(hits), s.limit)], nil
}

// search is a checked query.
type search struct {
	Query
	limit int
	bound float64 // no BM25 score reaches it
	words keyword.Query
	asked []asked // the first one's profile serves documents without a comparable vector
}

// asked is one vector of a query with the profile of its embedder.
type asked struct {
	vector  embed.Vector
	profile embed.Profile
}

func newSearch(q Query) (*search, error) {
	s := &search{Query: q, limit: q.Limit, words: keyword.NewQuery(q.Text)}
	if q.Limit < 0 {
		return nil, fmt.Errorf("%w: limit %d", ErrQuery, q.Limit)
	}
	if q.Limit == 0 {
		s.limit = DefaultLimit
	}
	if q.Vector.IsZero() && strings.TrimSpace(q.Text) == "" {
		return nil, fmt.Errorf("%w: neither text nor vector", ErrQuery)
	}
	if w := q.KeywordWeight; w < 0 || math.IsNaN(w) || math.IsInf(w, 0) {
		return nil, fmt.Errorf("%w: keyword weight %v", ErrQuery, w)
	}
	for _, v := range append([]embed.Vector{q.Vector}, q.Others...) {
		if v.IsZero() {
			continue
		}
		unit, err := unitQuery(v)
		if err != nil {
			return nil, err
		}
		s.asked = append(s.asked, asked{unit, profileOf(unit.Embedder)})
	}
	if len(s.asked) == 0 {
		s.asked = []asked{{profile: profileOf(embed.Choose(q.Text))}}
	}
	return s, nil
}

func profileOf(embedder string) embed.Profile {
	p, known := embed.ProfileOf(embedder)
	if !known {
		p.CoverWeight = unknownCoverWeight
	}
	return p
}

func unitQuery(v embed.Vector) (embed.Vector, error) {
	unit, err := v.Unit()
	if err != nil {
		return embed.Vector{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return unit, nil
}

// candidatesLocked returns the numbers of the best documents of both searches, each once.
func (p *Pool) candidatesLocked(ctx context.Context, s *search) ([]uint32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	n := oversample * min(s.limit, len(p.byID))
	docs, chosen := make([]uint32, 0, (1+len(s.asked))*n), p.chooseLocked(s.Filter, s.Among)
	for _, a := range s.asked {
		near, err := p.nearestLocked(a.vector, n, vector.AnyPart, chosen)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		for _, m := range near {
			docs = append(docs, m.Owner)
		}
	}
	for _, m := range p.keywords.Search(s.words, keyword.Search{K: n, Allow: chosen.allow, Accept: chosen.accept, Before: p.beforeLocked}) {
		docs = append(docs, m.Doc)
	}
	slices.Sort(docs)
	return slices.Compact(docs), nil
}

// nearestLocked searches the space of v; nothing when v is zero or the pool has no such space.
func (p *Pool) nearestLocked(v embed.Vector, k, part int, c choice) ([]vector.Match, error) {
	space := p.spaces[v.Embedder]
	if v.IsZero() || space == nil {
		return nil, nil
	}
	matches, err := space.Search(vector.Search{Values: v.Values, K: k, Part: part, Allow: c.allow, Accept: c.accept, Before: p.beforeLocked})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return matches, nil
}

func (p *Pool) beforeLocked(a, b uint32) bool { return p.docs[a].id < p.docs[b].id }

// hitLocked computes both parts for a candidate.
func (p *Pool) hitLocked(s *search, doc uint32, bm25 float64) Hit {
	r := &p.docs[doc]
	h := Hit{ID: r.id, Meta: r.meta, VectorIndex: -1, BM25: bm25}
	profile := s.asked[0].profile
	for _, a := range s.asked {
		for i, ref := range r.rows {
			if ref.space == nil || ref.embedder != a.vector.Embedder {
				continue
			}
			cos, ok := ref.space.Cosine(ref.row, a.vector.Values)
			if common := a.profile.Common(float64(cos)); ok && (!h.HasCosine || common > h.Common) {
				h.Cosine, h.HasCosine, h.Embedder, h.VectorIndex, h.Common = float64(cos), true, ref.embedder, i, common
				profile = a.profile
			}
		}
	}
	h.Keyword = h.BM25 / (h.BM25 + halfKeyword)
	if h.BM25 > 0 {
		h.Cover = h.BM25 / s.bound
	}
	h.Weight = s.KeywordWeight
	if h.Weight == 0 {
		h.Weight = profile.CoverWeight * math.Sqrt(h.Cover)
	}
	h.Score = h.Common + float64(h.Weight*h.Keyword)
	if h.HasCosine {
		h.AboveFloor = s.relevant(h, profile)
	} else {
		h.AboveFloor = h.BM25 > 0
	}
	return h
}

func compareHits(a, b Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return strings.Compare(a.ID, b.ID)
}
