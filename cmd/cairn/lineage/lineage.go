// Package lineage renders a provenance graph as text.
package lineage

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/node/api"
)

// Tree renders the graph from an experience back along its edges. A node met before is named again without its branches.
func Tree(g api.Graph, experience string) string {
	t := treeWriter{nodes: map[string]api.GraphNode{}, edges: map[string][]api.GraphEdge{}, seen: map[string]bool{}}
	root := experience
	for _, n := range g.Nodes {
		t.nodes[n.ID] = n
		// Node ids carry the kind of thing in front: experience:<id>.
		if n.Type == "entity" && strings.HasSuffix(n.ID, ":"+experience) {
			root = n.ID
		}
	}
	for _, e := range g.Edges {
		t.edges[e.From] = append(t.edges[e.From], e)
	}
	t.out.WriteString(t.name(root) + "\n")
	t.branches(root, "")
	return t.out.String()
}

type treeWriter struct {
	nodes map[string]api.GraphNode
	edges map[string][]api.GraphEdge
	seen  map[string]bool
	out   strings.Builder
}

func (t *treeWriter) name(id string) string {
	text := label(t.nodes[id], 80)
	if text == "" || strings.HasSuffix(id, ":"+text) {
		return id
	}
	return id + "  " + text
}

func (t *treeWriter) branches(id, indent string) {
	if t.seen[id] {
		return
	}
	t.seen[id] = true
	for i, e := range t.edges[id] {
		branch, deeper := "├─ ", "│  "
		if i == len(t.edges[id])-1 {
			branch, deeper = "└─ ", "   "
		}
		again := ""
		if t.seen[e.To] && len(t.edges[e.To]) > 0 {
			again = "  (above)"
		}
		t.out.WriteString(indent + branch + e.Relation + " " + t.name(e.To) + again + "\n")
		t.branches(e.To, indent+deeper)
	}
}

// Dot renders the graph for Graphviz, in the shapes of the PROV notation.
func Dot(g api.Graph) string {
	shapes := map[string]string{"entity": "ellipse", "activity": "box", "agent": "house"}
	var b strings.Builder
	b.WriteString("digraph provenance {\n  rankdir=BT;\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s];\n", strconv.Quote(n.ID), strconv.Quote(label(n, 60)), shapes[n.Type])
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s [label=%s];\n", strconv.Quote(e.From), strconv.Quote(e.To), strconv.Quote(e.Relation))
	}
	b.WriteString("}\n")
	return b.String()
}

// label is a node's label on one line of at most limit characters.
func label(n api.GraphNode, limit int) string {
	text := strings.Join(strings.Fields(n.Label), " ")
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}
