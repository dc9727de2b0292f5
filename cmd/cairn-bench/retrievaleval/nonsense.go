package retrievaleval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"cairn/index"
)

// saladWords is the number of words of a text without sense.
const saladWords = 6

// salads draws n texts of words, each by itself.
func salads(r *rand.Rand, words []string, han bool, n int) []string {
	glue := " "
	if han {
		glue = ""
	}
	out := make([]string, n)
	for i := range out {
		parts := make([]string, saladWords)
		for j := range parts {
			parts[j] = words[r.IntN(len(words))]
		}
		out[i] = strings.Join(parts, glue)
	}
	return out
}

// wordsOf returns the words for texts that are asked of one set: with own those of the questions of all sets, as often as they occur; else the
// different words of the texts of the other sets.
func wordsOf(group []*loaded, of *loaded, own, han bool) []string {
	var out []string
	for _, l := range group {
		switch {
		case own:
			for _, q := range l.questions {
				out = append(out, cut(q.text, han)...)
			}
		case l != of:
			for _, docs := range l.pools {
				for _, d := range docs {
					out = append(out, cut(d.text, han)...)
				}
			}
		}
	}
	if !own {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// cut returns the words of three letters or more, or pairs of Han runes.
func cut(text string, han bool) []string {
	var out []string
	if !han {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(w) > 2 {
				out = append(out, w)
			}
		}
		return out
	}
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.Is(unicode.Han, r) }) {
		for runes := []rune(run); len(runes) > 1; runes = runes[2:] {
			out = append(out, string(runes[:2]))
		}
	}
	return out
}

// empty returns how many of the texts find nothing in the greatest pool of the set.
func (l *loaded) empty(ctx context.Context, e Embedder, texts []string) (int, error) {
	vectors, err := vectorsOf(ctx, e, texts)
	if err != nil {
		return 0, err
	}
	var pool *index.Pool
	largest := ""
	for name, p := range l.filled {
		if pool == nil || p.Len() > pool.Len() || p.Len() == pool.Len() && name < largest {
			pool, largest = p, name
		}
	}
	n := 0
	for i, t := range texts {
		hits, err := pool.Search(ctx, index.Query{Text: t, Vector: vectors[i]})
		if err != nil {
			return 0, fmt.Errorf("a text without sense: %w", err)
		}
		if len(hits) == 0 {
			n++
		}
	}
	return n, nil
}

// kept returns which share of what belongs to questions and is among the first five lies above the floor.
func (l *loaded) kept(ctx context.Context) (float64, error) {
	found, above := 0, 0
	for i, q := range l.questions {
		hits, err := l.filled[q.pool].Search(ctx, index.Query{Text: q.text, Vector: l.vectors[i], Limit: 10, IgnoreFloor: true})
		if err != nil {
			return 0, err
		}
		for _, h := range hits[:min(5, len(hits))] {
			if q.gold[h.ID] {
				found++
				if h.AboveFloor {
					above++
				}
			}
		}
	}
	return float64(above) / float64(max(1, found)), nil
}
