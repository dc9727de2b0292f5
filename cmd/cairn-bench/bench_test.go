package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func bench(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestBarsDecide(t *testing.T) {
	specs := []rowSpec{atMost("loss", "rows", 0, "x"), figure("speed", "1/s", "x"), {Name: "gain", Bar: new(.5), Op: new(">=")}}
	for _, tc := range []struct {
		name string
		row  string
		with []float64
		want error
	}{
		{"below", "loss", []float64{0}, nil},
		{"above", "loss", []float64{1}, errBar},
		{"at a least bar", "gain", []float64{.5}, nil},
		{"under a least bar", "gain", []float64{.4}, errBar},
		{"no bar", "speed", []float64{1e9}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			r := newReport("x", &options{}, specs)
			if err := r.add(tc.row, tc.with); err != nil {
				t.Fatal(err)
			}
			if err := r.finish(&app{stdout: &out, options: &options{JSON: true}}); !errors.Is(err, tc.want) {
				t.Errorf("err = %v, want %v", err, tc.want)
			}
			var got struct {
				Rows []map[string]any `json:"rows"`
			}
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if ok := got.Rows[0]["ok"]; ok != (tc.want == nil) {
				t.Errorf("ok = %v", ok)
			}
			for _, name := range []string{"name", "value", "unit", "low", "high", "reference", "bar", "op", "ok"} {
				if _, there := got.Rows[0][name]; !there {
					t.Errorf("the row lacks %s", name)
				}
			}
		})
	}
}

func TestUnannouncedRowsAreRefused(t *testing.T) {
	if err := newReport("x", &options{}, nil).add("made_up", []float64{1}); err == nil {
		t.Error("a row that is not announced was added")
	}
}

func TestSpreadAndQuantile(t *testing.T) {
	low, mid, high := spread([]float64{3, 1, 2, 10})
	if low != 1 || mid != 2.5 || high != 10 {
		t.Errorf("spread = %v %v %v", low, mid, high)
	}
	for _, tc := range []struct{ q, want float64 }{{.5, 2}, {.99, 4}, {0, 1}, {.75, 3}, {1, 4}} {
		if got := quantile([]float64{4, 2, 1, 3}, tc.q); got != tc.want {
			t.Errorf("quantile %v = %v, want %v", tc.q, got, tc.want)
		}
	}
	if quantile(nil, .5) != 0 {
		t.Error("quantile of nothing is not 0")
	}
}

func TestListAndHelp(t *testing.T) {
	code, out, _ := bench(t, "list", "--json")
	var got struct {
		Commands []struct {
			Command string
			Rows    []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
		t.Fatalf("code %d, %v: %s", code, err, out)
	}
	if len(got.Commands) != len(benches) || got.Commands[0].Command != "api" || len(got.Commands[0].Rows) != len(apiRows) {
		t.Errorf("list = %+v", got)
	}
	if code, out, _ = bench(t, "list"); code != exitOK || !strings.Contains(out, "recall_p50_ms") {
		t.Errorf("list: code %d\n%s", code, out)
	}
	if code, out, _ = bench(t, "help", "data"); code != exitOK || !strings.Contains(out, "trajectories-*.jsonl") {
		t.Errorf("help data: code %d\n%s", code, out)
	}
	if code, _, errs := bench(t, "fly"); code != exitUsage || !strings.Contains(errs, "fly") {
		t.Errorf("unknown command: code %d, %s", code, errs)
	}
	if code, _, _ = bench(t, "api", "--help"); code != exitOK {
		t.Errorf("help: code %d", code)
	}
}

func TestDataFiles(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"trajectories-b.jsonl": 30, "trajectories-a.jsonl": 10, "trajectories-c.jsonl": 20, "other.jsonl": 1} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := &app{options: &options{Data: dir}}
	files, err := a.dataFiles("trajectories-*.jsonl")
	if err != nil || len(files) != 3 || filepath.Base(files[0]) != "trajectories-a.jsonl" {
		t.Fatalf("files = %v, %v", files, err)
	}
	if got := smallest(files, 2); !reflect.DeepEqual(got, []string{files[0], files[2]}) {
		t.Errorf("smallest two = %v", got)
	}
	a.options.Data = filepath.Join(dir, "nowhere")
	if _, err := a.dataFiles("*"); err == nil {
		t.Error("a folder that is not there is no error")
	}
	a.options.Data = ""
	if files, err := a.dataFiles("*"); err != nil || files != nil {
		t.Errorf("without a folder: %v, %v", files, err)
	}
}

func TestEvalRetrieval(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"devbench-memories.jsonl": `{"id":"m1","content":"The parser reads dates day first","tags":["a"]}
{"id":"m2","content":"Backups run at night on the second disk","tags":["b"]}`,
		"devbench-queries.jsonl": `{"question":"When do backups run?","expected_tags":["b"]}
{"question":"Who painted the blue horse?","expected_tags":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := bench(t, "eval", "retrieval", "--data", dir, "--json")
	var got report
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
		t.Fatalf("code %d, %v: %s%s", code, err, out, errs)
	}
	if len(got.Rows) != 5 {
		t.Fatalf("rows = %+v", got.Rows)
	}
	for _, r := range got.Rows {
		if r.Value != 1 {
			t.Errorf("%s = %v, want 1", r.Name, r.Value)
		}
	}
	kept := filepath.Join(t.TempDir(), "vectors")
	if code, _, errs = bench(t, "eval", "retrieval", "--data", dir, "--vectors", kept); code != exitOK {
		t.Fatalf("with vectors kept: code %d, %s", code, errs)
	}
	code, again, errs := bench(t, "eval", "retrieval", "--data", dir, "--json", "--embedder", "file:"+kept)
	var alone report
	if err := json.Unmarshal([]byte(again), &alone); err != nil || code != exitOK || !slices.EqualFunc(alone.Rows, got.Rows, func(a, b row) bool { return a.Name == b.Name && a.Value == b.Value }) {
		t.Errorf("by the file alone: code %d, %v: %s%s", code, err, again, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "devbench-queries.jsonl"), []byte(`{"question":"What is new?","expected_tags":["a"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs = bench(t, "eval", "retrieval", "--data", dir, "--embedder", "file:"+kept); code != exitFailed || !strings.Contains(errs, "text without vector") {
		t.Errorf("a text that the file does not have: code %d, %s", code, errs)
	}
	if code, _, errs = bench(t, "eval", "retrieval", "--data", dir, "--embedder", kept); code != exitUsage || !strings.Contains(errs, "only file:PATH is known") {
		t.Errorf("no scheme: code %d, %s", code, errs)
	}
	code, out, _ = bench(t, "eval", "retrieval", "--data", t.TempDir(), "--json")
	if code != exitOK || !strings.Contains(out, "left out") || !strings.Contains(out, `"rows": []`) {
		t.Errorf("without files: code %d\n%s", code, out)
	}
}

func TestRecallAndRank(t *testing.T) {
	ranked, relevant := []string{"a", "b", "c"}, map[string]bool{"b": true, "z": true}
	if got := recallAt(ranked, relevant, 5); got != .5 {
		t.Errorf("recall = %v, want .5", got)
	}
	if got := recallAt(ranked, relevant, 1); got != 0 {
		t.Errorf("recall at 1 = %v, want 0", got)
	}
	if got := reciprocalRank(ranked, relevant); got != .5 {
		t.Errorf("reciprocal rank = %v, want .5", got)
	}
}
