package embed

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// probe is three texts: the same lesson twice in other words, and another lesson of the same subject.
type probe struct{ text, paraphrase, related string }

// Calibrate finds the profile of an encoder from the vectors of a fixed set of texts in two languages. For each language:
// Floor is the 99th percentile of the cosines of texts of different subjects, Strict a tenth of the way from there to 1,
// Contrast the floor, and Duplicate half way from the nearest two different lessons of one subject to 1; the greater value of
// the languages counts. A language whose paraphrases do not stand out from unlike texts is left out: the encoder cannot
// read it. Unrelated is the median cosine of texts of different subjects. embed is asked once for all texts. For the
// embedded encoders this gives their own thresholds, which were chosen on much larger sets, within .03 (Duplicate: .10).
func Calibrate(ctx context.Context, embed func(ctx context.Context, texts []string) ([]Vector, error)) (Profile, error) {
	var texts []string
	for _, p := range probes {
		texts = append(texts, p.text, p.paraphrase, p.related)
	}
	vectors, err := embed(ctx, texts)
	if err != nil {
		return Profile{}, fmt.Errorf("calibrate: %w", err)
	}
	if len(vectors) != len(texts) {
		return Profile{}, fmt.Errorf("calibrate: %w: %d vectors for %d texts", ErrVector, len(vectors), len(texts))
	}
	id, dims := vectors[0].Embedder, len(vectors[0].Values)
	for i, v := range vectors {
		if v.Embedder != id || len(v.Values) != dims || dims == 0 {
			return Profile{}, fmt.Errorf("calibrate: %w: text %d has another kind of vector", ErrVector, i)
		}
	}
	return profileFrom(id, dims, vectors), nil
}

func profileFrom(id string, dims int, vectors []Vector) Profile {
	p := Profile{ID: id, Dims: dims, FaintCover: .05, CoverWeight: 1.5, KeywordWeight: .3, DialogWeight: .8}
	english, chinese := spreadOf(vectors, false), spreadOf(vectors, true)
	reads := []spread{english}
	switch {
	case chinese.readable() && english.readable():
		reads = append(reads, chinese)
	case chinese.readable():
		reads = []spread{chinese}
	}
	var unrelated []float64
	for _, s := range reads {
		unrelated = append(unrelated, s.unrelated...)
		p.Floor = max(p.Floor, at(s.unrelated, .99))
		p.Duplicate = max(p.Duplicate, (1+at(s.related, 1))/2)
	}
	slices.Sort(unrelated)
	p.Unrelated = at(unrelated, .5)
	p.Strict, p.Contrast = p.Floor+.1*(1-p.Floor), p.Floor
	return p
}

// spread is how near the probes of one language are to each other, each list sorted.
type spread struct{ unrelated, related, paraphrase []float64 }

func spreadOf(vectors []Vector, chinese bool) spread {
	var s spread
	for i := range vectors {
		for j := range i {
			if probes[i/3].chinese() != chinese || probes[j/3].chinese() != chinese {
				continue
			}
			switch c := cosine(vectors[i].Values, vectors[j].Values); {
			case i/3 != j/3:
				s.unrelated = append(s.unrelated, c)
			case i%3 == 2:
				s.related = append(s.related, c)
			default:
				s.paraphrase = append(s.paraphrase, c)
			}
		}
	}
	slices.Sort(s.unrelated)
	slices.Sort(s.related)
	slices.Sort(s.paraphrase)
	return s
}

// readable reports whether three of four paraphrases are nearer than 99 of a hundred unlike texts.
func (s spread) readable() bool { return at(s.paraphrase, .25) > at(s.unrelated, .99) }

func (p probe) chinese() bool { return Choose(p.text) == E5 }

// at is the value below which a share of the sorted list lies.
func at(sorted []float64, share float64) float64 {
	return sorted[int(math.Round(share*float64(len(sorted)-1)))]
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
