package node

import (
	"context"
	"slices"
	"strings"
	"testing"

	"cairn/federation"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// subPool sets the profile of the sub-pool of moved meetings.
func (s *site) subPool(t api.TaskType) (api.Settings, error) {
	done, err := s.node.UpdateSettings(context.Background(), s.admin, "default", api.Settings{TaskTypes: map[string]api.TaskType{"calendar": t}}, api.Write{})
	return done.Value, err
}

func lensesOf(list []api.Experience) (out []string) {
	for _, e := range list {
		out = append(out, e.Lineage.Lens)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestSubPoolHasItsProfile(t *testing.T) {
	s := newSite(t)
	high := 1.0
	set, err := s.subPool(api.TaskType{JudgeThreshold: &high, Lenses: []string{"success_pattern", "failure"}, JudgeProfile: "strict"})
	if got := set.TaskTypes["calendar"]; err != nil || got.JudgeThreshold == nil || *got.JudgeThreshold != 1 || got.JudgeProfile != "strict" || len(got.Lenses) != 2 {
		t.Fatalf("settings %+v, %v", set, err)
	}
	ann := s.agent("ann-1", "ann")
	refused := s.record(ann, moving())
	if len(refused.Experiences) != 0 || len(refused.Discarded) < 2 {
		t.Errorf("at threshold 1: %d kept, discarded %+v", len(refused.Experiences), refused.Discarded)
	}
	for _, d := range refused.Discarded {
		if d.Reason != "judge" || !strings.HasSuffix(d.Detail, ": score") {
			t.Errorf("discarded %+v, want the judge's score", d)
		}
	}
	if set, err = s.subPool(api.TaskType{Lenses: []string{"success_pattern", "failure"}, JudgeProfile: "strict"}); err != nil || set.TaskTypes["calendar"].JudgeThreshold != nil {
		t.Fatalf("settings %+v, %v", set, err)
	}
	bob := s.agent("bob-1", "bob")
	if got := s.record(bob, moving()); !slices.Equal(lensesOf(got.Experiences), []string{"failure", "success_pattern"}) {
		t.Errorf("lenses %v of %+v", lensesOf(got.Experiences), got.Discarded)
	}
	other := moving()
	other.TaskType = "meetings"
	if got := s.record(bob, other); !slices.Contains(lensesOf(got.Experiences), "contrast") {
		t.Errorf("another sub-pool: lenses %v", lensesOf(got.Experiences))
	}
}

func TestSubPoolRefusals(t *testing.T) {
	s := newSite(t)
	zero, high := 0.0, 1.1
	for name, bad := range map[string]api.TaskType{
		"profile": {JudgeProfile: "lax"}, "zero": {JudgeThreshold: &zero}, "high": {JudgeThreshold: &high}, "lens": {Lenses: []string{"gossip"}},
		"lenses": {Lenses: []string{"contrast", "contrast", "contrast", "contrast", "contrast"}},
	} {
		if _, err := s.subPool(bad); codeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestModelIsAskedForTheLensesOfTheSubPool: what the model says for another lens is no lesson.
func TestModelIsAskedForTheLensesOfTheSubPool(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": `{"experiences":[{"lens":"contrast","scenario":"telling somebody about a moved meeting","content":"Use send_message where the contact prefers chat, not post_letter.","keywords":["meeting","chat","contact"],"tools":["post_letter","send_message"],"attempts":[0,2],"confidence":0.9}]}`})
	s := newModelSite(t, o, func(opts *llm.Options) { opts.Models[llm.RoleDistil] = llm.Model{Name: "scripted", Retries: -1} }, llm.RoleDistil)
	if _, err := s.subPool(api.TaskType{Lenses: []string{"tool_use"}}); err != nil {
		t.Fatal(err)
	}
	ann := s.agent("ann-1", "ann")
	if _, err := s.node.RecordTrajectory(context.Background(), ann, moving(), 0, api.Write{}); err != nil {
		t.Fatal(err)
	}
	s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobDistil && j.Error != "" })
	for _, e := range s.own(ann) {
		if e.Lineage.Lens == "contrast" {
			t.Errorf("a lesson of a lens that was not wanted: %+v", e)
		}
	}
	if asked := strings.Join(o.prompts, "\n"); !strings.Contains(asked, "Lenses wanted: tool_use\n") || strings.Contains(asked, "Pairs of segments:") {
		t.Errorf("asked %s", asked)
	}
}

func TestDecided(t *testing.T) {
	v := acquire.Verdict{Actionability: .5, Accuracy: .5, Relevance: .5, Clarity: .5, Uniqueness: .5}
	for _, tc := range []struct {
		name  string
		of    store.TaskType
		kind  federation.Kind
		admit bool
	}{
		{"default", store.TaskType{}, federation.KindSuccess, true},
		{"strict success", store.TaskType{Judge: "strict"}, federation.KindSuccess, false},
		{"strict contrast", store.TaskType{Judge: "strict"}, federation.KindContrast, true},
		{"own threshold below", store.TaskType{Judge: "strict", Admit: 500_000}, federation.KindSuccess, true},
		{"own threshold above", store.TaskType{Admit: 500_001}, federation.KindContrast, false},
	} {
		if got := decided(v, tc.kind, tc.of); got.Admit != tc.admit {
			t.Errorf("%s: %+v, want admit %v", tc.name, got, tc.admit)
		}
	}
	v.Clarity = .05
	if got := decided(v, federation.KindSuccess, store.TaskType{Admit: 1}); got.Admit || got.Reason != "clarity" {
		t.Errorf("a dimension that is too low: %+v", got)
	}
}

// TestContrastOfAMixedGroupIsLongTerm: whatever was expected of its attempts, and also when no failure shows what it says.
func TestContrastOfAMixedGroupIsLongTerm(t *testing.T) {
	d := &distillation{routes: map[int]store.GateRow{}}
	for n, success := range []bool{true, false, true} {
		d.attempts = append(d.attempts, store.Attempt{Number: n, HasReward: true, Success: success})
		d.routes[n] = store.GateRow{Attempt: n, HasReward: true, Route: string(federation.RouteDiscard)}
	}
	for _, tc := range []struct {
		name  string
		draft acquire.Draft
		want  federation.Route
	}{
		{"no failure shows it", acquire.Draft{Kind: federation.KindContrast, Success: 1, Attempts: []int{0, 1}}, federation.RouteLongTerm},
		{"both show it", acquire.Draft{Kind: federation.KindToolUse, Success: 1, Failure: 1, Attempts: []int{0, 1}}, federation.RouteLongTerm},
		{"of successes alone", acquire.Draft{Kind: federation.KindContrast, Success: 2, Attempts: []int{0, 2}}, federation.RouteDiscard},
		{"a plan", acquire.Draft{Kind: federation.KindSuccess, Success: 1, Failure: 1, Attempts: []int{0, 1}}, federation.RouteDiscard},
	} {
		if got, _ := d.routeDraft(tc.draft); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
