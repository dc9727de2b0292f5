package vectorfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cairn/index/embed"
)

// counting makes vectors of the length of a text and remembers what it was asked.
type counting struct{ asked []string }

func (c *counting) EmbedBatch(_ context.Context, texts []string) ([]embed.Vector, error) {
	c.asked = append(c.asked, texts...)
	out := make([]embed.Vector, len(texts))
	for i, t := range texts {
		if t != "" {
			out[i] = embed.Vector{Embedder: "counting", Values: []float32{float32(len(t)), 1}}
		}
	}
	return out, nil
}

func TestFileKeepsVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors")
	texts := []string{"one", "three", "", "one"}
	for round := range 3 {
		made := &counting{}
		e, err := Open(path, made)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.EmbedBatch(context.Background(), texts)
		if err != nil || len(got) != 4 || !got[2].IsZero() || got[1].Embedder != "counting" || !slices.Equal(got[3].Values, []float32{3, 1}) {
			t.Fatalf("round %d: %v, %v", round, got, err)
		}
		if want := []int{3, 0, 1}[round]; len(made.asked) != want {
			t.Errorf("round %d: asked %q", round, made.asked)
		}
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		if round == 1 { // the last record, of the blank text, loses its end
			if err := os.Truncate(path, fileSize(t, path)-2); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(path, slices.Repeat([]byte{0xee}, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, &counting{}); !errors.Is(err, ErrFile) {
		t.Errorf("got %v", err)
	}
	if _, err := Open("", &counting{}); err != nil {
		t.Error(err)
	}
}

func TestFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors")
	if _, err := OpenAlone(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	e, err := Open(path, &counting{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.EmbedBatch(context.Background(), []string{"one", "three", ""})
	if err = errors.Join(err, e.Flush()); err != nil {
		t.Fatal(err)
	}
	only, err := OpenAlone(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := only.EmbedBatch(context.Background(), []string{"three", "", "one"})
	if err != nil || !slices.Equal(got[0].Values, want[1].Values) || !got[1].IsZero() || !slices.Equal(got[2].Values, want[0].Values) {
		t.Errorf("got %v, %v, want those of %v", got, err, want)
	}
	if _, err := only.EmbedBatch(context.Background(), []string{"one", "two"}); !errors.Is(err, ErrMissing) {
		t.Errorf("another text: %v", err)
	}
}
