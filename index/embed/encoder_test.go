package embed

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func newEncoder(t testing.TB) *Encoder {
	t.Helper()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestHugeText cuts a megabyte in each encoder's way; embedding so many chunks is not needed to see that they are bounded.
func TestHugeText(t *testing.T) {
	for _, text := range []string{strings.Repeat("重试", 1<<20/6), strings.Repeat("word ", 1<<20/5), strings.Repeat("🎉重", 1<<17)} {
		m, err := modelOf(Choose(text))
		if err != nil {
			t.Fatal(err)
		}
		seqs, err := m.sequences(text)
		if err != nil || len(seqs) == 0 || len(seqs) > MaxChunks {
			t.Errorf("%d chunks, %v", len(seqs), err)
		}
		for _, ids := range seqs {
			if len(ids) > m.cfg.MaxTokens {
				t.Errorf("chunk of %d tokens", len(ids))
			}
		}
	}
}

func TestChoose(t *testing.T) {
	cases := []struct{ text, want string }{
		{"", MiniLM},
		{"retry on 429", MiniLM},
		{"重试", E5},
		{"ひらがな", E5},
		{"カタカナ", E5},
		{"한국어", MiniLM},
		{"。。、、", MiniLM},
		{strings.Repeat("a", 17) + "重重重", E5},
		{strings.Repeat("a", 18) + "重重重", MiniLM},
		{"\xff\xfe", MiniLM},
	}
	for _, c := range cases {
		if got := Choose(c.text); got != c.want {
			t.Errorf("Choose(%q) = %s, want %s", c.text, got, c.want)
		}
	}
}

func TestProfiles(t *testing.T) {
	for _, p := range Profiles() {
		m, err := modelOf(p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if m.cfg.ID != p.ID || m.cfg.MaxTokens != p.MaxTokens || m.cfg.Prefix != p.Prefix || m.cfg.Hidden != p.Dims {
			t.Errorf("profile %+v does not match the model's configuration %+v", p, m.cfg)
		}
		weights := map[string][]byte{MiniLM: minilmWeights, E5: e5Weights}[p.ID]
		if got := hexSum(weights); got != p.AssetHash {
			t.Errorf("%s: weights have hash %s, the profile says %s", p.ID, got, p.AssetHash)
		}
		if got := p.Common(1); got != 1 {
			t.Errorf("%s: Common(1) = %v", p.ID, got)
		}
		if got := p.Common(p.Unrelated); got != 0 {
			t.Errorf("%s: Common(unrelated) = %v", p.ID, got)
		}
	}
	if _, ok := ProfileOf("other"); ok {
		t.Error("a profile for an unknown embedder")
	}
}

func TestEmbedUnusualText(t *testing.T) {
	e := newEncoder(t)
	cases := []struct {
		name, text string
		blank      bool
	}{
		{"empty", "", true},
		{"white space", " \t\n\u3000\u2003", true},
		{"zero width only", "\u200b\u200d", true},
		{"NUL only", "\x00\x00", true},
		{"invalid bytes only", "\xff\xfe\xed\xa0\x80", true},
		{"emoji only", "🎉🎉🚀", false},
		{"invalid inside", "wait \xff then retry", false},
		{"surrogates in bytes with Han", "重试\xed\xa0\x80", false},
		{"stop words", "the of and", false},
		{"one megabyte without blanks", strings.Repeat("x", 1<<20), false},
		{"special token as text", "[SEP] [CLS]", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := e.Embed(context.Background(), c.text)
			if c.blank {
				if !errors.Is(err, ErrBlank) {
					t.Fatalf("got %v, want ErrBlank", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkUnit(t, v)
		})
	}
}

func checkUnit(t *testing.T, v Vector) {
	t.Helper()
	if _, ok := ProfileOf(v.Embedder); !ok || len(v.Values) != Dims {
		t.Fatalf("embedder %q, %d values", v.Embedder, len(v.Values))
	}
	var sum float64
	for _, x := range v.Values {
		sum += float64(x) * float64(x)
	}
	if !(math.Abs(sum-1) < 1e-5) {
		t.Fatalf("squared length %v", sum)
	}
}

func TestEmbedBatch(t *testing.T) {
	e := newEncoder(t)
	texts := []string{"book a table", "", "订一张桌子", "refund the order", "book a table"}
	got, err := e.EmbedBatch(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	fresh := newEncoder(t)
	for i, text := range texts {
		want, err := fresh.Embed(context.Background(), text)
		if err != nil && !errors.Is(err, ErrBlank) {
			t.Fatal(err)
		}
		if got[i].Embedder != want.Embedder || !slices.Equal(got[i].Values, want.Values) {
			t.Errorf("text %d: batch and single differ", i)
		}
	}
	if got, err := e.EmbedBatch(context.Background(), nil); err != nil || len(got) != 0 {
		t.Errorf("empty batch: %v, %v", got, err)
	}
}

// TestBatchIsSingle embeds texts of many lengths in one batch and one by one: passes are shared, vectors are the same.
func TestBatchIsSingle(t *testing.T) {
	words := strings.Fields("retry after too many requests refund the order 请求 过多 时 稍等 再 重试 getUserById 429")
	r := rand.New(rand.NewPCG(7, 7))
	var texts []string
	for i := range 60 {
		var b strings.Builder
		for range 1 + r.IntN(1+i) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		texts = append(texts, b.String())
	}
	texts = append(texts, strings.Repeat("a long text about refunds and orders ", 90), "\x00")
	batch, single := newEncoder(t), newEncoder(t)
	got, err := batch.EmbedBatch(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		want, err := single.Embed(context.Background(), text)
		if err != nil && !errors.Is(err, ErrBlank) {
			t.Fatal(err)
		}
		if got[i].Embedder != want.Embedder || !slices.Equal(got[i].Values, want.Values) {
			t.Errorf("text %d (%d bytes): batch and single differ", i, len(text))
		}
	}
}

func TestLongTextIsMeanOfChunks(t *testing.T) {
	for _, c := range []struct{ id, text string }{
		{MiniLM, strings.Repeat("the first half speaks of refunds ", 60) + strings.Repeat("the second of hotels ", 80)},
		{E5, strings.Repeat("前半部分讲的是退款。", 90) + strings.Repeat("后半部分讲的是酒店。", 90)},
	} {
		m, err := modelOf(c.id)
		if err != nil {
			t.Fatal(err)
		}
		seqs, err := m.sequences(c.text)
		if err != nil || len(seqs) < 2 {
			t.Fatalf("%d chunks, %v", len(seqs), err)
		}
		whole := m.tok.encode(m.cfg.Prefix+c.text, 1<<20)
		joined := []int32{m.cfg.BOS}
		joined = append(joined, m.prefix...)
		want := make([]float32, Dims)
		for _, ids := range seqs {
			if len(ids) > m.cfg.MaxTokens || ids[0] != m.cfg.BOS || ids[len(ids)-1] != m.cfg.EOS || !slices.Equal(ids[1:1+len(m.prefix)], m.prefix) {
				t.Fatalf("chunk of %d tokens: %v", len(ids), ids)
			}
			joined = append(joined, ids[1+len(m.prefix):len(ids)-1]...)
			v, err := m.forward(context.Background(), [][]int32{ids})
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range v[0] {
				want[i] += x
			}
		}
		if joined = append(joined, m.cfg.EOS); !slices.Equal(joined, whole) {
			t.Errorf("%s: the chunks do not make up the text", c.id)
		}
		got, err := m.vector(context.Background(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, cos := compare(got, want); cos < .999999 {
			t.Errorf("%s: cosine to the mean of the chunks %v", c.id, cos)
		}
		checkUnit(t, Vector{c.id, got})
	}
}

func TestEmbedEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := newEncoder(t)
	if _, err := e.Embed(ctx, "refund"); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed: %v", err)
	}
	if _, err := e.EmbedBatch(ctx, []string{"refund", "order"}); !errors.Is(err, context.Canceled) {
		t.Errorf("EmbedBatch: %v", err)
	}
	m, err := minilm()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.forward(ctx, [][]int32{{101, 2000, 102}}); !errors.Is(err, context.Canceled) {
		t.Errorf("forward: %v", err)
	}
}

func TestCache(t *testing.T) {
	c := newCache(2)
	a, b, d := keyOf(MiniLM, "a"), keyOf(MiniLM, "b"), keyOf(MiniLM, "d")
	if a == keyOf(E5, "a") {
		t.Error("two embedders share a key")
	}
	c.put(a, []float32{1})
	c.put(b, []float32{2})
	c.get(a)
	c.put(d, []float32{3})
	if _, ok := c.get(b); ok {
		t.Error("the vector used least recently is still there")
	}
	if v, ok := c.get(a); !ok || v[0] != 1 {
		t.Errorf("a: %v, %v", v, ok)
	}
	none := newCache(-1)
	none.put(a, []float32{1})
	if _, ok := none.get(a); ok {
		t.Error("a cache that is off keeps vectors")
	}
}

func TestUnit(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, v := range map[string]Vector{
		"zero vector": {},
		"no embedder": {Values: []float32{1}},
		"NaN":         {MiniLM, []float32{1, nan}},
		"infinite":    {MiniLM, []float32{1, inf}},
		"length zero": {MiniLM, []float32{0, 0}},
	} {
		if _, err := v.Unit(); !errors.Is(err, ErrVector) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := Vector{MiniLM, []float32{3, 4}}.Unit()
	if err != nil || !slices.Equal(got.Values, []float32{.6, .8}) {
		t.Errorf("got %v, %v", got, err)
	}
}
