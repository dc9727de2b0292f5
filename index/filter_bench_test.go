package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"cairn/index/embed"
)

// BenchmarkFilter asks for a hundredth of 50,000 documents, by a function and by a list of ids.
func BenchmarkFilter(b *testing.B) {
	const docs, every = 50_000, 100
	p, r := NewPool(), rand.New(rand.NewPCG(5, 6))
	defer p.Close()
	var ids []string
	for i := range docs {
		id := fmt.Sprint(i)
		if i%every == 0 {
			ids = append(ids, id)
		}
		d := Doc{ID: id, Fields: text(fmt.Sprintf("word%d common", i%500)), Vectors: []embed.Vector{unit(r, embed.MiniLM)}, Meta: &i}
		if err := p.Put(d); err != nil {
			b.Fatal(err)
		}
	}
	p.Wait()
	q := Query{Text: "common word7", Vector: unit(r, embed.MiniLM), IgnoreFloor: true}
	for name, among := range map[string][]string{"function": nil, "ids": ids, "all": nil} {
		b.Run(name, func(b *testing.B) {
			ask := q
			switch name {
			case "function":
				ask.Filter = func(_ string, meta any) bool { return *meta.(*int)%every == 0 }
			case "ids":
				ask.Among = among
			}
			for b.Loop() {
				hits, err := p.Search(context.Background(), ask)
				if err != nil || len(hits) != DefaultLimit {
					b.Fatal(len(hits), err)
				}
			}
		})
	}
}
