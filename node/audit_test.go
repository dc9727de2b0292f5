package node

import (
	"context"
	"slices"
	"testing"

	"cairn/node/api"
)

func (s *site) auditor() api.Caller {
	return api.Caller{Namespace: s.admin.Namespace, Agent: "eve", Principal: "eve", Roles: []string{api.RoleAuditor}}
}

// exploratory reports whether a juror's recall in a task group tries a candidate.
func (s *site) exploratory(c api.Caller, candidate, group string) bool {
	s.t.Helper()
	a, err := s.node.Recall(context.Background(), c, api.RecallRequest{Task: lesson(1).Scenario, TaskType: "refund", GroupKey: group})
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.ContainsFunc(a.Experiences, func(x api.Recalled) bool { return x.Experience.ID == candidate && x.Exploratory })
}

// TestACandidateIsTriedOnceInATaskGroup holds for the juror, whichever of its agents asks, and at once: the receipt of the
// first recall need not be stored.
func TestACandidateIsTriedOnceInATaskGroup(t *testing.T) {
	s := newSite(t)
	ann, bob, bea := s.agent("ann-1", "ann"), s.agent("bob-1", "bob"), s.agent("bob-2", "bob")
	cid := s.agent("cid-1", "cid")
	_, candidate := s.shared(ann)
	for _, x := range []struct {
		name  string
		c     api.Caller
		group string
		want  bool
	}{
		{"the first time", bob, "g1", true},
		{"again", bob, "g1", false},
		{"another agent of the juror", bea, "g1", false},
		{"another juror", cid, "g1", true},
		{"another group", bob, "g2", true},
	} {
		if got := s.exploratory(x.c, candidate, x.group); got != x.want {
			t.Errorf("%s: tried %v, want %v", x.name, got, x.want)
		}
	}
}

// TestAuditorsReadAndDoNotAct: a dry run, a replay and a preview are reads.
func TestAuditorsReadAndDoNotAct(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	original, candidate := s.shared(ann)
	if !s.try(bob, candidate, 1, true) {
		t.Fatal("the juror was not shown the candidate")
	}
	eve := s.auditor()
	for _, id := range []string{original, candidate} {
		if e, err := s.node.Experience(ctx, eve, id); err != nil || e.ID != id {
			t.Errorf("reading %s: %v", id, err)
		}
	}
	detail, err := s.node.Trust(ctx, eve, candidate)
	if err != nil || len(detail.Evidence) != 1 || len(detail.Jurors) != 1 {
		t.Errorf("trust %+v, %v; want who reported what", detail, err)
	}
	if seen, err := s.node.Trust(ctx, bob, candidate); err != nil || len(seen.Evidence) != 0 || len(seen.Jurors) != 0 || seen.Citations != 1 {
		t.Errorf("a juror reads %+v, %v; want sums alone", seen, err)
	}
	plan, err := s.node.Curate(ctx, eve, original, "revoke", api.CurateRequest{DryRun: true}, api.Write{})
	if err != nil || !slices.Equal(plan.Value.Closes, []string{candidate}) {
		t.Errorf("dry run %+v, %v", plan.Value, err)
	}
	if _, err := s.node.Curate(ctx, eve, original, "hold", api.CurateRequest{}, api.Write{}); codeOf(err) != api.CodeDenied {
		t.Errorf("a hold: %v, want denied", err)
	}
	if p, err := s.node.PreviewSettings(ctx, eve, "default", api.Settings{TrustProfile: "strict"}); err != nil || p.Looked != 1 {
		t.Errorf("preview %+v, %v", p, err)
	}
	if _, err := s.node.UpdateSettings(ctx, eve, "default", api.Settings{TrustProfile: "strict"}, api.Write{}); err == nil {
		t.Error("an auditor changed the settings")
	}
}

// TestWhatAnAgentKnewWhen: the receipts of an agent say what it was given within a time, also after it was removed.
func TestWhatAnAgentKnewWhen(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	_, candidate := s.shared(ann)
	if !s.try(bob, candidate, 1, true) {
		t.Fatal("the juror was not shown the candidate")
	}
	eve := s.auditor()
	all, err := s.node.Receipts(ctx, eve, "bob-1", "", "", api.Page{})
	if err != nil || len(all.Items) != 1 || len(all.Items[0].Items) == 0 || all.Items[0].Items[0].Experience != candidate || all.Items[0].Items[0].Hash == "" {
		t.Fatalf("receipts %+v, %v", all.Items, err)
	}
	at := all.Items[0].At
	for _, x := range []struct {
		name, from, to string
		want           int
	}{
		{"until then", "", at, 1}, {"from then on", at, "", 1}, {"before", "", "2020-01-01T00:00:00Z", 0}, {"after", "2100-01-01T00:00:00Z", "", 0},
	} {
		if got, err := s.node.Receipts(ctx, eve, "bob-1", x.from, x.to, api.Page{}); err != nil || len(got.Items) != x.want {
			t.Errorf("%s: %d receipts, %v; want %d", x.name, len(got.Items), err, x.want)
		}
	}
	if _, err := s.node.Receipts(ctx, ann, "bob-1", "", "", api.Page{}); codeOf(err) != api.CodeNotFound {
		t.Errorf("another agent asks: %v, want not found", err)
	}
	if _, err := s.node.Receipts(ctx, eve, "nobody", "", "", api.Page{}); codeOf(err) != api.CodeNotFound {
		t.Errorf("of nobody: %v, want not found", err)
	}
	if _, err := s.node.RemoveAgent(ctx, s.admin, "bob-1", api.Write{}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.node.Receipts(ctx, eve, "bob-1", "", "", api.Page{}); err != nil || len(got.Items) != 1 {
		t.Errorf("after it was removed: %+v, %v", got.Items, err)
	}
}
