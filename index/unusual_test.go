package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/index/embed"
)

// unusualTexts are texts with few words or none, and one of a megabyte.
var unusualTexts = map[string]string{
	"empty":               "",
	"blank":               " \t\u3000\n",
	"stop words":          "the of and to",
	"emoji":               "🎉👩‍👩‍👧🇩🇪",
	"unpaired surrogates": "\xed\xa0\x80\xed\xbf\xbf",
	"invalid bytes":       "\xff\xfe refund \xc3",
	"NUL":                 "refund\x00order",
	"a long word":         strings.Repeat("x", 1<<16),
	"a megabyte of words": strings.Repeat("refund order ", 1<<20/13),
	"a megabyte of Han":   strings.Repeat("退款", 1<<20/6),
}

// TestUnusualDocuments stores each text, finds it by its vector, and finds others beside it.
func TestUnusualDocuments(t *testing.T) {
	r, p := rand.New(rand.NewPCG(21, 1)), NewPool()
	mustPut(t, p, Doc{ID: "usual", Fields: text("wombat"), Vectors: []embed.Vector{unit(r, embed.MiniLM)}})
	for name, s := range unusualTexts {
		v := unit(r, embed.MiniLM)
		mustPut(t, p, Doc{ID: name, Fields: text(s), Vectors: []embed.Vector{v}})
		hits, err := p.Search(context.Background(), Query{Vector: v, Limit: 1})
		if err != nil || !slices.Equal(ids(hits), []string{name}) {
			t.Errorf("%s: found %v, %v", name, ids(hits), err)
		}
		hits, err = p.Search(context.Background(), Query{Text: s + " wombat", Vector: v, Limit: 20, IgnoreFloor: true})
		if err != nil || !slices.Contains(ids(hits), "usual") {
			t.Errorf("%s: as a question it found %v, %v", name, ids(hits), err)
		}
		if _, err := p.Search(context.Background(), Query{Text: s[:min(len(s), 99)], Limit: 3}); err != nil && !errors.Is(err, ErrQuery) {
			t.Errorf("%s: alone %v", name, err)
		}
	}
	for name := range unusualTexts {
		if !p.Delete(name) || p.Delete(name) {
			t.Errorf("%s: Delete", name)
		}
	}
	if p.Delete("never put") || p.Len() != 1 {
		t.Errorf("%d documents left", p.Len())
	}
}

// TestCrashDuringSave: what a crash leaves beside the file, whole or in part, is not looked at, and the file stays.
func TestCrashDuringSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool")
	p := filled(t, 4)
	if err := p.SaveFile(path, Info{"old", 1}, encodeMeta); err != nil {
		t.Fatal(err)
	}
	whole := saved(t, filled(t, 9))
	for i, n := range []int{0, 1, len(whole) / 2, len(whole)} {
		if err := os.WriteFile(fmt.Sprintf("%s.%d.tmp", path, i), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, info, err := LoadFile(path, decodeMeta)
		if err != nil || info.Generation != "old" || got.Len() != p.Len() {
			t.Fatalf("after a crash at %d bytes: %+v, %v", n, info, err)
		}
		got.Close()
	}
}
