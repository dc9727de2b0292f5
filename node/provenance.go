package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/node/api"
	"cairn/node/store"
)

// lineage builds a provenance graph.
type lineage struct {
	n    *Node
	v    *store.View
	ns   *store.Namespace
	c    api.Caller
	out  api.Graph
	seen map[string]bool
}

const maxGraph = 500

// Provenance is where an experience came from and what became of it, in PROV terms. For a foreign reader it ends at the
// shared copy.
func (n *Node) Provenance(_ context.Context, c api.Caller, id string) (api.Graph, error) {
	return withExperience(n, c, id, func(v *store.View, ns *store.Namespace, e *store.Experience) (api.Graph, error) {
		l := &lineage{n: n, v: v, ns: ns, c: c, seen: map[string]bool{}, out: api.Graph{Nodes: []api.GraphNode{}, Edges: []api.GraphEdge{}}}
		err := l.experience(e)
		return l.out, err
	})
}

func (l *lineage) node(id, kind, label string, attrs map[string]string) bool {
	if l.seen[id] || len(l.out.Nodes) >= maxGraph {
		return false
	}
	l.seen[id] = true
	l.out.Nodes = append(l.out.Nodes, api.GraphNode{ID: id, Type: kind, Label: label, Attrs: attrs})
	return true
}

func (l *lineage) edge(from, to, relation string) {
	e := api.GraphEdge{From: from, To: to, Relation: relation}
	if l.seen[from] && l.seen[to] && !slices.Contains(l.out.Edges, e) {
		l.out.Edges = append(l.out.Edges, e)
	}
}

func (l *lineage) experience(e *store.Experience) error {
	id := "experience:" + e.ID.String()
	if !l.node(id, "entity", short(e.Scenario), map[string]string{
		"status": string(e.Status), "kind": string(e.Kind), "pool": store.PoolName(e), "version": fmt.Sprint(e.Version),
	}) {
		return nil
	}
	l.author(id, e)
	if e.Agent != l.c.Agent && !privileged(l.c) {
		return nil
	}
	activity := "activity:" + l.made(e) + ":" + e.ID.String()
	l.node(activity, "activity", l.made(e), map[string]string{"generator": e.Lineage.Generator, "lens": e.Lineage.Lens})
	l.edge(id, activity, "wasGeneratedBy")
	for _, t := range e.Lineage.Trajectories {
		if err := l.trajectory(id, activity, e.Owner, t); err != nil {
			return err
		}
	}
	for _, r := range e.Lineage.Reflections {
		if err := l.reflection(activity, e.Owner, r); err != nil {
			return err
		}
	}
	for _, parent := range e.Lineage.DerivedFrom {
		if err := l.related(id, activity, parent); err != nil {
			return err
		}
	}
	if e.Shared() {
		return l.judged(id, e)
	}
	return l.copies(id, e)
}

func (l *lineage) made(e *store.Experience) string {
	switch {
	case e.Shared():
		return "nominate"
	case e.Lineage.Lens != "":
		return "distil"
	}
	return "record"
}

func (l *lineage) author(id string, e *store.Experience) {
	agent, principal := "agent:"+e.Agent, "principal:"+e.Principal
	l.node(agent, "agent", e.Agent, nil)
	l.node(principal, "agent", e.Principal, map[string]string{"kind": "principal"})
	l.edge(id, agent, "wasAttributedTo")
	l.edge(agent, principal, "actedOnBehalfOf")
}

func (l *lineage) trajectory(id, activity string, owner uint32, traj store.ID) error {
	t, err := l.v.TrajectoryOf(l.ns.Number, owner, traj)
	if err != nil || t == nil {
		return err
	}
	node := l.attempts(t)
	l.edge(activity, node, "used")
	l.edge(id, node, "wasDerivedFrom")
	return nil
}

// attempts adds a group of attempts and returns the id of its node.
func (l *lineage) attempts(t *store.Trajectory) string {
	node := "trajectory:" + t.ID.String()
	l.node(node, "entity", short(t.Task), map[string]string{"attempts": fmt.Sprint(t.Version), "task_type": t.TaskType})
	return node
}

