package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/compact"
	"cairn/node/store"
)

// copies lists the shared copies that a test asks for.
func (s *site) copies(want func(*store.Experience) bool) (out []*store.Experience) {
	s.t.Helper()
	v, ns, err := s.node.openFor(s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	err = v.Pool(ns, store.SharedOwner, nil, func(_ []byte, e *store.Experience) bool {
		if want(e) {
			out = append(out, e)
		}
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// TestItemsOfSeveralPrincipalsBecomeAStrategy: what two principals learnt, and others proved, is said in general by a
// candidate that lists its sources and that neither of the two judges.
func TestItemsOfSeveralPrincipalsBecomeAStrategy(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	ann, bob, cid := s.agent("ann-1", "ann"), s.agent("bob-1", "bob"), s.agent("cid-1", "cid")
	for i, author := range []api.Caller{ann, bob, ann, bob} {
		req := booking(fmt.Sprintf("book the cheapest flight from AMS to LIS for kim, trip %d", i), true)
		req.Attempts[0].Steps[2].Args = map[string]any{"flight": fmt.Sprintf("F%d", 100+i), "class": "economy"}
		req.Share = "candidate"
		own := s.record(author, req).Experiences[0].ID
		s.eventually(author, own, func(e api.Experience) bool { return e.CandidateID != "" })
	}
	promoted := func(e *store.Experience) bool { return e.Status == federation.StatusPromoted }
	for i := 0; len(s.copies(promoted)) < 4; i++ {
		if i == 150 {
			for _, e := range s.copies(func(*store.Experience) bool { return true }) {
				t.Logf("%s of %s: trust %+v", e.Status, e.Principal, e.Trust)
			}
			t.Fatal("the four are not promoted")
		}
		juror := []api.Caller{cid, ann, bob}[i%3]
		s.record(juror, failing(200+i)) // keeps down what is expected
		a, err := s.node.Recall(ctx, juror, api.RecallRequest{Task: task, TaskType: "airline", GroupKey: fmt.Sprintf("trip-%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Experiences {
			if x.Exploratory {
				s.report(juror, a, true, x.Experience.ID)
			}
		}
	}
	strategy := func(e *store.Experience) bool { return e.Lineage.Lens == store.LensStrategy }
	for {
		changed := s.node.store.Changed()
		if len(s.copies(strategy)) > 0 {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("no strategy came about")
		}
	}
	e := s.copies(strategy)[0]
	if e.Status != federation.StatusCandidate || e.Lineage.Generator != compact.Generator || len(e.Lineage.DerivedFrom) != 4 ||
		!slices.Equal(e.Authors, []string{"ann", "bob"}) || !strings.Contains(e.Content, "`book` with class=\"economy\"") {
		t.Errorf("strategy %+v", e)
	}
	v, ns, err := s.node.openFor(s.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	jury, err := v.Jury(ns, e.ID)
	if err != nil || len(jury.Seats) != 1 || jury.Seats[0].Juror != "principal:cid" {
		t.Errorf("judged by %+v, %v", jury, err)
	}
	graph, err := s.node.Provenance(ctx, s.admin, e.ID.String())
	derived := 0
	for _, x := range graph.Edges {
		if x.From == "experience:"+e.ID.String() && x.Relation == "wasDerivedFrom" {
			derived++
		}
	}
	if err != nil || derived != 4 {
		t.Errorf("its provenance names %d sources: %v", derived, err)
	}
}
