package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers.jsonl")
	if err := os.WriteFile(path, []byte("1\n2 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var numbers []int
	if err := Read(path, &numbers); err != nil || !slices.Equal(numbers, []int{1, 2, 3}) {
		t.Errorf("got %v, %v", numbers, err)
	}
	var texts []string
	if err := Read(path, &texts); err == nil || !strings.Contains(err.Error(), "numbers.jsonl") {
		t.Errorf("values of another type: got %v", err)
	}
	if err := Read(path+"x", &numbers); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: got %v", err)
	}
}
