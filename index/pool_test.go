package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/index/embed"
)

func unit(r *rand.Rand, embedder string) embed.Vector {
	v := embed.Vector{Embedder: embedder, Values: make([]float32, embed.Dims)}
	for i := range v.Values {
		v.Values[i] = float32(r.NormFloat64())
	}
	v, err := v.Unit()
	if err != nil {
		panic(err)
	}
	return v
}

// near returns a vector with about the given cosine to v.
func near(r *rand.Rand, v embed.Vector, cos float64) embed.Vector {
	noise := unit(r, v.Embedder)
	out := embed.Vector{Embedder: v.Embedder, Values: make([]float32, len(v.Values))}
	for i := range out.Values {
		out.Values[i] = float32(cos*float64(v.Values[i]) + math.Sqrt(1-cos*cos)*float64(noise.Values[i]))
	}
	return out
}

func mustPut(t testing.TB, p *Pool, d Doc) {
	t.Helper()
	if err := p.Put(d); err != nil {
		t.Fatal(err)
	}
}

func ids(hits []Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.ID
	}
	return out
}

func text(s string) []Field { return []Field{{Name: "content", Text: s}} }

func TestPutReplacesAndDeletes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p, v := NewPool(), unit(r, embed.MiniLM)
	mustPut(t, p, Doc{ID: "a", Fields: text("refund order"), Vectors: []embed.Vector{v}, Meta: 1})
	mustPut(t, p, Doc{ID: "a", Fields: text("book hotel"), Vectors: []embed.Vector{{}, near(r, v, .5)}, Meta: 2})
	if p.Len() != 1 {
		t.Fatalf("Len() = %d", p.Len())
	}
	hits, err := p.Search(context.Background(), Query{Text: "refund", IgnoreFloor: true})
	if err != nil || len(hits) != 0 {
		t.Errorf("the old text is still found: %v, %v", hits, err)
	}
	hits, err = p.Search(context.Background(), Query{Text: "hotel", Vector: v})
	if err != nil || len(hits) != 1 || hits[0].Meta != 2 || hits[0].VectorIndex != 1 || math.Abs(hits[0].Cosine-.5) > .2 {
		t.Errorf("got %+v, %v", hits, err)
	}
	d, ok := p.Get("a")
	if !ok || len(d.Vectors) != 2 || !d.Vectors[0].IsZero() || d.Vectors[1].Embedder != embed.MiniLM || d.Fields[0].Text != "book hotel" {
		t.Errorf("Get: %+v, %v", d, ok)
	}
	if !p.Delete("a") || p.Delete("a") || p.Delete("unknown") || p.Len() != 0 {
		t.Error("delete")
	}
	if _, ok := p.Get("a"); ok {
		t.Error("deleted document is still there")
	}
	hits, err = p.Search(context.Background(), Query{Text: "hotel", Vector: v, IgnoreFloor: true})
	if err != nil || len(hits) != 0 {
		t.Errorf("deleted document is found: %v, %v", hits, err)
	}
}

func TestFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	en, zh := unit(r, embed.MiniLM), unit(r, embed.E5)
	p := NewPool()
	mustPut(t, p, Doc{ID: "en-near", Fields: text("alpha"), Vectors: []embed.Vector{near(r, en, .6)}})
	mustPut(t, p, Doc{ID: "en-far", Fields: text("refund"), Vectors: []embed.Vector{near(r, en, .05)}})
	mustPut(t, p, Doc{ID: "zh-near", Fields: text("beta"), Vectors: []embed.Vector{near(r, zh, .95)}})
	mustPut(t, p, Doc{ID: "zh-far", Fields: text("gamma"), Vectors: []embed.Vector{near(r, zh, .5)}})
	mustPut(t, p, Doc{ID: "zh-word", Fields: text("refund"), Vectors: []embed.Vector{near(r, zh, .5)}})
	mustPut(t, p, Doc{ID: "bare", Fields: text("refund")})
	mustPut(t, p, Doc{ID: "en-faint", Fields: text("delta"), Vectors: []embed.Vector{near(r, en, .45)}})
	for _, c := range []struct {
		name string
		q    Query
		want []string
	}{
		{"a faint cosine needs a word in common", Query{Text: "qwxyz", Vector: en}, []string{"en-near"}},
		{"a faint cosine with one", Query{Text: "delta qwxyz", Vector: en}, []string{"en-faint", "en-near"}},
		{"a faint cosine and no words", Query{Vector: en}, []string{"en-faint", "en-near"}},
		{"minilm: a keyword does not pass the floor, no vector does", Query{Text: "refund", Vector: en}, []string{"bare", "en-near", "zh-word"}},
		{"e5: a keyword passes the floor", Query{Text: "refund", Vector: zh}, []string{"bare", "en-far", "zh-near", "zh-word"}},
		{"e5: one keyword of many does not", Query{Text: "refund 预订 一张 桌子 明天 晚上 两个 人", Vector: zh}, []string{"bare", "en-far", "zh-near"}},
		{"no text", Query{Vector: zh}, []string{"zh-near"}},
		{"no vector", Query{Text: "refund"}, []string{"bare", "en-far", "zh-word"}},
		{"nonsense", Query{Text: "qwxyz", Vector: unit(r, embed.MiniLM)}, []string{}},
		{"no floor", Query{Vector: en, IgnoreFloor: true}, []string{"en-faint", "en-far", "en-near"}},
		{"unknown embedder", Query{Text: "alpha", Vector: embed.Vector{Embedder: "other", Values: []float32{1}}}, []string{"en-near"}},
	} {
		hits, err := p.Search(context.Background(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		got := ids(hits)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestScore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	q := unit(r, embed.E5)
	p := NewPool()
	mustPut(t, p, Doc{ID: "a", Fields: text("重试 limit"), Vectors: []embed.Vector{near(r, q, .95), near(r, q, .9)}, Meta: "m"})
	hits, err := p.Search(context.Background(), Query{Text: "limit", Vector: q, KeywordWeight: .5})
	if err != nil || len(hits) != 1 {
		t.Fatalf("got %v, %v", hits, err)
	}
	h := hits[0]
	if want := (h.Cosine - .857) / .143; math.Abs(h.Common-want) > 1e-12 {
		t.Errorf("Common = %v, want %v", h.Common, want)
	}
	if want := h.BM25 / (h.BM25 + 5); h.Keyword != want || h.BM25 <= 0 {
		t.Errorf("Keyword = %v, want %v", h.Keyword, want)
	}
	if want := h.Common + .5*h.Keyword; math.Abs(h.Score-want) > 1e-12 {
		t.Errorf("Score = %v, want %v", h.Score, want)
	}
	hits, err = p.Search(context.Background(), Query{Text: "limit of nothing else", Vector: q})
	if err != nil || len(hits) != 1 {
		t.Fatalf("got %v, %v", hits, err)
	}
	g := hits[0]
	if g.Cover <= 0 || g.Cover >= 1 || math.Abs(g.Weight-1.5*math.Sqrt(g.Cover)) > 1e-12 || math.Abs(g.Score-g.Common-g.Weight*g.Keyword) > 1e-12 {
		t.Errorf("weight by cover: %+v", g)
	}
	if h.VectorIndex != 0 || h.Embedder != embed.E5 || !h.HasCosine || !h.AboveFloor || h.Meta != "m" {
		t.Errorf("hit %+v", h)
	}
}

// TestSearchAgainstAll compares with scoring every document, on pools with two spaces, missing vectors and deletes.
func TestSearchInSeveralSpaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPool()
	en, zh := unit(r, embed.MiniLM), unit(r, embed.E5)
	mustPut(t, p, Doc{ID: "a", Fields: text("refund"), Vectors: []embed.Vector{near(r, en, .7)}})
	mustPut(t, p, Doc{ID: "b", Fields: text("退款"), Vectors: []embed.Vector{near(r, zh, .97)}})
	mustPut(t, p, Doc{ID: "c", Fields: text("other"), Vectors: []embed.Vector{near(r, en, .1), near(r, zh, .93)}})
	mustPut(t, p, Doc{ID: "d", Fields: text("other"), Vectors: []embed.Vector{near(r, en, .05), near(r, zh, .5)}})
	if got := p.Embedders(); !slices.Equal(got, []string{embed.E5, embed.MiniLM}) {
		t.Errorf("embedders %v", got)
	}
	hits, err := p.Search(context.Background(), Query{Vector: en, Others: []embed.Vector{{}, zh}})
	if err != nil || !slices.Equal(ids(hits), []string{"b", "a", "c"}) {
		t.Fatalf("hits %v: %v", ids(hits), err)
	}
	for i, want := range []struct {
		embedder string
		vector   int
	}{{embed.E5, 0}, {embed.MiniLM, 0}, {embed.E5, 1}} {
		h := hits[i]
		profile, _ := embed.ProfileOf(want.embedder)
		if h.Embedder != want.embedder || h.VectorIndex != want.vector || h.Common != profile.Common(h.Cosine) {
			t.Errorf("hit %+v, want %+v", h, want)
		}
	}
	if hits, err := p.Search(context.Background(), Query{Vector: en}); err != nil || !slices.Equal(ids(hits), []string{"a"}) {
		t.Errorf("by one vector %v: %v", ids(hits), err)
	}
	bad := embed.Vector{Embedder: embed.E5, Values: make([]float32, embed.Dims)}
	if _, err := p.Search(context.Background(), Query{Vector: en, Others: []embed.Vector{bad}}); !errors.Is(err, ErrQuery) {
		t.Errorf("another vector of length zero: %v", err)
	}
}

func TestSearchAgainstAll(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	p, docs := NewPool(), map[string]Doc{}
	words := strings.Fields("refund order cancel hotel seat page login limit retry date 重试 退款")
	for i := range 900 {
		id := fmt.Sprintf("d%03d", r.IntN(300))
		if i%5 == 4 {
			_, known := docs[id]
			if p.Delete(id) != known {
				t.Fatalf("delete of %s", id)
			}
			delete(docs, id)
			continue
		}
		d := Doc{ID: id, Fields: text(words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]), Meta: i}
		for range r.IntN(3) {
			d.Vectors = append(d.Vectors, unit(r, []string{embed.MiniLM, embed.E5}[r.IntN(2)]))
		}
		mustPut(t, p, d)
		docs[id] = d
	}
	for range 40 {
		q := Query{Text: words[r.IntN(len(words))], Vector: unit(r, embed.MiniLM), Limit: 100, IgnoreFloor: true}
		q.Filter = func(id string, meta any) bool { return meta.(int)%3 != 0 }
		hits, err := p.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hits {
			if h.Meta.(int)%3 == 0 || h.Meta != docs[h.ID].Meta {
				t.Fatalf("hit %+v", h)
			}
			if i > 0 && compareHits(hits[i-1], h) >= 0 {
				t.Fatalf("hits %d and %d are out of order", i-1, i)
			}
			best, has := 0., false
			for _, v := range docs[h.ID].Vectors {
				if cos, ok := Cosine(v, q.Vector); ok && (!has || cos > best) {
					best, has = cos, true
				}
			}
			if has != h.HasCosine || has && math.Abs(best-h.Cosine) > 1e-5 {
				t.Fatalf("hit %+v, want cosine %v, %v", h, best, has)
			}
		}
		want := 0
		for _, d := range docs {
			comparable := slices.ContainsFunc(d.Vectors, func(v embed.Vector) bool { return v.Embedder == embed.MiniLM })
			if d.Meta.(int)%3 != 0 && (comparable || strings.Contains(d.Fields[0].Text, q.Text)) {
				want++
			}
		}
		if len(hits) != min(100, want) {
			t.Fatalf("%d hits, want %d", len(hits), want)
		}
	}
}

