package index

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"cairn/index/embed"
)

// BenchmarkLoad loads a file of 30,000 documents with a vector of 384 values each: the part of loading that is not the graph.
func BenchmarkLoad(b *testing.B) {
	const docs, dims = 30_000, 384
	r := rand.New(rand.NewPCG(1, 1))
	p := NewPool()
	for i := range docs {
		v := make([]float32, dims)
		sum := 0.
		for j := range v {
			v[j] = float32(r.NormFloat64())
			sum += float64(v[j]) * float64(v[j])
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(sum))
		}
		if err := p.Put(Doc{ID: strconv.Itoa(i), Vectors: []embed.Vector{{Embedder: "bench", Values: v}}}); err != nil {
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
