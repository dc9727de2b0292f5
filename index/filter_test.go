package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"cairn/index/embed"
)

// numbered returns a pool of n documents with random vectors and words; Meta is the number.
func numbered(t *testing.T, n int) *Pool {
	t.Helper()
	r, p := rand.New(rand.NewPCG(11, uint64(n))), NewPool()
	for i := range n {
		d := Doc{ID: fmt.Sprintf("d%05d", i), Fields: []Field{{Text: fmt.Sprintf("common word%d", r.IntN(9))}}, Meta: i, Vectors: []embed.Vector{randomVector(r)}}
		if err := p.Put(d); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func randomVector(r *rand.Rand) embed.Vector {
	v := embed.Vector{Embedder: "random", Values: make([]float32, 16)}
	for i := range v.Values {
		v.Values[i] = float32(r.NormFloat64())
	}
	return v
}

// TestFilterAgainstAll compares filtered searches with an unfiltered one of everything whose hits are filtered.
func TestFilterAgainstAll(t *testing.T) {
	for _, n := range []int{300, 3000} {
		p, r := numbered(t, n), rand.New(rand.NewPCG(12, 13))
		for i := range n / 10 {
			p.Delete(fmt.Sprintf("d%05d", 10*i))
		}
		for _, modulus := range []int{1, 2, 7, 100, n + 1} {
			q := Query{Text: "common word3", Vector: randomVector(r), Limit: p.Len(), IgnoreFloor: true}
			all, err := p.Search(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			pass := func(h Hit) bool { return h.Meta.(int)%modulus == 3%modulus }
			asked := map[string]int{}
			q.Filter = func(id string, meta any) bool { asked[id]++; return pass(Hit{Meta: meta}) }
			checkFiltered(t, p, q, all, pass)
			for id, times := range asked {
				if times != 1 {
					t.Errorf("n %d, modulus %d: asked %d times for %s", n, modulus, times, id)
				}
			}
			q.Filter, q.Among = nil, []string{"unknown"}
			for _, h := range all {
				if pass(h) {
					q.Among = append(q.Among, h.ID, h.ID)
				}
			}
			checkFiltered(t, p, q, all, pass)
		}
	}
}

func checkFiltered(t *testing.T, p *Pool, q Query, all []Hit, pass func(Hit) bool) {
	t.Helper()
	got, err := p.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var want, ids []string
	for _, h := range all {
		if pass(h) {
			want = append(want, h.ID)
		}
	}
	for _, h := range got {
		ids = append(ids, h.ID)
	}
	if !slices.Equal(ids, want) {
		t.Errorf("%d hits, want %d", len(ids), len(want))
	}
}

func TestFilterOfManyIsAskedForFew(t *testing.T) {
	p, asked := numbered(t, 4000), 0
	q := Query{Vector: randomVector(rand.New(rand.NewPCG(1, 1))), Limit: 5, IgnoreFloor: true}
	q.Filter = func(string, any) bool { asked++; return true }
	if _, err := p.Search(context.Background(), q); err != nil {
		t.Fatal(err)
	}
	if asked > 1500 {
		t.Errorf("asked for %d of 4000 documents", asked)
	}
}

func TestAmongNone(t *testing.T) {
	p := numbered(t, 20)
	q := Query{Text: "common", Limit: 5, IgnoreFloor: true, Among: []string{}}
	if got, err := p.Search(context.Background(), q); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	q.Among, q.Filter = []string{"d00001", "d00002"}, func(id string, _ any) bool { return id == "d00002" }
	if got, err := p.Search(context.Background(), q); err != nil || len(got) != 1 || got[0].ID != "d00002" {
		t.Errorf("%v, %v", got, err)
	}
}
