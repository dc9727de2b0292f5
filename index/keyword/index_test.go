package keyword

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// reference is BM25 as the formula has it, over all documents.
func reference(docs map[uint32][]Field, query string) []Match {
	type counted struct {
		terms  map[string]float64
		length float64
	}
	all := map[uint32]counted{}
	var total float64
	for doc, fields := range docs {
		c := counted{terms: map[string]float64{}}
		for _, f := range fields {
			for _, term := range Tokenize(f.Text) {
				c.terms[term] += f.Weight
				c.length += f.Weight
			}
		}
		total += c.length
		all[doc] = c
	}
	var out []Match
	for doc, c := range all {
		var sum float64
		for _, term := range Tokenize(query) { // repeats included
			n := 0.
			for _, other := range all {
				if other.terms[term] > 0 {
					n++
				}
			}
			if tf := c.terms[term]; tf > 0 {
				idf := math.Log(1 + (float64(len(all))-n+.5)/(n+.5))
				sum += idf * tf * 2.2 / (tf + 1.2*(.25+.75*c.length/(total/float64(len(all)))))
			}
		}
		if sum > 0 {
			out = append(out, Match{doc, sum})
		}
	}
	slices.SortFunc(out, func(a, b Match) int {
		if a.Score != b.Score && math.Abs(a.Score-b.Score) > 1e-9 {
			return int(math.Copysign(1, b.Score-a.Score))
		}
		return int(a.Doc) - int(b.Doc)
	})
	return out
}

var words = strings.Fields("refund order cancel booking retry limit page search login token date format rate fly hotel seat 429 500 重试 退款 getUser paid_at")

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s ", words[int(float64(len(words))*r.Float64()*r.Float64())])
	}
	return b.String()
}

func TestIndexAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, docs := New(), map[uint32][]Field{}
	for step := range 600 {
		doc := uint32(r.IntN(120))
		if r.IntN(4) == 0 {
			_, known := docs[doc]
			if x.Delete(doc) != known {
				t.Fatalf("step %d: delete of %d, known %v", step, doc, known)
			}
			delete(docs, doc)
			continue
		}
		docs[doc] = []Field{{randomText(r, r.IntN(8)), 2}, {randomText(r, r.IntN(20)), 1}}
		if err := x.Put(doc, docs[doc]); err != nil {
			t.Fatal(err)
		}
		if step%20 != 0 {
			continue
		}
		query, k := randomText(r, 1+r.IntN(4)), 1+r.IntN(30)
		got, want := x.Search(NewQuery(query), Search{K: k}), reference(docs, query)
		compareMatches(t, got, want[:min(k, len(want))])
		for _, m := range got {
			if bound := x.Bound(NewQuery(query)); m.Score >= bound {
				t.Fatalf("score %v, bound %v", m.Score, bound)
			}
			if s := x.Score(NewQuery(query), m.Doc); s != m.Score {
				t.Fatalf("Score(%d) = %v, Search gave %v", m.Doc, s, m.Score)
			}
		}
	}
	if x.Len() != len(docs) {
		t.Errorf("Len() = %d, want %d", x.Len(), len(docs))
	}
}

// exhaustive scores every document.
func exhaustive(x *Index, q Query, s Search) []Match {
	var out []Match
	all := make([]uint32, len(x.docs))
	for i := range all {
		all[i] = uint32(i)
	}
	for i, score := range x.Scores(q, all) {
		if doc := uint32(i); score > 0 && s.allows(doc) && (s.Accept == nil || s.Accept(doc)) {
			out = append(out, Match{doc, score})
		}
	}
	slices.SortFunc(out, func(a, b Match) int {
		if a.Score != b.Score {
			return int(math.Copysign(1, b.Score-a.Score))
		}
		if s.Before != nil && s.Before(a.Doc, b.Doc) || s.Before == nil && a.Doc < b.Doc {
			return -1
		}
		return 1
	})
	return out[:min(s.K, len(out))]
}

