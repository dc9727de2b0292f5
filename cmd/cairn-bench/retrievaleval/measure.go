package retrievaleval

import (
	"context"
	"fmt"

	"cairn/index"
	"cairn/index/embed"
)

// Embedder makes the vectors of texts.
type Embedder interface {
	EmbedBatch(ctx context.Context, texts []string) ([]embed.Vector, error)
}

// batchTexts are embedded at once, and kept before the next are.
const batchTexts = 64

// vectorsOf embeds texts in batches.
func vectorsOf(ctx context.Context, e Embedder, texts []string) ([]embed.Vector, error) {
	out := make([]embed.Vector, 0, len(texts))
	for len(out) < len(texts) {
		batch := texts[len(out):min(len(texts), len(out)+batchTexts)]
		v, err := e.EmbedBatch(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("embed: %w", err)
		}
		out = append(out, v...)
	}
	return out, nil
}

// loaded is a set with its pools filled and its questions embedded.
type loaded struct {
	*set
	filled  map[string]*index.Pool
	vectors []embed.Vector // of the questions
}

func (s *set) fill(ctx context.Context, e Embedder) (*loaded, error) {
	l := &loaded{set: s, filled: map[string]*index.Pool{}}
	for name, docs := range s.pools {
		texts := make([]string, len(docs))
		for i, d := range docs {
			texts[i] = d.text
		}
		vectors, err := vectorsOf(ctx, e, texts)
		if err != nil {
			return nil, err
		}
		p := index.NewPool()
		for i, d := range docs {
			if err := p.Put(index.Doc{ID: d.id, Fields: []index.Field{{Text: d.text}}, Vectors: vectors[i : i+1]}); err != nil {
				return nil, err
			}
		}
		l.filled[name] = p
	}
	texts := make([]string, len(s.questions))
	for i, q := range s.questions {
		texts[i] = q.text
	}
	var err error
	l.vectors, err = vectorsOf(ctx, e, texts)
	return l, err
}

// arm is a way to search.
type arm struct {
	name   string
	weight float64 // of the keyword part beside a cosine; 0: the weight that search chooses itself
	single string  // "cosine" or "keywords": that part alone
}

// arms are those of the table of the encoders, and last the one that is used. The table adds keywords to cosines as they are; search adds them on
// the common scale, so that the weight is brought to it.
var arms = []arm{
	{"cosine", 0, "cosine"}, {"w.1", .1, ""}, {"w.2", .2, ""}, {"w.3", .3, ""}, {"w.4", .4, ""}, {"w.8", .8, ""}, {"w1.6", 1.6, ""},
	{"keywords", 0, "keywords"}, {"fused", 0, ""},
}

func (a arm) query(text string, v embed.Vector) index.Query {
	p, _ := embed.ProfileOf(v.Embedder)
	q := index.Query{Text: text, Vector: v, KeywordWeight: a.weight / (1 - p.Unrelated), IgnoreFloor: true}
	switch a.single {
	case "cosine":
		q.Text = ""
	case "keywords":
		q.Vector = embed.Vector{}
	}
	return q
}

// recall is the share of what belongs to a question that is found, on average, at the two depths of the set.
type recall [2]float64

// measure asks all questions in one way.
func (l *loaded) measure(ctx context.Context, a arm) (recall, error) {
	var sum recall
	for i, q := range l.questions {
		ask := a.query(q.text, l.vectors[i])
		ask.Limit = 5 * l.at[1]
		hits, err := l.filled[q.pool].Search(ctx, ask)
		if err != nil {
			return recall{}, fmt.Errorf("%s, %s: %w", l.name, a.name, err)
		}
		for place, h := range hits {
			for j, at := range l.at {
				if place < at && q.gold[h.ID] {
					sum[j] += 1 / float64(len(q.gold))
				}
			}
		}
	}
	n := float64(len(l.questions))
	return recall{sum[0] / n, sum[1] / n}, nil
}
