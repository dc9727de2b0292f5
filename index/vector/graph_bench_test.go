package vector

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// BenchmarkGraph builds a graph of CAIRN_BENCH_ROWS (20,000 without it) clustered rows of 384 values and compares walk and scan.
func BenchmarkGraph(b *testing.B) {
	if !haveKernels {
		b.Skip("no kernels for this CPU")
	}
	n := 20000
	if v, err := strconv.Atoi(os.Getenv("CAIRN_BENCH_ROWS")); err == nil {
		n = v
	}
	c := newClusters(rand.New(rand.NewPCG(1, 1)), n/50, 384)
	s := NewSpace(384)
	s.minGraph = n
	for i := range n {
		mustAdd(b, s, c.draw(i%len(c.centres)), uint32(i))
	}
	start := time.Now()
	s.Wait()
	b.Logf("%d rows built in %v", n, time.Since(start))
	queries := make([]Search, 200)
	for i := range queries {
		queries[i] = Search{Values: c.draw(i % len(c.centres)), K: 10, Part: AnyPart}
	}
	half := func(owner uint32) bool { return owner%2 == 0 }
	tenth := func(owner uint32) bool { return owner%10 == 0 }
	hundredth := func(owner uint32) bool { return owner%100 == 0 }
	for _, c := range []struct {
		name   string
		search func(Search) ([]Match, error)
		accept func(uint32) bool
	}{
		{"walk", s.Search, nil}, {"scan", s.Exact, nil}, {"walk_half", s.Search, half},
		{"walk_10", s.Search, tenth}, {"walk_1", s.Search, hundredth},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				q := queries[i%len(queries)]
				q.Accept = c.accept
				if _, err := c.search(q); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
	b.Logf("recall@10 %.4f", s.Recall(200, 10))
}