// reflection adds the reflection whose retry an experience tells of: what failed, and what its hypotheses were made from. One
// whose time is over is gone, as its attempts are.
func (l *lineage) reflection(activity string, owner uint32, id store.ID) error {
	r, err := l.v.Reflection(l.ns, owner, id)
	if err != nil || r == nil {
		return err
	}
	node, attrs := "reflection:"+id.String(), map[string]string{"status": r.Status, "retries": fmt.Sprint(len(r.Tries)), "at": api.Time(r.CreatedAt)}
	if n := len(r.Tries); n > 0 {
		attrs["generator"] = r.Tries[n-1].Generator // the last retry is the one that succeeded
	}
	l.node(node, "activity", "reflect", attrs)
	l.edge(activity, node, "wasInformedBy")
	l.edge(node, "agent:"+r.Agent, "wasAssociatedWith")
	l.edge(node, "trajectory:"+r.Trajectory.String(), "used")
	for _, try := range r.Tries {
		for _, source := range try.BasedOn {
			if err := l.basis(node, owner, source); err != nil {
				return err
			}
		}
	}
	return nil
}

// basis adds what a hypothesis was made from: an experience or attempts.
func (l *lineage) basis(reflection string, owner uint32, source store.ID) error {
	e, err := l.v.Experience(l.ns, source)
	if err != nil {
		return err
	}
	if e != nil {
		err = l.experience(e)
		l.edge(reflection, "experience:"+source.String(), "used")
		return err
	}
	t, err := l.v.TrajectoryOf(l.ns.Number, owner, source)
	if err != nil || t == nil {
		return err
	}
	l.attempts(t)
	l.edge(reflection, "trajectory:"+source.String(), "used")
	return nil
}

func (l *lineage) related(id, activity string, parent store.ID) error {
	e, err := l.v.Experience(l.ns, parent)
	if err != nil || e == nil {
		return err
	}
	if err := l.experience(e); err != nil {
		return err
	}
	l.edge(id, "experience:"+parent.String(), "wasDerivedFrom")
	l.edge(activity, "experience:"+parent.String(), "used")
	return nil
}

// copies adds what was made of a private experience.
func (l *lineage) copies(id string, e *store.Experience) error {
	children, err := l.v.Children(l.ns, e.ID)
	if err != nil {
		return err
	}
	for _, child := range children {
		c, err := l.v.Experience(l.ns, child)
		if err != nil {
			return err
		}
		if c != nil {
			if err := l.experience(c); err != nil {
				return err
			}
			l.edge("experience:"+child.String(), id, "wasDerivedFrom")
		}
	}
	return nil
}

// judged adds the decisions about a shared copy and, for the privileged, the jurors whose reports they rest on.
func (l *lineage) judged(id string, e *store.Experience) error {
	err := l.v.DecisionsOf(l.ns, nil, func(_ []byte, d *store.Decision) bool {
		if d.Experience == e.ID {
			node := "decision:" + d.ID.String()
			l.node(node, "activity", d.Action, map[string]string{"rule": d.Score.Rule, "at": api.Time(d.At)})
			l.edge(node, id, "used")
		}
		return true
	})
	if err != nil || !privileged(l.c) {
		return err
	}
	count := map[string]int{}
	err = l.v.EvidenceOf(l.ns, e.ID, nil, func(_ []byte, ev *store.Evidence) bool {
		count[ev.Juror]++
		return true
	})
	jurors := make([]string, 0, len(count))
	for j := range count {
		jurors = append(jurors, j)
	}
	slices.Sort(jurors)
	for _, j := range jurors {
		node := "reports:" + j + ":" + e.ID.String()
		l.node(node, "activity", fmt.Sprintf("%d reports", count[j]), nil)
		l.node(j, "agent", strings.TrimPrefix(strings.TrimPrefix(j, "principal:"), "agent:"), nil)
		l.edge(node, id, "used")
		l.edge(node, j, "wasAssociatedWith")
	}
	return err
}

// short is a label: the first words of a text.
func short(s string) string {
	runes := []rune(s)
	if len(runes) <= 80 {
		return s
	}
	return string(runes[:80]) + "…"
}
