package refine

import (
	"reflect"
	"testing"

	"cairn/federation"
)

func TestCredits(t *testing.T) {
	items := []Given{{ID: "a", Version: 2}, {ID: "b", Version: 1, Rank: 1}, {ID: "x", Version: 1, Rank: 2, Exploratory: true}}
	for _, tc := range []struct {
		name    string
		used    *[]string
		want    []federation.Micro
		unknown []string
	}{
		{"not reported", nil, []federation.Micro{1_000_000, 500_000, 1_000_000}, nil},
		{"none used", &[]string{}, []federation.Micro{0, 0, 0}, nil},
		{"second used", &[]string{"b"}, []federation.Micro{0, 1_000_000, 0}, nil},
		{"twice and strangers", &[]string{"z", "x", "x", "z"}, []federation.Micro{0, 0, 1_000_000}, []string{"z"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			credits, unknown := Credits(items, tc.used)
			var got []federation.Micro
			for i, c := range credits {
				got = append(got, c.Credit)
				if c.ID != items[i].ID || c.Version != items[i].Version {
					t.Errorf("credit %d is about %s@%d, want %s@%d", i, c.ID, c.Version, items[i].ID, items[i].Version)
				}
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("credits = %v, want %v", got, tc.want)
			}
			if !reflect.DeepEqual(unknown, tc.unknown) {
				t.Errorf("unknown = %v, want %v", unknown, tc.unknown)
			}
		})
	}
}

func TestCreditsOfNothing(t *testing.T) {
	credits, unknown := Credits(nil, &[]string{"a"})
	if len(credits) != 0 || len(unknown) != 1 {
		t.Errorf("got %v, %v; want no credit and one unknown id", credits, unknown)
	}
}
