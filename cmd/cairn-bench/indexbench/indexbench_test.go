package indexbench

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMissingPeers checks that a row whose peer cannot be had says so and does not hold.
func TestMissingPeers(t *testing.T) {
	rows, _, err := Run(context.Background(), Options{
		Peers: filepath.Join(t.TempDir(), "none"), Rows: "onnxruntime", Quick: true, Seed: 1, Progress: func(string) {},
	})
	if err != nil || len(rows) != len(Rows()) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		want := "not asked for"
		if r.Name == "embed_vs_onnxruntime" {
			want = "peers/index.sh"
		}
		if !strings.Contains(r.NotRun, want) || r.OK() != (r.Op == "") {
			t.Errorf("%+v", r)
		}
	}
}

func TestOK(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want bool
	}{
		{Row{Op: "<=", Bar: 3, Value: 3}, true}, {Row{Op: "<=", Bar: 3, Value: 4}, false},
		{Row{Op: ">=", Bar: 3, Value: 3}, true}, {Row{Op: ">=", Bar: 3, Value: 2}, false},
		{Row{Value: 2}, true}, {Row{NotRun: "why"}, true}, {Row{Op: "<=", Bar: 3, NotRun: "why"}, false},
	} {
		if c.row.OK() != c.want {
			t.Errorf("%+v", c.row)
		}
	}
}

func TestWanted(t *testing.T) {
	for rows, want := range map[string]bool{"": true, "1m": true, "embed,1m": true, "embed,filter": false} {
		if got := (Options{Rows: rows}).Wanted("load_1m_s"); got != want {
			t.Errorf("%q: %v", rows, got)
		}
	}
}

func TestTruth(t *testing.T) {
	s := synthetic("truth", 500, 20, 16, 1)
	all := make([]uint32, len(s.rows))
	for i := range all {
		all[i] = uint32(i)
	}
	for _, q := range s.queries {
		if got, want := plainNearest(s.rows, q), nearestOf(s.rows, all, q, nearest); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := recallOf([][]uint32{{1, 2}, {9, 4}}, [][]uint32{{1, 2}, {3, 4}}); got != .75 {
		t.Errorf("recall %v", got)
	}
}

func TestFiles(t *testing.T) {
	path, lists := filepath.Join(t.TempDir(), "file"), [][]uint32{{1, 2}, {3, 4}}
	if err := writeNumbers(path, lists); err != nil {
		t.Fatal(err)
	}
	got, err := readNumbers(path, 2)
	if err != nil || !slices.EqualFunc(got, lists, slices.Equal) {
		t.Errorf("got %v, %v", got, err)
	}
	s := synthetic("file", 60, 5, 8, 1)
	if err := writeVectors(path, append(s.rows, s.queries...)); err != nil {
		t.Fatal(err)
	}
	read, err := readSet("file", path, 60, 5, 8)
	if err != nil || len(read.rows) != 60 || len(read.queries) != 5 {
		t.Fatalf("%v", err)
	}
	if _, err := readSet("file", path, 60, 6, 8); err == nil {
		t.Error("a file that is too short")
	}
}
