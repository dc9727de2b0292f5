package index

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"cairn/index/embed"
)

// BenchmarkLoad loads a file of 30,000 documents with a vector of 384 values each: the part of loading that is not the graph.
func BenchmarkLoad(b *testing.B) {
	r, p := rand.New(rand.NewPCG(1, 1)), NewPool()
	for i := range 30_000 {
		if err := p.Put(Doc{ID: strconv.Itoa(i), Vectors: []embed.Vector{unit(r, "bench")}}); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "pool")
	if err := p.SaveFile(path, Info{}, func(any) ([]byte, error) { return nil, nil }); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		q, _, err := LoadFile(path, func([]byte) (any, error) { return nil, nil })
		if err != nil {
			b.Fatal(err)
		}
		q.Close()
	}
}
