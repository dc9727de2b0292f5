package keyword

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// clustered returns a text whose words depend on where its document lies, as those of texts that were stored together do.
func clustered(r *rand.Rand, doc uint32, n int) string {
	var b strings.Builder
	for range n {
		w := int(40 * r.Float64() * r.Float64())
		if r.IntN(3) == 0 {
			w = 40 + int(doc/64)%30
		}
		fmt.Fprintf(&b, "w%dq ", w)
	}
	return b.String()
}

// TestDifferential compares searches with the scores of all documents while documents come, change and go.
func TestDifferential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		documents := rapid.IntRange(1, 300).Draw(t, "documents")
		spread := uint32(rapid.SampledFrom([]int{1, 3, 200}).Draw(t, "spread"))
		growing := rapid.Bool().Draw(t, "growing")
		x := New()
		put := func(doc uint32) {
			n := r.IntN(12)
			if growing {
				n += int(doc) / 10 % 60
			}
			fields := []Field{{Text: clustered(r, doc, n)}, {clustered(r, doc, r.IntN(4)), 2.5}}
			if err := x.Put(doc*spread, fields); err != nil {
				t.Fatal(err)
			}
		}
		for doc := range uint32(documents) {
			put(doc)
		}
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			for range rapid.IntRange(0, documents).Draw(t, "changes") {
				doc := uint32(r.IntN(documents))
				if r.IntN(2) == 0 {
					x.Delete(doc * spread)
				} else {
					put(doc)
				}
			}
			checkLists(t, x)
			for range 4 {
				checkSearch(t, x, r)
			}
		}
	})
}

// checkSearch draws a query and a filter.
func checkSearch(t *rapid.T, x *Index, r *rand.Rand) {
	q, s := NewQuery(clustered(r, uint32(r.IntN(2000)), 1+r.IntN(14))), Search{K: 1 + r.IntN(40)}
	switch r.IntN(4) {
	case 0:
		s.Before = func(a, b uint32) bool { return a > b }
	case 1:
		s.Accept = func(doc uint32) bool { return doc%7 < 3 }
	case 2:
		s.Allow = make([]uint64, 1+r.IntN(len(x.docs)/64+2))
		for i := range s.Allow {
			s.Allow[i] = r.Uint64() & r.Uint64() & r.Uint64()
		}
	}
	if got, want := x.Search(q, s), exhaustive(x, q, s); !slices.Equal(got, want) {
		t.Fatalf("query %v, K %d, allow %v, accept %v:\n got %v\nwant %v", q, s.K, s.Allow != nil, s.Accept != nil, got, want)
	}
}

// checkLists compares the lists with the forward lists and every impact with what it bounds.
func checkLists(t *rapid.T, x *Index) {
	postings := 0
	for term := range x.lists {
		l := &x.lists[term]
		n, last := 0, -1
		for i := range l.blocks {
			b := &l.blocks[i]
			n += int(b.n)
			if b.n == 0 || b.n > blockSize || b.top != slices.Max(b.impacts()) {
				t.Fatalf("term %d, block %d: %d postings, top %d", term, i, b.n, b.top)
			}
			for j := range int(b.n) {
				doc := b.doc(j)
				d := &x.docs[doc]
				bound := float64(b.impacts()[j]) / 255 * max(1, float64(b.ref)/x.inverseLocked())
				if int(doc) <= last || d.count(uint32(term)) == 0 || part(1/(k1+1), d.count(uint32(term)), d.length, x.inverseLocked()) > bound {
					t.Fatalf("term %d, document %d behind %d, bound %v", term, doc, last, bound)
				}
				last = int(doc)
			}
		}
		if n != l.n {
			t.Fatalf("term %d: %d postings, want %d", term, n, l.n)
		}
		postings += n
	}
	entries := 0
	for i := range x.docs {
		entries += len(x.docs[i].entries)
	}
	if postings != entries || x.postings != postings {
		t.Fatalf("%d postings in lists, %d in documents, %d counted", postings, entries, x.postings)
	}
}

// TestSearchAllocates only its result.
func TestSearchAllocates(t *testing.T) {
	r, x := rand.New(rand.NewPCG(7, 8)), New()
	for doc := range uint32(3000) {
		if err := x.Put(doc, []Field{{Text: clustered(r, doc, 20)}}); err != nil {
			t.Fatal(err)
		}
	}
	q := NewQuery("w3q w12q w41q")
	before := func(a, b uint32) bool { return a < b }
	if n := testing.AllocsPerRun(50, func() { x.Search(q, Search{K: 10, Before: before}) }); n > 1 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}

// TestReadsLess counts what a search of frequent terms asks of its filter: only documents that can be among the best.
func TestReadsLess(t *testing.T) {
	r, x := rand.New(rand.NewPCG(9, 8)), New()
	for doc := range uint32(8000) {
		if err := x.Put(doc, []Field{{Text: clustered(r, doc, 20)}}); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	x.Search(NewQuery("w0q w1q w20q"), Search{K: 10, Accept: func(uint32) bool { asked++; return true }})
	if asked == 0 || asked > 800 {
		t.Errorf("%d of 8000 documents reached the best ten", asked)
	}
}

func TestScattered(t *testing.T) {
	x := New()
	for _, doc := range []uint32{5_000_000, 3, 70_000, 4, 66_000, 200_000, 65_539, 65_538, 2} {
		if err := x.Put(doc, []Field{{Text: fmt.Sprintf("common n%d", doc)}}); err != nil {
			t.Fatal(err)
		}
	}
	q := NewQuery("common")
	got := x.Search(q, Search{K: 20})
	if len(got) != 9 || !slices.IsSortedFunc(got, func(a, b Match) int { return int(a.Doc) - int(b.Doc) }) {
		t.Errorf("got %v", got)
	}
	x.Delete(66_000)
	x.Delete(5_000_000)
	if got := x.Search(q, Search{K: 20}); len(got) != 7 {
		t.Errorf("after deletions %v", got)
	}
}
