package node

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// TestEveryMonitorIsAMetric lives through five weeks in simulated time and reads each monitor from the metrics, next to the
// alert that it gives at the end.
func TestEveryMonitorIsAMetric(t *testing.T) {
	const first = 35 * 24 * time.Hour
	s := newSimulation(t, llm.Options{}, time.Now().Add(-first)) // receipts are dated by the clock of the machine
	ctx := context.Background()
	add := func(i int) string {
		t.Helper()
		done, err := s.n.AddExperience(ctx, s.agent, lesson(i), api.Write{})
		if err != nil {
			t.Fatal(err)
		}
		return done.Value.ID
	}
	old := add(1)
	s.pass(first)
	add(2)
	add(2) // said again
	if _, err := s.n.RecordTrajectory(ctx, s.agent, booking(task, true), 0, api.Write{}); err != nil {
		t.Fatal(err)
	}
	s.work(s.clock().Add(time.Minute))
	one := federation.One
	s.outcome(old, one)
	s.outcome("", one/2)
	s.must(store.KindSpend, store.DefaultNamespace, store.Spend{Lines: []store.SpendLine{
		{Role: "judge", Model: "m", Use: store.LLMUse{Calls: 12, Failed: 3, Cached: 4, Refused: 2, PromptTokens: 50, AnswerTokens: 7}},
	}})
	s.indexed()
	got := s.metrics()
	for name, want := range map[string]float64{
		"hit_rate": .5, "mean_utility": 1, "mean_reward": 2.5 / 3, "guided_reward": 1, "unguided_reward": .75, // the recorded attempt counts
	} {
		if x, ok := got["cairn_monitor "+name]; !ok || math.Abs(x-want) > 1e-9 {
			t.Errorf("%s is %v (%v), want %v", name, x, ok, want)
		}
	}
	for _, name := range []string{"duplicate_rate", "predictor_mse"} {
		if x, ok := got["cairn_monitor "+name]; !ok || x <= 0 || x > 1 {
			t.Errorf("%s is %v (%v)", name, x, ok)
		}
	}
	for what, want := range map[string]float64{"calls": 12, "tokens": 57, "cached": 4, "failed": 3, "refused": 2} {
		if x := got["cairn_llm_spent_total "+what]; x != want {
			t.Errorf("spent %s %v, want %v", what, x, want)
		}
	}
	if x, ok := got["cairn_monitor never_recalled"]; !ok || x != 0 {
		t.Errorf("never_recalled is %v (%v), want 0: the old one was given", x, ok)
	}
	if own := got["cairn_experiences own"]; own < 3 {
		t.Errorf("%v experiences", own)
	}
	alerts, err := s.n.Alerts(ctx, api.Caller{Namespace: store.DefaultNamespace, Agent: "admin", Roles: []string{api.RoleAdmin}})
	if err != nil || !slices.ContainsFunc(alerts.Items, func(a api.Alert) bool { return a.Kind == "llm_failures" }) {
		t.Errorf("alerts %+v, %v", alerts.Items, err)
	}

	add(3) // then nobody works and nobody recalls it
	s.pass(first)
	s.indexed()
	got = s.metrics()
	if x := got["cairn_monitor never_recalled"]; x <= 0 || x > 1 {
		t.Errorf("never_recalled is %v, want a share", x)
	}
	if _, ok := got["cairn_monitor hit_rate"]; ok {
		t.Error("a hit rate of a week without recalls")
	}
}

// pass lets time go by; something happens at its end, since the state knows no other time.
func (s *simulation) pass(d time.Duration) {
	s.t.Helper()
	s.mu.Lock()
	s.now = s.now.Add(d)
	s.mu.Unlock()
	s.must(store.KindTick, "", store.Tick{})
}

// indexed waits until the index has what was proposed.
func (s *simulation) indexed() {
	s.t.Helper()
	at, _ := s.n.store.Applied()
	if err := s.n.index.wait(context.Background(), at); err != nil {
		s.t.Fatal(err)
	}
}

// outcome reports a reward after a recall that gave one experience, or none.
func (s *simulation) outcome(given string, reward federation.Micro) {
	s.t.Helper()
	s.n.receipts = newBatcher(s.n)
	task, k := "something nobody wrote about: violins", 1
	if given != "" {
		task = lesson(1).Scenario
	}
	s.indexed()
	answer, err := s.n.Recall(context.Background(), s.agent, api.RecallRequest{Task: task, TaskType: "refund", K: &k})
	if err != nil {
		s.t.Fatal(err)
	}
	used := []string{}
	for _, e := range answer.Experiences {
		used = append(used, e.Experience.ID)
	}
	if (given != "") != slices.Equal(used, []string{given}) {
		s.t.Fatalf("given %v, want %q", used, given)
	}
	success, y := reward >= federation.One/2, score(reward)
	if _, err := s.n.Outcome(context.Background(), s.agent, answer.Receipt,
		api.OutcomeRequest{Success: &success, Reward: &y, Evidence: "verified", Used: &used}, api.Write{}); err != nil {
		s.t.Fatal(err)
	}
}

// metrics are the node's numbers by name and last label.
func (s *simulation) metrics() map[string]float64 {
	s.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(s.n.metrics); err != nil {
		s.t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				if l.GetName() != "namespace" {
					name += fmt.Sprint(" ", l.GetValue())
				}
			}
			out[name] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}
