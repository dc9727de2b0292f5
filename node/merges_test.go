package node

import (
	"context"
	"testing"

	"cairn/federation"
	"cairn/node/api"
)

func TestMergesAreListedAndUndone(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann", "alice"), s.agent("bob", "bea")
	ctx := context.Background()
	req := api.AddExperience{
		Scenario: "Refund an order of a customer who paid by card", TaskType: "refund", Tools: []string{"refund", "verify_payment"},
		Content: "Call refund only after verify_payment has answered that the payment of this order was settled and not disputed by the customer.",
	}
	first := s.add(ann, req, api.Write{})
	if err := s.node.index.wait(ctx, first.Index); err != nil {
		t.Fatal(err)
	}
	req.Content = "Only after verify_payment has answered that the payment of this order was settled and not disputed by the customer call refund."
	second := s.add(ann, req, api.Write{})
	if second.Value.MergedInto != first.Value.ID {
		t.Fatalf("the near duplicate was merged into %q, want %s", second.Value.MergedInto, first.Value.ID)
	}
	list := func(c api.Caller) []api.Merge {
		t.Helper()
		out, err := s.node.Merges(ctx, c, api.Page{})
		if err != nil {
			t.Fatal(err)
		}
		return out.Items
	}
	mine := list(ann)
	if len(mine) != 1 || mine[0].Into != first.Value.ID || mine[0].Cause != "duplicate" || mine[0].UndoneAt != nil || mine[0].Agent != "ann" {
		t.Fatalf("merges %+v", mine)
	}
	if got := list(bob); len(got) != 0 {
		t.Errorf("another agent sees %+v", got)
	}
	if got := list(s.admin); len(got) != 1 {
		t.Errorf("the admin sees %+v", got)
	}
	id := mine[0].ID
	for _, unknown := range []string{id, first.Value.ID} {
		if _, err := s.node.UndoMerge(ctx, bob, unknown, api.Write{}); codeOf(err) != api.CodeNotFound {
			t.Errorf("another agent's undo of %s: %v, want not_found", unknown, err)
		}
	}
	if _, err := s.node.UndoMerge(ctx, ann, first.Value.ID, api.Write{}); codeOf(err) != api.CodeNotFound {
		t.Errorf("undo of the survivor: %v, want not_found", err)
	}
	auditor := api.Caller{Namespace: ann.Namespace, Agent: "eve", Principal: "eve", Roles: []string{api.RoleAuditor}}
	if _, err := s.node.UndoMerge(ctx, auditor, id, api.Write{}); codeOf(err) != api.CodeDenied {
		t.Errorf("an auditor's undo: %v, want denied", err)
	}
	undone, err := s.node.UndoMerge(ctx, ann, id, api.Write{})
	if err != nil || undone.Value.UndoneAt == nil || undone.Value.UndoneBy != "ann" {
		t.Fatalf("undone %+v: %v", undone, err)
	}
	if e, err := s.node.Experience(ctx, ann, mine[0].From); err != nil || e.Status != string(federation.StatusActive) || e.SupersededBy != nil {
		t.Errorf("the restored one is %+v: %v", e, err)
	}
	if _, err := s.node.UndoMerge(ctx, s.admin, id, api.Write{}); codeOf(err) != api.CodeConflict {
		t.Errorf("a second undo: %v, want conflict", err)
	}
	if got := list(ann); len(got) != 1 || got[0].UndoneAt == nil {
		t.Errorf("merges after the undo %+v", got)
	}
}
