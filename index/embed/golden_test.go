package embed

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
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

var goldenFiles = map[string]string{MiniLM: "testdata/minilm.golden.jsonl", E5: "testdata/e5.golden.jsonl"}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name   string
		id     string
		assets assets
		form   form
		diff   float64 // largest absolute difference of a value
		cosine float64 // least cosine
	}{
		{"minilm float", MiniLM, minilmAssets, formFloat, 1e-4, .9999},
		{"e5 float", E5, e5Assets, formFloat, 1e-4, .9999},
		{"minilm int8", MiniLM, minilmAssets, formInt8, .02, .998},
		{"e5 int8", E5, e5Assets, formInt8, .02, .999},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.form == formInt8 && !haveKernels {
				t.Skip("no kernels for this CPU")
			}
			m, err := load(c.assets, c.form)
			if err != nil {
				t.Fatal(err)
			}
			worst, low, sum := 0.0, 1.0, 0.0
			texts := readGolden(t, goldenFiles[c.id])
			for _, g := range texts {
				ids := m.tok.encode(m.cfg.Prefix+g.Text, m.cfg.MaxTokens)
				if !slices.Equal(ids, g.IDs) {
					t.Errorf("ids of %.60q:\n got %v\nwant %v", g.Text, ids, g.IDs)
					continue
				}
				v, err := m.forward(context.Background(), ids)
				if err != nil {
					t.Fatal(err)
				}
				diff, cos := compare(v, g.Vec)
				worst, low, sum = max(worst, diff), min(low, cos), sum+cos
			}
			t.Logf("largest difference %.1e, cosine: least %.7f, mean %.7f", worst, low, sum/float64(len(texts)))
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
