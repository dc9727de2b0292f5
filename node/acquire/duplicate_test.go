package acquire

import (
	"testing"

	"cairn/federation"
	"cairn/index/embed"
)

func TestDuplicate(t *testing.T) {
	profile, _ := embed.ProfileOf(embed.MiniLM)
	a := federation.DedupeSide{Scenario: "An order is late", Content: "Wait 2 days, then ask for the money back."}
	other := a
	other.Content = "Wait 3 days, then ask for the money back."
	reworded := federation.DedupeSide{Scenario: "A late order", Content: "Demand a refund once 2 days have passed."}
	plan := federation.DedupeSide{Kind: federation.KindSuccess, Scenario: "s", Content: "Plan that worked: bash(command=\"ls -a\")"}
	otherPlan, lesson := plan, plan
	otherPlan.Content = "Plan that worked: bash(command=\"ls -l\")"
	lesson.Kind = federation.KindToolUse
	for _, tc := range []struct {
		name              string
		b                 federation.DedupeSide
		scenario, content float64
		want              bool
	}{
		{"same words, no vectors", a, -1, -1, true},
		{"close vectors", reworded, .95, .95, true},
		{"only the contents close", reworded, .5, .95, false},
		{"only the scenarios close", reworded, .95, .5, false},
		{"another number", other, 1, .99, false},
		{"the same plan", plan, 1, 1, true},
		{"a plan with another command", otherPlan, 1, .99, false},
		{"of another kind", lesson, 1, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from := a
			if tc.b.Kind != "" {
				from = plan
			}
			if got := Duplicate(from, tc.b, tc.scenario, tc.content, profile); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
