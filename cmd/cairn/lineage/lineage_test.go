package lineage

import (
	"strings"
	"testing"

	"cairn/node/api"
)

var graph = api.Graph{
	Nodes: []api.GraphNode{
		{ID: "experience:e1", Type: "entity", Label: `Plan "a"`}, {ID: "activity:distil:e1", Type: "activity", Label: "distil"},
		{ID: "trajectory:t1", Type: "entity", Label: "Book\na table"}, {ID: "agent:a1", Type: "agent", Label: "a1"},
	},
	Edges: []api.GraphEdge{
		{From: "experience:e1", To: "activity:distil:e1", Relation: "wasGeneratedBy"},
		{From: "experience:e1", To: "trajectory:t1", Relation: "wasDerivedFrom"},
		{From: "activity:distil:e1", To: "trajectory:t1", Relation: "used"},
		{From: "trajectory:t1", To: "agent:a1", Relation: "wasAttributedTo"},
		{From: "agent:a1", To: "experience:e1", Relation: "loop"},
	},
}

func TestTree(t *testing.T) {
	want := strings.TrimPrefix(`
experience:e1  Plan "a"
├─ wasGeneratedBy activity:distil:e1  distil
│  └─ used trajectory:t1  Book a table
│     └─ wasAttributedTo agent:a1
│        └─ loop experience:e1  Plan "a"  (above)
└─ wasDerivedFrom trajectory:t1  Book a table  (above)
`, "\n")
	if got := Tree(graph, "e1"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Tree(api.Graph{}, "e1"); got != "e1\n" {
		t.Errorf("an empty graph gives %q", got)
	}
}

func TestDot(t *testing.T) {
	got := Dot(graph)
	for _, want := range []string{`"experience:e1" [label="Plan \"a\"", shape=ellipse];`, `"experience:e1" -> "activity:distil:e1" [label="wasGeneratedBy"];`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s:\n%s", want, got)
		}
	}
}