// TestEarlyStop compares searches that stop early with the scores of all documents.
func TestEarlyStop(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := New()
	for doc := range uint32(3000) {
		text := randomText(r, 5+r.IntN(30))
		if doc%100 == 0 {
			text += fmt.Sprintf("rare%d ", r.IntN(12))
		}
		if err := x.Put(doc, []Field{{Text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		q := NewQuery(fmt.Sprintf("rare%d %s rare%d", r.IntN(12), randomText(r, 1+r.IntN(5)), r.IntN(12)))
		k := 1 + r.IntN(12)
		got := x.Search(q, Search{K: k})
		want := exhaustive(x, q, Search{K: k})
		if !slices.Equal(got, want) {
			t.Fatalf("k %d, query %v:\n got %v\nwant %v", k, q, got, want)
		}
	}
}

// zipfIndex is an index of 100,000 documents whose words follow Zipf's law, and a source of such words.
func zipfIndex(b *testing.B) (x *Index, draw func() string) {
	b.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	x = New()
	vocabulary := make([]string, 20000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("w%dx", i)
	}
	draw = func() string {
		return vocabulary[int(math.Pow(float64(len(vocabulary)), r.Float64()))-1]
	}
	for doc := range uint32(100000) {
		var text strings.Builder
		for range 20 + r.IntN(20) {
			text.WriteString(draw() + " ")
		}
		if err := x.Put(doc, []Field{{Text: text.String()}}); err != nil {
			b.Fatal(err)
		}
	}
	return x, draw
}

func BenchmarkStats(b *testing.B) {
	x, _ := zipfIndex(b)
	for b.Loop() {
		if x.Stats().Docs != 100_000 {
			b.Fatal("documents are missing")
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	x, draw := zipfIndex(b)
	queries := make([]Query, 200)
	for i := range queries {
		queries[i] = NewQuery(draw() + " " + draw() + " " + draw())
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Search(queries[i%len(queries)], Search{K: 10})
		i++
	}
}

func compareMatches(t *testing.T, got, want []Match) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d matches, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i].Score-want[i].Score) > 1e-4 {
			t.Fatalf("match %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestIndexEmptiesWhole(t *testing.T) {
	x := New()
	for doc := range uint32(50) {
		if err := x.Put(doc, []Field{{Text: fmt.Sprintf("refund order number %d", doc)}}); err != nil {
			t.Fatal(err)
		}
	}
	for doc := range uint32(50) {
		x.Delete(doc)
	}
	if x.Len() != 0 || len(x.terms) != 0 || x.length != 0 || len(x.free) != len(x.lists) {
		t.Errorf("left: %d documents, %d terms, length %v", x.Len(), len(x.terms), x.length)
	}
	if got := x.Search(NewQuery("refund"), Search{K: 5}); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func TestSearchEdges(t *testing.T) {
	x := New()
	for doc := range uint32(10) {
		if err := x.Put(doc, []Field{{Text: "same text"}}); err != nil {
			t.Fatal(err)
		}
	}
	q := NewQuery("same text")
	if got := x.Search(q, Search{K: 3, Before: func(a, b uint32) bool { return a > b }}); len(got) != 3 || got[0].Doc != 9 || got[2].Doc != 7 {
		t.Errorf("ties: %v", got)
	}
	if got := x.Search(q, Search{K: 100, Accept: func(doc uint32) bool { return doc == 4 }}); len(got) != 1 || got[0].Doc != 4 {
		t.Errorf("filter: %v", got)
	}
	for name, got := range map[string][]Match{
		"k = 0":           x.Search(q, Search{}),
		"k < 0":           x.Search(q, Search{K: -1}),
		"no terms":        x.Search(NewQuery("the 🎉"), Search{K: 3}),
		"unknown term":    x.Search(NewQuery("zebra"), Search{K: 3}),
		"filter for none": x.Search(q, Search{K: 3, Accept: func(uint32) bool { return false }}),
	} {
		if len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if x.Delete(77) || x.Score(q, 77) != 0 {
		t.Error("unknown document")
	}
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := x.Put(3, []Field{{Text: "other", Weight: w}}); !errors.Is(err, ErrWeight) {
			t.Errorf("weight %v: %v", w, err)
		}
	}
	if x.Score(q, 3) == 0 {
		t.Error("a refused Put changed the document")
	}
}

func TestIndexConcurrently(t *testing.T) {
	x := New()
	var all sync.WaitGroup
	for g := range uint32(4) {
		all.Go(func() {
			for i := range uint32(200) {
				doc := g*1000 + i%20
				if err := x.Put(doc, []Field{{Text: words[i%uint32(len(words))] + " refund"}}); err != nil {
					t.Error(err)
				}
				q := NewQuery("refund")
				if got := x.Search(q, Search{K: 5}); len(got) == 0 {
					t.Error("nothing found")
				}
				if x.Score(q, doc) == 0 {
					t.Error("a document that was put is not there")
				}
				x.Delete(doc)
				if err := x.Put(doc, []Field{{Text: "refund"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
