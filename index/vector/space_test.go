package vector

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func randomUnit(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		x := r.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// plain is the scalar product in float64.
func plain(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

type kept struct {
	values []float32
	owner  uint32
	part   uint8
}

// nearestPlain is the search by sorting everything.
func nearestPlain(rows map[Row]kept, q Search) []Match {
	best := map[uint32]Match{}
	for _, r := range rows {
		if q.Part != AnyPart && int(r.part) != q.Part || q.Accept != nil && !q.Accept(r.owner) {
			continue
		}
		m := Match{r.owner, r.part, float32(plain(r.values, q.Values))}
		if old, ok := best[r.owner]; !ok || m.Cosine > old.Cosine {
			best[r.owner] = m
		}
	}
	var out []Match
	for _, m := range best {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Match) int {
		if a.Cosine != b.Cosine {
			return int(math.Copysign(1, float64(b.Cosine-a.Cosine)))
		}
		return int(a.Owner) - int(b.Owner)
	})
	return out[:min(q.K, len(out))]
}

func TestSearchAgainstPlain(t *testing.T) {
	const dims = 24
	r := rand.New(rand.NewPCG(3, 4))
	s, rows, taken := NewSpace(dims), map[Row]kept{}, map[[2]int]bool{}
	for step := range 4000 {
		if len(rows) > 0 && r.IntN(3) == 0 {
			for row := range rows {
				if !s.Remove(row) {
					t.Fatalf("row %d was not there", row)
				}
				delete(taken, [2]int{int(rows[row].owner), int(rows[row].part)})
				delete(rows, row)
				break
			}
		} else {
			k := kept{randomUnit(r, dims), uint32(r.IntN(700)), uint8(r.IntN(2))}
			if taken[[2]int{int(k.owner), int(k.part)}] {
				continue
			}
			taken[[2]int{int(k.owner), int(k.part)}] = true
			row, err := s.Add(k.values, k.owner, k.part)
			if err != nil {
				t.Fatal(err)
			}
			if _, taken := rows[row]; taken {
				t.Fatalf("row %d was given twice", row)
			}
			rows[row] = k
		}
		if step%100 != 0 {
			continue
		}
		q := Search{Values: randomUnit(r, dims), K: 1 + r.IntN(20), Part: r.IntN(3) - 1}
		if r.IntN(2) == 0 {
			q.Accept = func(owner uint32) bool { return owner%7 == 0 }
		}
		got, err := s.Search(q)
		if err != nil {
			t.Fatal(err)
		}
		want := nearestPlain(rows, q)
		if len(got) != len(want) {
			t.Fatalf("step %d: %d matches, want %d", step, len(got), len(want))
		}
		for i := range got {
			if math.Abs(float64(got[i].Cosine-want[i].Cosine)) > 1e-6 {
				t.Fatalf("step %d, match %d: %+v, want %+v", step, i, got[i], want[i])
			}
		}
	}
	if s.Len() != len(rows) {
		t.Errorf("Len() = %d, want %d", s.Len(), len(rows))
	}
	for row, k := range rows {
		if !slices.Equal(s.Values(row), k.values) {
			t.Fatalf("row %d has other values", row)
		}
	}
}

func TestSpaceRefuses(t *testing.T) {
	s := NewSpace(2)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	if _, err := s.Add([]float32{1, 0}, 1, MaxParts); !errors.Is(err, ErrValue) {
		t.Errorf("part: %v", err)
	}
	for name, c := range map[string]struct {
		values []float32
		want   error
	}{
		"too few":   {[]float32{1}, ErrDims},
		"too many":  {[]float32{1, 0, 0}, ErrDims},
		"NaN":       {[]float32{nan, 1}, ErrValue},
		"infinite":  {[]float32{inf, 1}, ErrValue},
		"zero":      {[]float32{0, 0}, ErrValue},
		"not unit":  {[]float32{1, 1}, ErrValue},
		"no values": {nil, ErrDims},
	} {
		if _, err := s.Add(c.values, 1, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: Add: %v", name, err)
		}
		if _, err := s.Search(Search{Values: c.values, K: 1}); !errors.Is(err, c.want) {
			t.Errorf("%s: Search: %v", name, err)
		}
	}
	if s.Remove(5) || s.Values(5) != nil || s.Len() != 0 {
		t.Error("a row that was never added")
	}
	if _, ok := s.Cosine(0, []float32{1, 0}); ok {
		t.Error("cosine of a row that was never added")
	}
}

func TestIdenticalRows(t *testing.T) {
	s := NewSpace(4)
	v := []float32{.5, .5, .5, .5}
	for owner := range uint32(10000) {
		if _, err := s.Add(v, owner, 0); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Search(Search{Values: v, K: 5, Part: AnyPart, Before: func(a, b uint32) bool { return a > b }})
	if err != nil || len(got) != 5 || got[0].Owner != 9999 || got[4].Owner != 9995 {
		t.Errorf("got %v, %v", got, err)
	}
	all, err := s.Search(Search{Values: v, K: math.MaxInt, Part: AnyPart})
	if err != nil || len(all) != 10000 {
		t.Errorf("k beyond the space: %d, %v", len(all), err)
	}
}

func TestSpaceConcurrently(t *testing.T) {
	s := NewSpace(8)
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			for i := range 300 {
				v := randomUnit(r, 8)
				owner := uint32(g)*1000 + uint32(i)
				row, err := s.Add(v, owner, 0)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Search(Search{Values: v, K: 1, Part: AnyPart})
				if err != nil || len(got) != 1 || got[0].Owner != owner {
					t.Errorf("a row that was added is not the nearest to itself: %v, %v", got, err)
				}
				if i%2 == 0 {
					s.Remove(row)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	s := NewSpace(384)
	for i := range uint32(10000) {
		if _, err := s.Add(randomUnit(r, 384), i, 0); err != nil {
			b.Fatal(err)
		}
	}
	q := randomUnit(r, 384)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Search(Search{Values: q, K: 40, Part: AnyPart}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFloatScan compares the scan of CPUs without kernels with the other one.
func TestFloatScan(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s := NewSpace(40)
	for i := range uint32(3000) {
		if _, err := s.Add(randomUnit(r, 40), i/2, uint8(i%2)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		q := Search{Values: randomUnit(r, 40), K: 1 + i, Part: i%3 - 1, Before: byNumber}
		if i%2 == 0 {
			q.Accept = func(owner uint32) bool { return owner%5 == 0 }
		}
		s.mu.RLock()
		want := s.scanFloatLocked(s.scannerLocked(q))
		c := s.scannerLocked(q)
		s.scanLocked(c)
		got := s.rerankLocked(c)
		s.mu.RUnlock()
		if !slices.Equal(got, want) {
			t.Fatalf("query %d:\n got %v\nwant %v", i, got, want)
		}
	}
}
