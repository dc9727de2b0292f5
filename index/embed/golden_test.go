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
	for id, path := range goldenFiles {
		t.Run(id, func(t *testing.T) {
			m, err := modelOf(id)
			if err != nil {
				t.Fatal(err)
			}
			worst, low := 0.0, 1.0
			for _, g := range readGolden(t, path) {
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
				worst, low = max(worst, diff), min(low, cos)
			}
			t.Logf("largest difference %.1e, least cosine %.7f", worst, low)
			if !(worst < 1e-4 && low >= .9999) {
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
