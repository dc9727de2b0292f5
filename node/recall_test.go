package node

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/recall"
)

func (s *site) ask(c api.Caller, req api.RecallRequest) api.RecallAnswer {
	s.t.Helper()
	out, err := s.node.Recall(context.Background(), c, req)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// household are lessons of two task types that share most of their words.
func (s *site) household(c api.Caller) {
	s.t.Helper()
	rooms := []string{"kitchen", "cellar", "attic", "garage", "hall", "bathroom"}
	for i, room := range rooms {
		for _, kind := range []string{"plumbing", "painting"} {
			verb := map[string]string{"plumbing": "Repair the dripping water pipe", "painting": "Paint the wall around the water pipe"}[kind]
			if i < 4 {
				reward := 1.0
				s.record(c, api.RecordTrajectory{
					Task: fmt.Sprintf("%s in the %s", verb, room), TaskType: kind, Complete: true,
					Attempts: []api.Attempt{{Steps: []api.Step{{Tool: kind + "_" + room, Observation: "done"}}, Reward: &reward}},
				})
			}
			s.add(c, api.AddExperience{
				Scenario: fmt.Sprintf("%s in the %s of a house", verb, room), TaskType: kind,
				Content: fmt.Sprintf("In the %s bring tool number %d and look at the water pipe first.", room, 10*i+len(kind)),
			}, api.Write{})
		}
	}
	s.indexed()
}

func TestRecallFollowsItsRoute(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	s.household(ann)
	task := "Repair a dripping water pipe in the pantry"
	got := s.ask(ann, api.RecallRequest{Task: task, Mode: "search"})
	if got.Route == nil || !got.Route.Followed || got.Route.TaskType != "plumbing" || got.Route.Share < recall.RouteWeak {
		t.Fatalf("route %+v, want plumbing, followed", got.Route)
	}
	if len(got.Experiences) != recall.DefaultK {
		t.Fatalf("%d experiences, want %d", len(got.Experiences), recall.DefaultK)
	}
	for _, x := range got.Experiences {
		if x.Experience.TaskType != "plumbing" {
			t.Errorf("given %q of type %s", x.Experience.Scenario, x.Experience.TaskType)
		}
	}
	k := 40
	wide := s.ask(ann, api.RecallRequest{Task: task, K: &k, Mode: "search"})
	types := map[string]bool{}
	for _, x := range wide.Experiences {
		types[x.Experience.TaskType] = true
	}
	if wide.Route == nil || wide.Route.Followed || !types["plumbing"] || !types["painting"] {
		t.Errorf("a sub-pool that holds too little: route %+v, types %v, want all", wide.Route, types)
	}
	if named := s.ask(ann, api.RecallRequest{Task: task, TaskType: "painting", Mode: "search"}); named.Route != nil {
		t.Errorf("route %+v where the request names a type", named.Route)
	}
	if far := s.ask(ann, api.RecallRequest{Task: "violet harmonica gravel opera", Mode: "search"}); far.Route == nil || far.Route.Followed {
		t.Errorf("route %+v of a task like no other, want one that is not followed", far.Route)
	}
	bob := s.agent("bob-1", "bob")
	if got := s.ask(bob, api.RecallRequest{Task: task, Mode: "search"}); got.Route != nil {
		t.Errorf("route %+v of an agent without tasks", got.Route)
	}
	s.stop()
	s.start()
	if got := s.ask(ann, api.RecallRequest{Task: task, Mode: "search"}); got.Route == nil || got.Route.TaskType != "plumbing" {
		t.Errorf("route %+v after a restart", got.Route)
	}
}

func TestRecallFromMessages(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	s.add(ann, api.AddExperience{Scenario: "A customer wants the invoice of an order again", Content: "Look it up with get_invoice."}, api.Write{})
	s.add(ann, api.AddExperience{Scenario: "The espresso machine leaks water", Content: "Replace the gasket of the brew group."}, api.Write{})
	s.indexed()
	given := s.ask(ann, api.RecallRequest{Task: "The espresso machine leaks water"}).Guidance
	if given == "" {
		t.Fatal("nothing is given")
	}
	got := s.ask(ann, api.RecallRequest{Mode: "search", Messages: []api.Message{
		{Role: "system", Content: "You repair an espresso machine that leaks water."},
		{Role: "user", Content: given + "\nA customer wants the invoice of an order again"},
		{Role: "assistant", Content: "The espresso machine leaks water."},
		{Role: "user", Content: "Please send the customer the invoice of the order."},
	}})
	if len(got.Experiences) != 1 || !strings.Contains(got.Experiences[0].Experience.Scenario, "invoice") {
		t.Errorf("given %+v, want the invoice alone", got.Experiences)
	}
	for name, req := range map[string]api.RecallRequest{
		"with a task":  {Task: "x", Messages: []api.Message{{Role: "user", Content: "y"}}},
		"no user":      {Messages: []api.Message{{Role: "assistant", Content: "y"}}},
		"only recalls": {Messages: []api.Message{{Role: "user", Content: given}}},
		"too many":     {Messages: make([]api.Message, maxMessages+1)},
	} {
		if _, err := s.node.Recall(context.Background(), ann, req); codeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "body.messages") {
			t.Errorf("%s: %v, want an invalid body.messages", name, err)
		}
	}
	if _, err := s.node.Recall(context.Background(), ann, api.RecallRequest{Messages: []api.Message{{Role: "x"}}}); codeOf(err) != api.CodeInvalid {
		t.Errorf("unknown role: %v", err)
	}
}

