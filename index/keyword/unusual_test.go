package keyword

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestUnusualTexts: texts without words are documents that nothing finds, long ones are found as others are.
func TestUnusualTexts(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		terms bool
	}{
		"empty":               {"", false},
		"stop words":          {"the of and to", false},
		"emoji":               {"🎉👩‍👩‍👧", false},
		"unpaired surrogates": {"\xed\xa0\x80\xed\xbf\xbf", false},
		"a megabyte of words": {strings.Repeat("refund order ", 1<<20/13), true},
		"a megabyte of Han":   {strings.Repeat("退款", 1<<20/6), true},
	} {
		x := New()
		terms, err := Analyse([]Field{{Text: c.text}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for doc := range uint32(3) {
			x.PutTerms(doc, terms)
		}
		q := NewQuery(c.text)
		got := x.Search(q, Search{K: 100})
		if q.Empty() == c.terms || c.terms && len(got) != 3 || !c.terms && len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
		for _, m := range got {
			if !(m.Score > 0) || m.Score >= x.Bound(q) {
				t.Errorf("%s: score %v, bound %v", name, m.Score, x.Bound(q))
			}
		}
		if x.Delete(3) || !x.Delete(0) || x.Delete(0) || x.Len() != 2 {
			t.Errorf("%s: deletions, %d left", name, x.Len())
		}
	}
}

// TestManyTermsInQuery asks for thousands of terms at once.
func TestManyTermsInQuery(t *testing.T) {
	x, long := New(), strings.Builder{}
	for i := range 3000 {
		word := "q" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		long.WriteString(word + " ")
		if err := x.Put(uint32(i), []Field{{Text: word + " shared"}}); err != nil {
			t.Fatal(err)
		}
	}
	q := NewQuery(long.String() + "shared")
	got, want := x.Search(q, Search{K: 5}), exhaustive(x, q, Search{K: 5})
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestIdentical(t *testing.T) {
	x := New()
	for doc := range uint32(10_000) {
		if err := x.Put(doc, []Field{{Text: "same text"}}); err != nil {
			t.Fatal(err)
		}
	}
	q := NewQuery("same text")
	got := x.Search(q, Search{K: 20_000})
	if len(got) != 10_000 || got[0].Doc != 0 || got[9999].Doc != 9999 {
		t.Errorf("%d found", len(got))
	}
	if got := x.Search(q, Search{K: 3, Allow: []uint64{0, 1 << 5}}); len(got) != 1 || got[0].Doc != 69 {
		t.Errorf("allowed one: %v", got)
	}
	if got := x.Search(q, Search{K: 3, Allow: []uint64{}}); len(got) != 0 {
		t.Errorf("allowed none: %v", got)
	}
}

func TestWeightsAtTheEnds(t *testing.T) {
	for _, w := range []float64{MinWeight, MaxWeight} {
		x := New()
		for doc := range uint32(200) {
			if err := x.Put(doc, []Field{{strings.Repeat("refund ", 1+int(doc%9)), w}, {"order", 1}}); err != nil {
				t.Fatal(err)
			}
		}
		q := NewQuery("refund order")
		if got, want := x.Search(q, Search{K: 200}), exhaustive(x, q, Search{K: 200}); len(got) != 200 || got[0] != want[0] || !(got[199].Score > 0) {
			t.Errorf("weight %v: %d found", w, len(got))
		}
	}
	for _, w := range []float64{MinWeight / 2, MaxWeight * 2, math.NaN(), math.Inf(1), -1} {
		if _, err := Analyse([]Field{{"x", w}}); !errors.Is(err, ErrWeight) {
			t.Errorf("weight %v: %v", w, err)
		}
	}
}
