package node

import (
	"context"
	"strings"

	"cairn/index"
	"cairn/index/embed"
	"cairn/node/acquire"
)

// byRule are the drafts of the lenses. Where a segment cannot be embedded in time, attempts are compared as wholes only, as
// if none had been: what a group gives must not hang on how many of its segments were.
func (d *distillation) byRule(ctx context.Context) ([]acquire.Draft, []acquire.Discard) {
	segments := likeness{embed: func(text string) (embed.Vector, error) { return d.n.embed(ctx, text) }}
	group := d.group
	group.Alike = segments.alike
	drafts, discards := acquire.Distil(group)
	if segments.err != nil {
		return acquire.Distil(d.group)
	}
	return drafts, discards
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
