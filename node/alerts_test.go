package node

import (
	"context"
	"slices"
	"testing"

	"cairn/node/api"
)

// TestSignsOfALiveSite: four principals judge one item, one of them far more often than the others.
func TestSignsOfALiveSite(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	jurors := []api.Caller{s.agent("bob-1", "bob"), s.agent("cid-1", "cid"), s.agent("dee-1", "dee"), s.agent("eve-1", "eve")}
	_, candidate := s.shared(ann)
	for i, times := range []int{5, 1, 1, 1} {
		for group := range times {
			if !s.try(jurors[i], candidate, group, true) {
				t.Fatalf("juror %d was not shown the candidate in group %d", i, group)
			}
		}
	}
	list, err := s.node.Alerts(context.Background(), s.admin)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Items, func(a api.Alert) bool { return a.Kind == "evidence_concentration" })
	if i < 0 {
		t.Fatalf("alerts %+v, want one of evidence_concentration", list.Items)
	}
	a := list.Items[i]
	if a.Value != .625 || !slices.Equal(a.Members, []string{"principal:bob"}) || !slices.Equal(a.Experiences, []string{candidate}) ||
		a.ID != "evidence_concentration/"+candidate {
		t.Errorf("got %+v", a)
	}
	if _, err := s.node.Alerts(context.Background(), ann); codeOf(err) != api.CodeDenied {
		t.Errorf("an agent read the alerts: %v", err)
	}
}
