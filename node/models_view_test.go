package node

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"cairn/node/api"
	"cairn/node/llm"
)

func TestModelsAreShownWithoutKeys(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": goodLesson})
	s := newModelSite(t, o, func(opts *llm.Options) {
		opts.Key = "sk-secret"
		m := opts.Models[llm.RoleDistil]
		m.Key = "sk-other"
		opts.Models[llm.RoleDistil] = m
	}, llm.RoleDistil)
	c := s.agent("ann", "alice")
	s.record(c, booking("book a flight from AMS to LIS", true))
	s.node.book(context.Background())
	got, err := s.node.Models(context.Background(), s.admin)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Roles) != len(llm.Roles) || !got.Roles[0].Enabled || got.Roles[0].Model != "scripted" || got.Roles[0].Endpoint != o.URL || got.Roles[1].Enabled {
		t.Errorf("roles %+v", got.Roles)
	}
	if got.Namespace.PerDay != 5_000_000 || got.Usage.TokensToday != 120 || len(got.Usage.Lines) != 1 {
		t.Errorf("budget %+v, usage %+v", got.Namespace, got.Usage)
	}
	if text, err := json.Marshal(got); err != nil || strings.Contains(string(text), "sk-") {
		t.Errorf("it shows a key: %s, %v", text, err)
	}
	if _, err := s.node.Models(context.Background(), c); codeOf(err) != api.CodeDenied {
		t.Errorf("an agent may look: %v", err)
	}
}

func TestNoModels(t *testing.T) {
	s := newSite(t)
	got, err := s.node.Models(context.Background(), s.admin)
	if err != nil || len(got.Roles) != len(llm.Roles) || got.Parallel != 0 || got.Roles[0].Enabled || got.Usage.Lines == nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestErasureForgetsAnswers: after an erasure the same question is asked anew, since the answer may repeat what is gone.
func TestErasureForgetsAnswers(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": goodLesson})
	s := newModelSite(t, o, nil, llm.RoleDistil)
	c := s.agent("ann", "alice")
	if _, err := s.node.AddExperience(context.Background(), c, api.AddExperience{Scenario: "paying", Content: "Check the balance before `pay`."}, api.Write{}); err != nil {
		t.Fatal(err)
	}
	first := s.record(c, booking("book a flight from AMS to LIS", true))
	if second := s.record(c, booking("book a flight from AMS to LIS", true)); second.ID != first.ID || o.count("experiences") != 1 {
		t.Fatalf("the same question was asked %d times, want once from the cache", o.count("experiences"))
	}
	e, err := s.node.Experience(context.Background(), c, first.Experiences[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.node.EraseExperience(context.Background(), c, e.ID, e.Version, api.Write{}); err != nil {
		t.Fatal(err)
	}
	if s.record(c, booking("book a flight from AMS to LIS", true)); o.count("experiences") != 2 {
		t.Errorf("after the erasure it was asked %d times, want twice", o.count("experiences"))
	}
	v, err := s.node.store.View()
	if err != nil {
		t.Fatal(err)
	}
	index := v.Index()
	v.Close()
	if at, err := s.node.lookForErased(1); err != nil || at < index {
		t.Errorf("looked up to %d of %d, %v", at, index, err)
	}
	if s.record(c, booking("book a flight from AMS to LIS", true)); o.count("experiences") != 3 {
		t.Errorf("what the log says was erased did not reach the cache: asked %d times", o.count("experiences"))
	}
}
