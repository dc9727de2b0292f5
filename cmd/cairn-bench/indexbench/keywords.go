package indexbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"cairn/index/keyword"
)

const (
	documents      = 100_000
	vocabulary     = 30_000
	keywordQueries = 500
)

// prose draws documents of 20 to 100 words whose frequencies follow Zipf's law, and queries of three of their words.
func prose(seed uint64, n int) (texts, queries []string) {
	r := rand.New(rand.NewPCG(seed, 9))
	words := make([]string, vocabulary)
	for i := range words {
		for x := i + 27; x > 0; x /= 20 {
			words[i] += string("bcdfghjklmnpqrstvwxz"[x%20]) + string("aeiou"[(x/3)%5])
		}
	}
	draw := func() string {
		// By the inverse of the distribution with density 1/(x + 3).
		return words[int(3*(math.Pow(float64(vocabulary)/3+1, r.Float64())-1))%vocabulary]
	}
	text := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = draw()
		}
		return strings.Join(out, " ")
	}
	for range n {
		texts = append(texts, text(20+r.IntN(81)))
	}
	for range keywordQueries {
		queries = append(queries, text(3))
	}
	return texts, queries
}

// keywords compares queries with the quicker of tantivy and bleve.
func (b *bench) keywords() error {
	n := documents
	if b.o.Quick {
		n /= 2
	}
	texts, queries := prose(b.o.Seed, n)
	index := keyword.New()
	for i, t := range texts {
		if err := index.Put(uint32(i), []keyword.Field{{Text: t}}); err != nil {
			return err
		}
	}
	for name, lines := range map[string][]string{"texts": texts, "keywords": queries} {
		if err := os.WriteFile(b.path(name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	ask := request{"texts": b.path("texts"), "queries": b.path("keywords"), "k": nearest}
	var best *peer
	bestSeconds := math.Inf(1)
	for name, p := range map[string]*peer{"tantivy": b.python, "bleve": b.golang} {
		_, err := p.ask("keywords_build", ask)
		var a answer
		for range 2 {
			if err == nil {
				a, err = p.ask("keywords_search", ask)
			}
		}
		if err != nil {
			b.note("keywords_vs_best: %s: %v", name, err)
			continue
		}
		b.note("keywords_vs_best: %s takes %.3g us a query", name, 1e6*a.Seconds/keywordQueries)
		if a.Seconds < bestSeconds {
			best, bestSeconds = p, a.Seconds
		}
	}
	if best == nil {
		return fmt.Errorf("%w: neither tantivy nor bleve", errPeer)
	}
	return b.compare("keywords_vs_best", func() (float64, error) {
		return cpuTime(func() error {
			for _, q := range queries {
				index.Search(keyword.NewQuery(q), keyword.Search{K: nearest})
			}
			return nil
		})
	}, func() (float64, error) {
		a, err := best.ask("keywords_search", ask)
		return a.Seconds, err
	})
}
