package recall

import (
	"slices"
	"strings"
	"testing"

	"cairn/index"
)

func TestParts(t *testing.T) {
	one, two := "Book a flight to Lisbon for Kim.", "Then cancel the hotel that was booked."
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"one line":    {one, nil},
		"short lines": {one + "\nok\n\n", nil},
		"two":         {one + "\n  " + two + "\nok", []string{one, two}},
	} {
		if got := Parts(tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := Parts(strings.Repeat(one+"\n", 50) + two); len(got) != maxParts {
		t.Errorf("%d parts, want %d", len(got), maxParts)
	}
}

func TestMerge(t *testing.T) {
	hit := func(id string, score float64, above bool) index.Hit {
		return index.Hit{ID: id, Score: score, Cosine: score, AboveFloor: above}
	}
	got := Merge(3,
		[]index.Hit{hit("a", .6, true), hit("b", .5, false)},
		[]index.Hit{hit("b", .9, true), hit("c", .4, false)},
		[]index.Hit{hit("b", .3, false), hit("c", .8, false), hit("d", .1, false)})
	want := []index.Hit{{ID: "b", Score: .7, Cosine: .5, AboveFloor: true}, {ID: "c", Score: .4, Cosine: .8}, {ID: "a", Score: .3, Cosine: .6, AboveFloor: true}}
	for i := range want {
		if i >= len(got) || got[i].ID != want[i].ID || got[i].AboveFloor != want[i].AboveFloor || got[i].Cosine != want[i].Cosine || got[i].Score-want[i].Score > 1e-9 || want[i].Score-got[i].Score > 1e-9 {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}
