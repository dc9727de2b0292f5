package acquire

import (
	"slices"
	"testing"
)

func TestOnce(t *testing.T) {
	at := func(number int, recording int64, named bool, observation string) Attempt {
		return Attempt{Number: number, Recording: recording, Named: named, HasReward: true, Steps: []Step{
			{Tool: "x", Args: map[string]any{"b": 1.0, "a": []any{"c"}}, Observation: observation},
		}}
	}
	for _, tc := range []struct {
		name string
		in   []Attempt
		want []int
	}{
		{"samples of one recording", []Attempt{at(0, 1, false, "a"), at(1, 1, false, "a"), at(2, 1, false, "b")}, []int{0, 1, 2}},
		{"recorded twice", []Attempt{at(0, 1, false, "a"), at(1, 1, false, "b"), at(2, 2, false, "a"), at(3, 2, false, "b")}, []int{0, 1}},
		{"with names, then without", []Attempt{at(0, 1, true, "a"), at(1, 1, true, "a"), at(2, 2, false, "a"), at(3, 2, false, "a")}, []int{0, 1}},
		{"more than before", []Attempt{at(0, 1, false, "a"), at(1, 2, false, "a"), at(2, 2, false, "a")}, []int{0, 2}},
		{"named one by one", []Attempt{at(0, 1, true, "a"), at(1, 2, true, "a"), at(2, 3, true, "a")}, []int{0, 1, 2}},
		{"three times", []Attempt{at(0, 1, false, "a"), at(1, 2, false, "a"), at(2, 3, false, "a")}, []int{0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []int
			for _, a := range Once(tc.in) {
				got = append(got, a.Number)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("kept %v, want %v", got, tc.want)
			}
		})
	}
	other := at(1, 2, false, "a")
	other.Score = .5
	if got := Once([]Attempt{at(0, 1, false, "a"), other}); len(got) != 2 {
		t.Error("another end is another attempt")
	}
}
