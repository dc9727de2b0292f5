package node

import (
	"context"
	"slices"
	"strings"
	"testing"

	"cairn/node/api"
	"cairn/node/store"
)

func TestStatsOverTime(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann := s.agent("ann-1", "ann")
	s.report(ann, s.recall(ann, task), false) // nothing to find yet
	s.record(ann, booking(task, true))
	a := s.recall(ann, task)
	if len(a.Experiences) == 0 {
		t.Fatal("nothing recalled")
	}
	s.report(ann, a, true, a.Experiences[0].Experience.ID)
	got, err := s.node.Stats(ctx, ann)
	if err != nil {
		t.Fatal(err)
	}
	for name, series := range map[string]api.Series{"hours": got.Hours, "days": got.Days} {
		if series.Length < 1 || series.Length > 2 || series.From == "" { // 2 when the hour or the day ended meanwhile
			t.Fatalf("%s: length %d from %q", name, series.Length, series.From)
		}
		for what, want := range map[string]int64{"recalls": 2, "recalls_empty": 1, "outcomes_guided": 1, "attempts": 1, "helped": 1} {
			if sum := total(series.Sums[what]); sum != want {
				t.Errorf("%s: %s add up to %d, want %d", name, what, sum, want)
			}
		}
		for _, lists := range []map[string][]int64{series.Sums, series.Standing} {
			for what, list := range lists {
				if len(list) != series.Length || strings.Contains(what, "/") {
					t.Errorf("%s: %q has %d places of %d", name, what, len(list), series.Length)
				}
			}
		}
		if own := series.Standing["pools_own"]; own[len(own)-1] != int64(got.Pools["own"]) {
			t.Errorf("%s: %v experiences in the end, want %d", name, own, got.Pools["own"])
		}
	}
	if got.LLM != nil {
		t.Error("an agent sees what the namespace spends")
	}
	if admin, err := s.node.Stats(ctx, s.admin); err != nil || admin.LLM == nil {
		t.Errorf("an admin sees no spending: %v", err)
	}
	p, err := s.node.PredictorStats(ctx, ann)
	if err != nil || p.Attempts != 1 || p.MSE == nil || p.Recent == nil || p.Constant == nil || *p.Constant != 0 || len(p.Sources) != 1 {
		t.Errorf("predictor %+v, %v", p, err)
	}
}

func total(list []int64) (sum int64) {
	for _, x := range list {
		sum += x
	}
	return sum
}

func TestStatsShowSpending(t *testing.T) {
	s := newSite(t)
	use := store.LLMUse{Calls: 3, Cached: 1, Failed: 1, Refused: 2, PromptTokens: 50, AnswerTokens: 7}
	body := store.Spend{Lines: []store.SpendLine{{Role: "judge", Model: "m 1", Use: use}}}
	if _, err := s.node.propose(context.Background(), api.Caller{}, api.Write{}, store.KindSpend, store.DefaultNamespace, body); err != nil {
		t.Fatal(err)
	}
	got, err := s.node.Stats(context.Background(), s.admin)
	if err != nil {
		t.Fatal(err)
	}
	want := []api.LLMLine{{Role: "judge", Model: "m 1", Calls: 3, Cached: 1, Failed: 1, Refused: 2, PromptTokens: 50, AnswerTokens: 7}}
	if !slices.Equal(got.LLM.Lines, want) || total(got.Hours.Sums["llm_tokens"]) != 57 {
		t.Errorf("spending %+v, tokens by the hour %v", got.LLM, got.Hours.Sums["llm_tokens"])
	}
}

func TestStepsFillGaps(t *testing.T) {
	steps := newSteps(10*hourMS, hourMS, 5)
	if got := steps.render(); got.Length != 0 || got.From != "" {
		t.Errorf("an empty series has %d places from %q", got.Length, got.From)
	}
	steps.tallies[1] = tally{"recalls": 4, "recalls/empty": 1, "pools/own": 7}
	steps.from = 1
	steps.tallies[3] = tally{"pools/own": 9}
	got := steps.render()
	if got.Length != 4 || got.From != api.Time(7*hourMS) {
		t.Fatalf("%d places from %s, want 4 from the seventh hour", got.Length, got.From)
	}
	if own, want := got.Standing["pools_own"], []int64{7, 7, 9, 9}; !slices.Equal(own, want) {
		t.Errorf("pools %v, want %v", own, want)
	}
	if recalls, want := got.Sums["recalls"], []int64{4, 0, 0, 0}; !slices.Equal(recalls, want) {
		t.Errorf("recalls %v, want %v", recalls, want)
	}
	if hit := got.Ratios["hit_rate"]; hit[0] == nil || *hit[0] != .75 || hit[1] != nil {
		t.Errorf("hit rate %v, want .75, then null", hit)
	}
	steps.add(&store.Hour{Start: hourMS})
	if got := steps.render(); got.Length != 5 {
		t.Errorf("%d places, want 5 when something is known of before", got.Length)
	}
}