func TestTokenBudget(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	for i := range 6 {
		s.add(ann, api.AddExperience{
			Scenario: fmt.Sprintf("Repair the dripping water pipe of house %d", i),
			Content:  fmt.Sprintf("House %d: ", i) + strings.Repeat(fmt.Sprintf("close valve %d, ", i), 20),
		}, api.Write{})
	}
	s.indexed()
	free := s.ask(ann, api.RecallRequest{Task: "Repair the dripping water pipe of a house", Mode: "search"})
	if len(free.Experiences) != recall.DefaultK {
		t.Fatalf("%d experiences without a budget", len(free.Experiences))
	}
	for budget := 150; budget < 900; budget += 50 {
		got := s.ask(ann, api.RecallRequest{Task: "Repair the dripping water pipe of a house", Mode: "search", TokenBudget: budget})
		if n := recall.EstimateTokens(got.Guidance); n > budget {
			t.Errorf("budget %d: %d tokens of %d experiences", budget, n, len(got.Experiences))
		}
		if len(got.Experiences) == 0 || got.Experiences[0].Experience.ID != free.Experiences[0].Experience.ID {
			t.Errorf("budget %d: the first was cut away", budget)
		}
		cut := 0
		for _, o := range got.Omitted {
			if o.Reason == recall.OmittedBudget {
				cut++
			}
		}
		if cut+len(got.Experiences) != recall.DefaultK {
			t.Errorf("budget %d: %d given, %d listed as cut", budget, len(got.Experiences), cut)
		}
		if shortened := strings.Contains(got.Guidance, "[cut]"); shortened && len(got.Experiences) > 1 {
			t.Errorf("budget %d: a text was cut while others were given", budget)
		}
	}
	if got := s.ask(ann, api.RecallRequest{Task: "Repair the dripping water pipe of a house", Mode: "search", TokenBudget: 150}); !strings.Contains(got.Guidance, "[cut]") {
		t.Errorf("a lesson that is longer than the budget is not cut:\n%s", got.Guidance)
	}
}

