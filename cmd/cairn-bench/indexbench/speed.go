package indexbench

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/viterin/vek/vek32"

	"cairn/index/vector"
)

// threads compares the searches a second of two threads with those of one.
func (b *bench) threads(s *built) error {
	if !b.wanted("two_threads_vs_one") {
		return nil
	}
	rate := func(n int) (float64, error) {
		var all sync.WaitGroup
		errs := make([]error, n)
		start := time.Now()
		for i := range n {
			all.Go(func() {
				for range 3 {
					if _, _, err := s.search(0); err != nil {
						errs[i] = err
					}
				}
			})
		}
		all.Wait()
		return float64(n) / time.Since(start).Seconds(), errs[0]
	}
	var values []float64
	for range rounds {
		one, err := rate(1)
		if err != nil {
			return err
		}
		two, err := rate(2)
		if err != nil {
			return err
		}
		values = append(values, two/one)
	}
	b.set("two_threads_vs_one", values)
	return nil
}

// mixed compares the slowest searches of one thread while it also writes with those while it does not. A write takes a row
// out and puts another in, which the builder then links behind it.
func (b *bench) mixed(s *built) error {
	if !b.wanted("mixed_read_p99_ratio") {
		return nil
	}
	r := rand.New(rand.NewPCG(b.o.Seed, 3))
	const operations = 4000
	p99 := func(writes bool) (float64, error) {
		var took []float64
		var extra []vector.Row
		for i := range operations {
			if writes && i%10 == 0 {
				v := s.rows[r.IntN(len(s.rows))]
				row, err := s.space.Add(v, uint32(len(s.rows)+i), 0)
				if err != nil {
					return 0, err
				}
				if extra = append(extra, row); len(extra) > 50 {
					s.space.Remove(extra[0])
					extra = extra[1:]
				}
				continue
			}
			start := time.Now()
			if _, err := s.space.Search(vector.Search{Values: s.queries[i%len(s.queries)], K: nearest, Part: vector.AnyPart}); err != nil {
				return 0, err
			}
			took = append(took, time.Since(start).Seconds())
		}
		for _, row := range extra {
			s.space.Remove(row)
		}
		s.space.Wait()
		slices.Sort(took)
		return took[len(took)*99/100], nil
	}
	var values []float64
	for range rounds {
		alone, err := p99(false)
		if err != nil {
			return err
		}
		mixed, err := p99(true)
		if err != nil {
			return err
		}
		values = append(values, mixed/alone)
	}
	b.set("mixed_read_p99_ratio", values)
	return nil
}

// streamRows is the number of rows of the scan that is compared with the memory: several times what a cache holds.
const streamRows = 400_000

// stream compares the codes that an exact scan reads a second with what one thread can read from memory at most: the better of
// a search for a byte and a sum of floats over memory that no cache holds.
func (b *bench) stream() error {
	some := synthetic("stream", 2000, 20, 384, b.o.Seed+2)
	s := vector.NewSpaceWith(vector.Options{Dims: some.dims, GraphRows: 2 * streamRows})
	defer s.Close()
	for i := range streamRows {
		if _, err := s.Add(some.rows[i%len(some.rows)], uint32(i), 0); err != nil {
			return err
		}
	}
	memory := make([]byte, streamRows*some.dims)
	floats := make([]float32, len(memory)/4)
	for i := range memory {
		memory[i] = 1
	}
	for i := range floats {
		floats[i] = 1
	}
	limit := func() float64 {
		start := time.Now()
		if bytes.IndexByte(memory, 0) >= 0 {
			return 0
		}
		bytesTook := time.Since(start)
		start = time.Now()
		if vek32.Sum(floats) == 0 {
			return 0
		}
		return float64(len(memory)) / min(bytesTook, time.Since(start)).Seconds()
	}
	var values, limits []float64
	for i := range 3 * rounds {
		most := limit()
		start := time.Now()
		if _, err := s.Exact(vector.Search{Values: some.queries[i%len(some.queries)], K: nearest, Part: vector.AnyPart}); err != nil {
			return err
		}
		values = append(values, float64(streamRows*some.dims)/time.Since(start).Seconds()/most)
		limits = append(limits, most/1e9)
	}
	b.set("exact_scan_vs_stream", values)
	low, mid, high := spread(limits)
	b.note("exact_scan_vs_stream: memory gives %.3g GB/s to one thread (%.3g to %.3g)", mid, low, high)
	return nil
}

// exact compares exact searches.
func (b *bench) exact() error {
	n, queries := 50_000, 20
	if b.o.Quick {
		n = 20_000
	}
	s := synthetic("exact", n, queries, 384, b.o.Seed+3)
	space := vector.NewSpaceWith(vector.Options{Dims: s.dims, GraphRows: 2 * n})
	defer space.Close()
	for i, v := range s.rows {
		if _, err := space.Add(v, uint32(i), 0); err != nil {
			return err
		}
	}
	search := func() (float64, error) {
		return cpuTime(func() error {
			for _, q := range s.queries {
				if _, err := space.Exact(vector.Search{Values: q, K: nearest, Part: vector.AnyPart}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if b.wanted("exact_vs_sqlitevec") {
		if err := b.exactSQLite(s, search); err != nil {
			b.row("exact_vs_sqlitevec").NotRun = err.Error()
		}
	}
	if !b.wanted("exact_vs_chromem") {
		return nil
	}
	if err := b.hand(s); err != nil {
		return err
	}
	if _, err := b.golang.ask("load", request{"dims": s.dims, "rows": b.path(s.name), "queries": b.path(s.name + ".queries")}); err != nil {
		return err
	}
	return b.compare("exact_vs_chromem", search, func() (float64, error) {
		a, err := b.golang.ask("search", request{"k": nearest})
		return a.Seconds, err
	})
}

func (b *bench) exactSQLite(s *set, search func() (float64, error)) error {
	if err := b.hand(s); err != nil {
		return err
	}
	if _, err := b.python.ask("build", request{"lib": "sqlitevec", "set": s.name}); err != nil {
		return err
	}
	return b.compare("exact_vs_sqlitevec", search, func() (float64, error) {
		a, err := b.python.ask("search", request{"lib": "sqlitevec", "set": s.name, "k": nearest, "n": len(s.queries), "out": b.path("found")})
		return a.Seconds, err
	})
}
