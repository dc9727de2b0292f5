package demo

import (
	"strings"
	"testing"

	"cairn/cmd/cairn/world"
	"cairn/node/api"
)

func TestDrawGivesTheHonestAgentsTheTasks(t *testing.T) {
	for _, n := range []int{28, 600, 601, 606} {
		honest, liar := 0, 0
		for _, a := range world.Fleet() {
			got := len(Config{Seed: 1, Tasks: n}.draw()[a.ID])
			if a.Liar {
				liar += got
			} else {
				honest += got
			}
		}
		if honest != n || liar < n/7 || liar > n/7+1 {
			t.Errorf("%d tasks: honest agents have %d, the liar %d", n, honest, liar)
		}
	}
}

func TestPrint(t *testing.T) {
	trust := api.TrustDetail{Trust: api.Trust{Value: .512, Mean: .6, Low: .512, High: .688}, Half: .088, Threshold: .48, Heard: 4, Jury: 5, Citations: 9,
		Jurors: []api.JurorTerm{{Juror: "bo", Weight: 2, Lift: .61}}}
	r := &Report{
		Seed: 4, Tasks: 600, Arms: map[string]Arm{"shared": newArm(world.Table{All: world.NewRate(450, 600)})},
		Experiences: Counts{Recorded: 70, Candidates: 20, Promoted: 1}, Liar: Liar{Candidates: 5, EverPromoted: 1},
		Promoted: []Promoted{{ID: "p1", Author: "ada-1", TaskType: "forecast", Trust: trust}},
		Example: &Example{ID: "p1", Content: "Plan that worked: a()", Trust: trust, Lineage: api.Graph{
			Nodes: []api.GraphNode{{ID: "p1", Label: "Plan"}, {ID: "t1"}},
			Edges: []api.GraphEdge{{From: "p1", To: "t1", Relation: "wasDerivedFrom"}}}},
	}
	var b strings.Builder
	Print(&b, r)
	for _, want := range []string{"shared memory\t0.75 [0.71, 0.78]", "Wilson", "70 experiences recorded", "5 pieces of harmful advice put up, 1 ever promoted, 0 in",
		"p1\tforecast\tada-1\t0.512", "4 of 5", "trust 0.512 = mean 0.600 - half width 0.088", "juror bo", "p1  Plan", "└─ wasDerivedFrom t1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}