func TestBadInput(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	good := unit(r, embed.MiniLM)
	bad := func(x float32) embed.Vector {
		v := embed.Vector{Embedder: embed.MiniLM, Values: slices.Clone(good.Values)}
		v.Values[7] = x
		return v
	}
	nan, inf := bad(float32(math.NaN())), bad(float32(math.Inf(1)))
	zero := embed.Vector{Embedder: embed.MiniLM, Values: make([]float32, embed.Dims)}
	short := embed.Vector{Embedder: embed.MiniLM, Values: []float32{1}}
	p := NewPool()
	mustPut(t, p, Doc{ID: "a", Fields: text("refund"), Vectors: []embed.Vector{good}})
	mustPut(t, p, Doc{ID: "other", Vectors: []embed.Vector{{Embedder: "other", Values: []float32{0, 1}}}})
	for name, v := range map[string]embed.Vector{"NaN": nan, "infinite": inf, "zero": zero, "short": short,
		"no embedder": {Values: good.Values}, "size of the space": {Embedder: "other", Values: []float32{1, 0, 0}}} {
		if err := p.Put(Doc{ID: "a", Fields: text("other"), Vectors: []embed.Vector{v}}); !errors.Is(err, ErrDocument) {
			t.Errorf("%s: Put: %v", name, err)
		}
		if _, err := p.Search(context.Background(), Query{Vector: v}); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: Search: %v", name, err)
		}
		if _, err := p.Nearest(v, 3, nil); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: Nearest: %v", name, err)
		}
	}
	for name, d := range map[string]Doc{
		"no id":        {Fields: text("x")},
		"many vectors": {ID: "x", Vectors: make([]embed.Vector, MaxVectors+1)},
		"two sizes":    {ID: "x", Vectors: []embed.Vector{{Embedder: "new", Values: []float32{1}}, {Embedder: "new", Values: []float32{0, 1}}}},
		"weight":       {ID: "x", Fields: []Field{{Text: "x", Weight: -1}}},
	} {
		if err := p.Put(d); !errors.Is(err, ErrDocument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, q := range map[string]Query{
		"nothing":  {},
		"blank":    {Text: " \t\u3000"},
		"limit":    {Text: "refund", Limit: -1},
		"weight":   {Text: "refund", KeywordWeight: -1},
		"weight 2": {Text: "refund", KeywordWeight: math.NaN()},
	} {
		if _, err := p.Search(context.Background(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.NearestAt(good, 9, 3, nil); !errors.Is(err, ErrQuery) {
		t.Errorf("vector index: %v", err)
	}
	hits, err := p.Search(context.Background(), Query{Text: "refund", Vector: good})
	if err != nil || len(hits) != 1 || p.Len() != 2 {
		t.Errorf("refused documents changed the pool: %v, %v", hits, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Search(ctx, Query{Text: "refund"}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func TestUnusualQueries(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	v := unit(r, embed.MiniLM)
	p := NewPool()
	for i := range 10000 {
		mustPut(t, p, Doc{ID: fmt.Sprintf("d%05d", (i*7919)%10000), Fields: text("same text"), Vectors: []embed.Vector{v}})
	}
	hits, err := p.Search(context.Background(), Query{Text: "same text", Vector: v, Limit: 3})
	if err != nil || !slices.Equal(ids(hits), []string{"d00000", "d00001", "d00002"}) {
		t.Errorf("identical documents: %v, %v", ids(hits), err)
	}
	hits, err = p.Search(context.Background(), Query{Vector: v, Limit: 50000})
	if err != nil || len(hits) != 10000 {
		t.Errorf("limit beyond the pool: %d, %v", len(hits), err)
	}
	none := func(string, any) bool { return false }
	hits, err = p.Search(context.Background(), Query{Text: "same", Vector: v, Filter: none, IgnoreFloor: true})
	if err != nil || len(hits) != 0 {
		t.Errorf("filter for none: %v, %v", hits, err)
	}
	for _, s := range []string{"the of", "🎉", "\xff\xed\xa0\x80x", strings.Repeat("text ", 1<<18)} {
		if _, err := p.Search(context.Background(), Query{Text: s, Vector: v, Limit: 1}); err != nil {
			t.Errorf("%.10q: %v", s, err)
		}
	}
}

func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	q := unit(r, embed.MiniLM)
	p := NewPool()
	mustPut(t, p, Doc{ID: "scenario", Vectors: []embed.Vector{near(r, q, .9), near(r, q, .1)}})
	mustPut(t, p, Doc{ID: "content", Vectors: []embed.Vector{near(r, q, .1), near(r, q, .7)}})
	mustPut(t, p, Doc{ID: "chinese", Vectors: []embed.Vector{unit(r, embed.E5)}})
	got, err := p.Nearest(q, 5, nil)
	if err != nil || len(got) != 2 || got[0].ID != "scenario" || got[1].ID != "content" || got[1].VectorIndex != 1 {
		t.Errorf("Nearest: %+v, %v", got, err)
	}
	got, err = p.NearestAt(q, 1, 1, nil)
	if err != nil || len(got) != 1 || got[0].ID != "content" {
		t.Errorf("NearestAt: %+v, %v", got, err)
	}
	pairs, ok := p.Cosines("scenario", []embed.Vector{q, unit(r, embed.E5)})
	if !ok || len(pairs) != 2 || !pairs[0].OK || math.Abs(pairs[0].Cosine-.9) > .1 || pairs[1].OK {
		t.Errorf("Cosines: %+v, %v", pairs, ok)
	}
	if _, ok := p.Cosines("unknown", nil); ok {
		t.Error("cosines of an unknown document")
	}
	if _, ok := Cosine(q, unit(r, embed.E5)); ok {
		t.Error("two spaces were compared")
	}
}

func TestAll(t *testing.T) {
	p := NewPool()
	for _, id := range []string{"a", "b", "c"} {
		mustPut(t, p, Doc{ID: id})
	}
	seen := 0
	p.All(func(d Doc) bool { seen++; p.Delete(d.ID); return true })
	if seen != 3 || p.Len() != 0 {
		t.Errorf("saw %d, %d left", seen, p.Len())
	}
}

// TestConcurrently puts, deletes and searches at once: what was put is found, what was deleted is not.
func TestConcurrently(t *testing.T) {
	p := NewPool()
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(g, 9))
			for i := range 150 {
				v, id := unit(r, embed.MiniLM), fmt.Sprintf("g%d-%d", g, i)
				if err := p.Put(Doc{ID: id, Fields: text("retry after limit"), Vectors: []embed.Vector{v, v}}); err != nil {
					t.Error(err)
				}
				hits, err := p.Search(context.Background(), Query{Vector: v, Limit: 1})
				if err != nil || len(hits) != 1 || hits[0].ID != id {
					t.Errorf("%s is not the nearest to itself: %v, %v", id, hits, err)
				}
				if i%2 == 0 {
					p.Delete(id)
					hits, err = p.Search(context.Background(), Query{Vector: v, Limit: 1})
					if err != nil || len(hits) == 1 && hits[0].ID == id {
						t.Errorf("%s is found after Delete: %v", id, err)
					}
				}
			}
		})
	}
	all.Wait()
	if p.Len() != 4*75 {
		t.Errorf("Len() = %d", p.Len())
	}
}

func TestStats(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	p := NewPool()
	defer p.Close()
	mustPut(t, p, Doc{ID: "a", Vectors: []embed.Vector{unit(r, embed.MiniLM), unit(r, embed.E5)}})
	mustPut(t, p, Doc{ID: "b", Fields: text("refund order"), Vectors: []embed.Vector{unit(r, embed.MiniLM)}})
	st := p.Stats()
	if k := st.Keywords; k.Docs != 2 || k.Terms != 2 || k.Postings != 2 || k.Bytes <= 0 {
		t.Errorf("keywords: %+v", k)
	}
	if st.Docs != 2 || st.Spaces[embed.MiniLM].Rows != 2 || st.Spaces[embed.E5].Rows != 1 || st.Spaces[embed.E5].Bytes == 0 {
		t.Errorf("got %+v", st)
	}
	if got := p.Recall(10, 3); got != 1 {
		t.Errorf("Recall() = %v for a pool that is scanned", got)
	}
}
