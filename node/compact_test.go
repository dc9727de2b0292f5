package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/node/api"
	"cairn/node/compact"
	"cairn/node/llm"
	"cairn/node/store"
)

// trip records a success whose plan holds a value of its own.
func (s *site) trip(c api.Caller, i int) {
	s.t.Helper()
	req := booking(fmt.Sprintf("book the cheapest flight from AMS to LIS for kim, trip %d", i), true)
	req.Attempts[0].Steps[2].Args = map[string]any{"flight": fmt.Sprintf("F%d", 100+i), "class": "economy"}
	s.record(c, req)
}

// strategy waits for the strategy of an agent.
func (s *site) strategy(c api.Caller) api.Experience {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		changed := s.node.store.Changed()
		for _, e := range s.own(c) {
			if e.Lineage.Lens == store.LensStrategy {
				s.indexed()
				return e
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			for _, e := range s.own(c) {
				s.t.Logf("%s %s %s: %s", e.Kind, e.Status, e.Scenario, e.Content)
			}
			s.t.Fatal("no strategy came about")
		}
	}
}

func TestSuccessesBecomeAStrategy(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "ann")
	for i := range 3 {
		s.trip(ann, i)
		s.trip(bob, 10+i) // another agent's are not taken together with ann's
	}
	for _, e := range slices.Concat(s.own(ann), s.own(bob)) {
		if e.Lineage.Lens == store.LensStrategy {
			t.Fatalf("a strategy of three successes: %+v", e)
		}
	}
	s.trip(ann, 3)
	e := s.strategy(ann)
	if e.Kind != "success" || e.Status != "active" || e.TaskType != "airline" || len(e.Lineage.DerivedFrom) != 4 ||
		e.Lineage.Generator != compact.Generator || e.Utility.Recalled != 0 || e.Author.Agent != "ann-1" {
		t.Errorf("strategy %+v", e)
	}
	for _, want := range []string{"`login`", "`search_flights`", "`book` with class=\"economy\" (flight as the task needs)"} {
		if !strings.Contains(e.Content, want) {
			t.Errorf("%q lacks %s", e.Content, want)
		}
	}
	s.trip(ann, 4)
	for range 3 {
		a := s.recall(ann, e.Scenario)
		if !slices.ContainsFunc(a.Experiences, func(x api.Recalled) bool { return x.Experience.ID == e.ID }) {
			t.Fatalf("the strategy is not recalled: %+v", a.Experiences)
		}
		s.report(ann, a, true, e.ID)
	}
	ctx := context.Background()
	list, err := s.node.Merges(ctx, ann, api.Page{})
	if err != nil || len(list.Items) != 4 {
		t.Fatalf("merges %+v, %v, want the four sources", list.Items, err)
	}
	for _, m := range list.Items {
		if m.Cause != "compacted" || m.Into != e.ID || !slices.Contains(e.Lineage.DerivedFrom, m.From) {
			t.Errorf("merge %+v", m)
		}
	}
	if _, err := s.node.UndoMerge(ctx, ann, list.Items[0].ID, api.Write{}); err != nil {
		t.Fatal(err)
	}
	if back, err := s.node.Experience(ctx, ann, list.Items[0].From); err != nil || back.Status != "active" {
		t.Errorf("taken back: %+v, %v", back, err)
	}
}

func TestStrategyByModel(t *testing.T) {
	o := newOracle(t, map[string]string{"verdict": goodMarks})
	s := newModelSite(t, o, nil, llm.RoleRewrite, llm.RoleJudge)
	ann := s.agent("ann-1", "ann")
	for i := range 3 {
		s.trip(ann, i)
	}
	var source string
	for _, e := range s.own(ann) {
		if e.Kind == "success" {
			source = e.ID
		}
	}
	o.set("guidance", "503")
	s.trip(ann, 3)
	s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobCompact && j.Waits > 0 })
	o.set("guidance", fmt.Sprintf(`{"steps":[{"text":"Log in.","sources":[%q]},{"text":"Book in economy.","sources":[%q]}],"conflicts":[]}`, source, source))
	e := s.strategy(ann)
	if e.Content != "1. Log in.\n2. Book in economy." || !strings.Contains(e.Lineage.Generator, "scripted") || len(e.Lineage.DerivedFrom) != 4 {
		t.Errorf("strategy %q by %s of %d", e.Content, e.Lineage.Generator, len(e.Lineage.DerivedFrom))
	}
}

// TestStrategyIsJudgedByItsSubPool: what its judge does not admit from a model the rules write.
func TestStrategyIsJudgedByItsSubPool(t *testing.T) {
	o := newOracle(t, map[string]string{"verdict": goodMarks, "guidance": "503"})
	s := newModelSite(t, o, nil, llm.RoleRewrite, llm.RoleJudge)
	ann := s.agent("ann-1", "ann")
	for i := range 4 {
		s.trip(ann, i)
	}
	s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobCompact && j.Waits > 0 })
	above := .71 // the mean of goodMarks is .7
	_, err := s.node.UpdateSettings(context.Background(), s.admin, "default", api.Settings{TaskTypes: map[string]api.TaskType{"airline": {JudgeThreshold: &above}}}, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.own(ann) {
		if e.Kind == "success" {
			o.set("guidance", fmt.Sprintf(`{"steps":[{"text":"Log in.","sources":[%q]},{"text":"Book in economy.","sources":[%q]}],"conflicts":[]}`, e.ID, e.ID))
		}
	}
	if e := s.strategy(ann); e.Lineage.Generator != compact.Generator {
		t.Errorf("made by %s: %q", e.Lineage.Generator, e.Content)
	}
}

// TestStrategyWhoseSourcesContradict: where the model finds a contradiction the rules write what is common.
func TestStrategyWhoseSourcesContradict(t *testing.T) {
	o := newOracle(t, map[string]string{})
	s := newModelSite(t, o, nil, llm.RoleRewrite)
	ann := s.agent("ann-1", "ann")
	for i := range 3 {
		s.trip(ann, i)
	}
	var ids []string
	for _, e := range s.own(ann) {
		if e.Kind == "success" {
			ids = append(ids, e.ID)
		}
	}
	o.set("guidance", fmt.Sprintf(`{"steps":[{"text":"Log in.","sources":[%q]}],"conflicts":[{"kept":%q,"dropped":%q,"reason":"x"}]}`, ids[0], ids[0], ids[1]))
	s.trip(ann, 3)
	if e := s.strategy(ann); e.Lineage.Generator != compact.Generator {
		t.Errorf("made by %s: %q", e.Lineage.Generator, e.Content)
	}
}
