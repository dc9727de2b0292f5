package node

import (
	"context"
	"slices"
	"strings"

	"cairn/index"
	"cairn/index/embed"
	"cairn/node/acquire"
	"cairn/node/llm"
)

// byRule are the drafts of the lenses. Where a segment cannot be embedded in time, attempts are compared as wholes only, as
// if none had been: what a group gives must not hang on how many of its segments were.
func (d *distillation) byRule(ctx context.Context) ([]acquire.Draft, []acquire.Discard) {
	group, segments := d.comparable(ctx)
	drafts, discards := acquire.Distil(group)
	if segments.err != nil {
		return acquire.Distil(d.group)
	}
	return drafts, discards
}

// pairs are the segments that a model is to compare; none where one cannot be embedded in time.
func (d *distillation) pairs(ctx context.Context) []llm.Pair {
	group, segments := d.comparable(ctx)
	found := acquire.Pairs(group)
	if segments.err != nil {
		return nil
	}
	var out []llm.Pair
	for _, p := range found {
		out = append(out, llm.Pair{Success: segmentOf(group, p.Success), Failure: segmentOf(group, p.Failure)})
	}
	return out
}

func segmentOf(g acquire.Group, s acquire.Segment) llm.Segment {
	i := slices.IndexFunc(g.Attempts, func(a acquire.Attempt) bool { return a.Number == s.Attempt })
	a := g.Attempts[i]
	a.Steps = a.Steps[s.From : s.To+1]
	return llm.Segment{Attempt: s.Attempt, Steps: llmSteps(a)}
}

// comparable is the group with an encoder for its segments.
func (d *distillation) comparable(ctx context.Context) (acquire.Group, *likeness) {
	segments := &likeness{embed: func(text string) (embed.Vector, error) { return d.n.embed(ctx, text) }}
	group := d.group
	group.Alike = segments.alike
	return group, segments
}

// likeness tells how alike texts are by their vectors. A text is embedded once; after an error nothing is alike.
type likeness struct {
	embed   func(string) (embed.Vector, error)
	vectors map[string]embed.Vector
	err     error
}

// alike is the cosine of two texts on the common scale of their encoder, 0 where there is none.
func (l *likeness) alike(a, b string) float64 {
	x, y := l.vector(a), l.vector(b)
	profile, known := embed.ProfileOf(x.Embedder)
	cosine, ok := index.Cosine(x, y)
	if l.err != nil || !known || !ok {
		return 0
	}
	return profile.Common(cosine)
}

func (l *likeness) vector(text string) embed.Vector {
	if v, ok := l.vectors[text]; ok || l.err != nil || strings.TrimSpace(text) == "" {
		return v
	}
	v, err := l.embed(text)
	if err != nil {
		l.err = err
		return embed.Vector{}
	}
	if l.vectors == nil {
		l.vectors = make(map[string]embed.Vector)
	}
	l.vectors[text] = v
	return v
}
