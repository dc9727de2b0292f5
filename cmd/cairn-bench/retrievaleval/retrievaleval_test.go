package retrievaleval

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/index/embed"
)

// byWords embeds a text as the sum of random vectors of its words.
type byWords struct{}

func (byWords) EmbedBatch(_ context.Context, texts []string) ([]embed.Vector, error) {
	out := make([]embed.Vector, len(texts))
	for i, t := range texts {
		v := make([]float32, embed.Dims)
		for _, w := range strings.Fields(strings.ToLower(t)) {
			h := fnv.New64a()
			_, _ = h.Write([]byte(strings.Trim(w, ".,?!")))
			r := rand.New(rand.NewPCG(h.Sum64(), 1))
			for j := range v {
				v[j] += float32(r.NormFloat64())
			}
		}
		out[i] = embed.Vector{Embedder: embed.MiniLM, Values: v}
	}
	return out, nil
}

func writeData(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var small = map[string]string{
	"locomo-turns.jsonl": `{"conv":"a","id":"1","speaker":"Ann","text":"My cat sleeps on the oven."}
{"conv":"a","id":"2","speaker":"Bob","text":"I repair violins in winter."}
{"conv":"b","id":"1","speaker":"Eve","text":"The harbour froze in March."}`,
	"locomo-questions.jsonl": `{"conv":"a","question":"Where does the cat of Ann sleep?","evidence":["1"]}
{"conv":"a","question":"Who repairs violins?","evidence":["2"]}
{"conv":"b","question":"Nothing is known about it?","evidence":[]}`,
	"prefeval.jsonl": `{"id":"p1","preference":"I never eat mushrooms.","question":"Which pizza without mushrooms?"}
{"id":"p2","preference":"Trains are what I travel by.","question":"How do I travel to Rome by trains?"}`,
}

func TestRun(t *testing.T) {
	rows, notes, err := Run(context.Background(), Options{Data: writeData(t, small), Seed: 1, Embedder: byWords{}, Progress: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Row{}
	for _, r := range rows {
		got[r.Name] = r
	}
	for name, want := range map[string]float64{"locomo_fused_r5": 1, "locomo_keywords_r10": 1, "prefeval_r5": 1, "fused_minus_keywords_min": 0} {
		if r, ok := got[name]; !ok || math.Abs(r.Value-want) > 1e-9 {
			t.Errorf("%s: %+v, want %v", name, r, want)
		}
	}
	for _, name := range []string{"nonsense_empty", "nonsense_own_empty", "floor_keeps"} {
		if r, ok := got[name]; !ok || r.Value < 0 || r.Value > 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, ok := got["bfclmem_r5"]; ok || !strings.Contains(strings.Join(notes, "\n"), "bfclmem left out") {
		t.Errorf("a set without data: %v", notes)
	}
}

func TestRunRefuses(t *testing.T) {
	dir := writeData(t, map[string]string{"prefeval.jsonl": "{"})
	if _, _, err := Run(context.Background(), Options{Data: dir, Embedder: byWords{}, Progress: func(string) {}}); err == nil {
		t.Error("a damaged file is no error")
	}
	rows, _, err := Run(context.Background(), Options{Data: t.TempDir(), Embedder: byWords{}, Progress: func(string) {}})
	if err != nil || len(rows) != 0 {
		t.Errorf("an empty folder: %v, %v", rows, err)
	}
}

func TestCut(t *testing.T) {
	if got := cut("We saw 2 old-fashioned ships", false); strings.Join(got, " ") != "saw old fashioned ships" {
		t.Errorf("words %q", got)
	}
	if got := cut("我在图书馆, ok 学习", true); strings.Join(got, " ") != "我在 图书 学习" {
		t.Errorf("pairs %q", got)
	}
}

func TestShort(t *testing.T) {
	x := table{cosine: recall{.5, .6}, weighted: recall{.7, .8}, weight: "w.3"}
	if got := x.short(map[string]recall{"cosine": {.55, .6}, "w.3": {.68, .9}}); math.Abs(got-.02) > 1e-9 {
		t.Errorf("short by %v, want .02", got)
	}
}

func TestArmWeights(t *testing.T) {
	for _, c := range []struct {
		embedder string
		want     float64
	}{{embed.MiniLM, .2}, {embed.E5, .2 / (1 - .857)}, {"other", .2}} {
		q := arm{"w.2", .2, ""}.query("text", embed.Vector{Embedder: c.embedder, Values: []float32{1}})
		if math.Abs(q.KeywordWeight-c.want) > 1e-9 || q.Text != "text" || q.Vector.IsZero() {
			t.Errorf("%s: %+v, want a weight of %v", c.embedder, q, c.want)
		}
	}
	if q := (arm{"fused", 0, ""}).query("text", embed.Vector{Embedder: embed.E5}); q.KeywordWeight != 0 {
		t.Errorf("the weight of search itself: %v", q.KeywordWeight)
	}
}
