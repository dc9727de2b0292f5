package embed

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
)

type golden struct {
	Text string    `json:"text"`
	IDs  []int32   `json:"ids"`
	Vec  []float32 `json:"vec"`
}

func readGolden(t testing.TB, path string) []golden {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []golden
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	if lines.Err() != nil || len(out) == 0 {
		t.Fatalf("%s: %d texts, %v", path, len(out), lines.Err())
	}
	return out
}

var (
	minilmFloat = sync.OnceValues(func() (*model, error) { return load(minilmAssets, formFloat) })
	e5Float     = sync.OnceValues(func() (*model, error) { return load(e5Assets, formFloat) })
)

// loaded returns a model in a form, loaded once for all tests.
func loaded(id string, f form) (*model, error) {
	switch {
	case f == bestForm():
		return modelOf(id)
	case id == E5:
		return e5Float()
	}
	return minilmFloat()
}

var goldenFiles = map[string]string{MiniLM: "testdata/minilm.golden.jsonl", E5: "testdata/e5.golden.jsonl"}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name   string
		id     string
		form   form
		diff   float64 // largest absolute difference of a value
		cosine float64 // least cosine
	}{
		{"minilm float", MiniLM, formFloat, 1e-4, .9999},
		{"e5 float", E5, formFloat, 1e-4, .9999},
		{"minilm int8", MiniLM, formInt8, .02, .998},
		{"e5 int8", E5, formInt8, .02, .999},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.form == formInt8 && !haveKernels {
				t.Skip("no kernels for this CPU")
			}
			m, err := loaded(c.id, c.form)
			if err != nil {
				t.Fatal(err)
			}
			worst, low := 0.0, 1.0
			long := 0 // texts of more than 100 tokens: a few are enough for the slow form
			texts := readGolden(t, goldenFiles[c.id])
			for _, g := range texts {
				ids := m.tok.encode(m.cfg.Prefix+g.Text, m.cfg.MaxTokens)
				if !slices.Equal(ids, g.IDs) {
					t.Errorf("ids of %.60q:\n got %v\nwant %v", g.Text, ids, g.IDs)
					continue
				}
				if len(ids) > 100 {
					if long++; c.form == formFloat && long > 2 {
						continue
					}
				}
				v, err := m.forward(context.Background(), [][]int32{ids})
				if err != nil {
					t.Fatal(err)
				}
				diff, cos := compare(v[0], g.Vec)
				worst, low = max(worst, diff), min(low, cos)
			}
			t.Logf("largest difference %.1e, least cosine %.7f", worst, low)
			if !(worst < c.diff && low >= c.cosine) {
				t.Errorf("largest difference %.1e, least cosine %.7f", worst, low)
			}
		})
	}
}

// compare returns the largest absolute difference and the cosine.
func compare(a, b []float32) (diff, cos float64) {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		diff = max(diff, math.Abs(x-y))
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return diff, ab / math.Sqrt(aa*bb)
}
