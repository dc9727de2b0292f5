package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// TestAtZeroBudgetAllIsDoneByRule has a model for every role and nothing to spend: lessons, verdicts, hypotheses, order,
// guidance and strategies come from the rules, an attempt without a reward is kept without one, and no job waits or gives up.
func TestAtZeroBudgetAllIsDoneByRule(t *testing.T) {
	for name, change := range map[string]func(*llm.Options){
		"of the namespace": func(o *llm.Options) { o.Namespace = llm.Limit{} },
		"of the agent":     func(o *llm.Options) { o.Agent = llm.Limit{} },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOracle(t, map[string]string{})
			s := newModelSite(t, o, change, llm.Roles...)
			ann := s.agent("ann-1", "ann")
			for i := range 4 {
				s.trip(ann, i)
			}
			if e := s.strategy(ann); !strings.HasPrefix(e.Lineage.Generator, "rule/") {
				t.Errorf("strategy %q by %s", e.Content, e.Lineage.Generator)
			}
			for _, e := range s.own(ann) {
				if !strings.HasPrefix(e.Lineage.Generator, "rule/") || e.Lineage.Judge != "" {
					t.Errorf("lesson by %q, judged by %q", e.Lineage.Generator, e.Lineage.Judge)
				}
			}
			unrewarded := booking("book a flight from BER to OPO", true)
			unrewarded.TaskType, unrewarded.Attempts[0].Reward = "rail", nil
			if got := s.record(ann, unrewarded); len(got.Gate) != 1 || got.Gate[0].Reason != "no_reward" || got.Gate[0].Actual != nil || len(got.Experiences) != 0 {
				t.Errorf("an attempt without a reward went through the gate: %+v", got)
			}
			s.indexed()
			answer, err := s.node.Recall(context.Background(), ann, api.RecallRequest{Task: "Book trip 1", TaskType: "airline", Mode: "search", Rerank: true, Rewrite: true})
			if err != nil || len(answer.Experiences) < 2 || answer.Guidance == "" || !slices.Equal(answer.Degraded, []string{"rerank: budget", "rewrite: budget"}) {
				t.Errorf("recall %+v, degraded %q, %v", len(answer.Experiences), answer.Degraded, err)
			}
			advice, err := s.reflect(ann, s.recall(ann, task).Receipt, failedBooking(task, "error: not logged in"))
			if err != nil || !strings.HasPrefix(advice.Generator, "rule/") || advice.Hypothesis == "" {
				t.Errorf("advice %+v, %v", advice, err)
			}
			o.mu.Lock()
			asked := fmt.Sprint(o.asked)
			o.mu.Unlock()
			if asked != "map[]" {
				t.Errorf("asked %s without budget", asked)
			}
			s.noJobWaited()
		})
	}
}

// noJobWaited fails for a job that waited, failed or gave up.
func (s *site) noJobWaited() {
	s.t.Helper()
	v, _, err := s.node.openFor(s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	if err := v.Jobs(nil, func(_ []byte, j *store.Job) bool {
		if j.Status == store.JobDead || j.Waits > 0 || j.Error != "" {
			s.t.Errorf("job %+v", j)
		}
		return true
	}); err != nil {
		s.t.Error(err)
	}
}