func TestWhyARecallIsEmpty(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	if got := s.ask(ann, api.RecallRequest{Task: "Refund order 1"}); got.WhyEmpty != recall.EmptyNoExperiences {
		t.Errorf("an empty pool: %q", got.WhyEmpty)
	}
	soon := time.Now().Add(time.Hour)
	past := lesson(1)
	past.ValidUntil = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	s.add(ann, past, api.Write{})
	s.indexed()
	if got := s.ask(ann, api.RecallRequest{Task: past.Scenario}); len(got.Experiences) != 0 || got.WhyEmpty != recall.EmptyFilters {
		t.Errorf("past its validity: %d given, why %q", len(got.Experiences), got.WhyEmpty)
	}
	valid := lesson(2)
	valid.ValidUntil = soon.UTC().Format(time.RFC3339)
	s.add(ann, valid, api.Write{})
	s.indexed()
	if got := s.ask(ann, api.RecallRequest{Task: valid.Scenario}); len(got.Experiences) != 1 || got.WhyEmpty != "" {
		t.Errorf("within its validity: %d given, why %q", len(got.Experiences), got.WhyEmpty)
	}
	for want, req := range map[string]api.RecallRequest{
		recall.EmptyFloor:         {Task: "violet harmonica gravel opera"},
		recall.EmptyFilters:       {Task: valid.Scenario, Filters: api.RecallFilters{Tools: []string{"hammer"}}},
		recall.EmptyNoExperiences: {Task: valid.Scenario, Pools: []string{"meta"}},
	} {
		if got := s.ask(ann, req); len(got.Experiences) != 0 || got.WhyEmpty != want {
			t.Errorf("%+v: %d given, why %q, want %q", req, len(got.Experiences), got.WhyEmpty, want)
		}
	}
}

// noEncoder is out of reach.
type noEncoder struct{}

func (noEncoder) Embed(context.Context, string) (embed.Vector, error) {
	return embed.Vector{}, context.DeadlineExceeded
}

func (noEncoder) Embedders() []string { return nil }

// TestWhyEmptyWithoutVectors: keywords alone meet only what shares a word with the question.
func TestWhyEmptyWithoutVectors(t *testing.T) {
	s := &site{t: t, dir: t.TempDir(), encoder: noEncoder{}}
	s.start()
	defer s.stop()
	ann := s.agent("ann-1", "ann")
	s.add(ann, lesson(1), api.Write{})
	s.indexed()
	got := s.ask(ann, api.RecallRequest{Task: "violet harmonica gravel opera"})
	if len(got.Experiences) != 0 || got.WhyEmpty != recall.EmptyFloor || len(got.Degraded) == 0 {
		t.Errorf("%d given, why %q, degraded %v", len(got.Experiences), got.WhyEmpty, got.Degraded)
	}
	got = s.ask(ann, api.RecallRequest{Task: "violet harmonica gravel opera", Filters: api.RecallFilters{Tools: []string{"hammer"}}})
	if got.WhyEmpty != recall.EmptyFilters {
		t.Errorf("why %q, want filters", got.WhyEmpty)
	}
}

// TestSearchIsInOrderOfScore: what goes into a prompt is to differ, a search shows what fits best.
func TestSearchIsInOrderOfScore(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	for i := range 3 {
		s.add(ann, api.AddExperience{
			Scenario: fmt.Sprintf("Repair the dripping water pipe in house %d", i), Content: fmt.Sprintf("Close valve %d before you open the pipe.", i),
		}, api.Write{})
	}
	s.add(ann, api.AddExperience{Scenario: "Repair the leaking water tap in a house", Content: "Call the plumber when the wall is wet."}, api.Write{})
	s.indexed()
	k := 2
	kinds := func(mode string) (plumber bool) {
		got := s.ask(ann, api.RecallRequest{Task: "The water pipe in the house drips near the wall", Mode: mode, K: &k})
		if len(got.Experiences) != k {
			t.Fatalf("%s gave %d", mode, len(got.Experiences))
		}
		return strings.Contains(got.Guidance, "plumber")
	}
	if kinds("search") || !kinds("inject") {
		t.Errorf("another lesson among the first two: search %v, inject %v; want it in inject alone", kinds("search"), kinds("inject"))
	}
}
