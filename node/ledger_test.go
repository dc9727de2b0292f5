package node

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"cairn/node/api"
	"cairn/node/store"
)

// claim records a lesson that its author wants shared and waits until it is on the shelf.
func (s *site) claim(c api.Caller, content string) string {
	s.t.Helper()
	req := lesson(1)
	req.Content, req.Share = content, "candidate"
	id := s.add(c, req, api.Write{}).Value.ID
	e := s.eventually(c, id, func(e api.Experience) bool { return e.CandidateID != "" })
	s.indexed()
	return e.CandidateID
}

// indexed waits until recalls see what was applied.
func (s *site) indexed() {
	s.t.Helper()
	at, _ := s.node.store.Applied()
	if err := s.node.index.wait(context.Background(), at); err != nil {
		s.t.Fatal(err)
	}
}

// place is where a recall of the task has an experience; nil when nowhere.
func (s *site) place(c api.Caller, id string, k int) *api.Recalled {
	s.t.Helper()
	a, err := s.node.Recall(context.Background(), c, api.RecallRequest{Task: lesson(1).Scenario, TaskType: "refund", K: &k})
	if err != nil {
		s.t.Fatal(err)
	}
	for i, x := range a.Experiences {
		if x.Rank != i+1 {
			s.t.Errorf("rank %d at place %d", x.Rank, i+1)
		}
		if x.Experience.ID == id {
			return &a.Experiences[i]
		}
	}
	return nil
}

// saw lets an agent try an own lesson at the task and report a verified outcome.
func (s *site) saw(c api.Caller, content string, success bool) {
	s.t.Helper()
	ctx := context.Background()
	req := lesson(1)
	req.Content, req.Share = content, "never"
	own := s.add(c, req, api.Write{}).Value.ID
	s.indexed()
	a, err := s.node.Recall(ctx, c, api.RecallRequest{Task: req.Scenario, TaskType: "refund", Pools: []string{"own"}})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.node.Outcome(ctx, c, a.Receipt, api.OutcomeRequest{Success: &success, Evidence: "verified", Used: &[]string{own}}, api.Write{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.indexed()
	s.receiptStored(c, a.Receipt)
}

// receiptStored waits until the batch with a receipt is applied: an outcome may be there before it.
func (s *site) receiptStored(c api.Caller, token string) {
	s.t.Helper()
	for {
		changed := s.node.store.Changed()
		v, ns, err := s.node.openFor(c)
		if err != nil {
			s.t.Fatal(err)
		}
		agent, err := v.Agent(ns, c.Agent)
		sealed, serr := s.node.openReceipt(v, ns, c, token)
		if err != nil || serr != nil {
			s.t.Fatal(err, serr)
		}
		row, err := v.Receipt(ns, agent.Number, sealed.Recall)
		v.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		if row != nil && row.Group != [32]byte{} {
			return
		}
		<-changed
	}
}

func TestLedgerDecidesWhatAReaderSees(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	agreed := s.claim(ann, "refund the flight before the hotel")
	other := s.claim(ann, "ask for the booking reference before anything else")

	// k of 2 has no exploratory place: what is shown is by the ledger alone.
	if x := s.place(bob, agreed, 2); x == nil || !x.Unproven || x.Exploratory {
		t.Fatalf("of an unproven author: %+v, want an unproven extra", x)
	}
	feed, err := s.node.Feed(ctx, bob, "", api.FeedFilter{Types: []string{"ledger.changed"}})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	if _, err := feed.Next(ctx); err != nil {
		t.Fatal(err)
	}
	s.saw(bob, "Refund the flight before the hotel!", true)
	if m, err := feed.Next(ctx); err != nil || m.Principal != "bob" || m.Data["author"] != "ann" || m.Data["proof"] != "proven" {
		t.Errorf("feed says %+v, %v", m, err)
	}
	if x := s.place(bob, other, 2); x == nil || x.Unproven {
		t.Errorf("of a proven author: %+v, want an ordinary place", x)
	}
	s.wantEntry(bob, "proven", 1, 0)
	for range 2 {
		s.saw(bob, "Refund the flight before the hotel!", false)
	}
	for _, k := range []int{2, 5} {
		if x := s.place(bob, other, k); x != nil {
			t.Errorf("k %d: of a disproved author: %+v", k, x)
		}
	}
	s.wantEntry(bob, "disproved", 1, 2)
	if _, err := s.node.Ledger(ctx, ann, "bob", api.Page{}); codeOf(err) != api.CodeNotFound {
		t.Errorf("ann reads bob's ledger: %v, want not found", err)
	}
	if list, err := s.node.Ledger(ctx, s.admin, "", api.Page{}); err != nil || len(list.Items) != 1 {
		t.Errorf("an admin reads %+v, %v", list, err)
	}
}

func (s *site) wantEntry(c api.Caller, proof string, agreed, contradicted int64) {
	s.t.Helper()
	list, err := s.node.Ledger(context.Background(), c, "", api.Page{})
	want := api.LedgerEntry{Reader: "bob", Author: "ann", Agreed: agreed, Contradicted: contradicted, Proof: proof}
	if err != nil || len(list.Items) != 1 || list.Items[0] != want {
		s.t.Errorf("ledger %+v, %v, want %+v", list.Items, err, want)
	}
}

func TestProbationSettings(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	id := s.claim(ann, "refund the flight before the hotel")
	for _, setting := range []string{"off", "strict", "ledger"} {
		if _, err := s.node.UpdateSettings(ctx, s.admin, "default", api.Settings{Probation: setting}, api.Write{}); err != nil {
			t.Fatal(err)
		}
		if shown := s.place(bob, id, 2) != nil; shown != (setting == "ledger") {
			t.Errorf("probation %s: shown %v", setting, shown)
		}
		if x := s.place(bob, id, 5); setting == "off" && (x == nil || !x.Exploratory) {
			t.Errorf("probation off closed the exploratory place: %+v", x)
		}
	}
	if _, err := s.node.UpdateSettings(ctx, s.admin, "default", api.Settings{Probation: "maybe"}, api.Write{}); codeOf(err) != api.CodeInvalid {
		t.Errorf("unknown probation: %v, want invalid", err)
	}
}

func TestAtMostThreeUnproven(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	for _, text := range []string{"refund the flight first", "refund the hotel first", "call the airline first", "ask for the receipt first", "wait for the agent first"} {
		s.claim(ann, text)
	}
	for _, k := range []int{2, 5} {
		a, err := s.node.Recall(context.Background(), bob, api.RecallRequest{Task: lesson(1).Scenario, TaskType: "refund", K: &k})
		if err != nil {
			t.Fatal(err)
		}
		unproven := 0
		for _, x := range a.Experiences {
			if x.Unproven {
				unproven++
			}
		}
		if unproven != 3 || len(a.Experiences) != 3 {
			t.Errorf("k %d: %d unproven of %d, want 3 of 3", k, unproven, len(a.Experiences))
		}
	}
}

// TestWhoIsOnNoJuryReadsWhatItWasGiven: the ledger shows candidates to agents that do not judge them. These may look at what
// they were given, and at nothing else on the shelf.
func TestWhoIsOnNoJuryReadsWhatItWasGiven(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann := s.agent("ann-1", "ann")
	readers := map[string]api.Caller{}
	for i := range 14 { // a jury has 12 seats
		name := fmt.Sprintf("reader-%02d", i)
		readers[name] = s.agent(name+"-1", name)
	}
	item := s.claim(ann, "refund the flight before the hotel")
	off := s.offJury(item, readers)
	if len(off) != 2 {
		t.Fatalf("%d principals are on no seat, want 2", len(off))
	}
	reader, stranger := off[0], off[1]
	if _, err := s.node.Experience(ctx, reader, item); codeOf(err) != api.CodeNotFound {
		t.Errorf("before it was given: %v, want not found", err)
	}
	k := 2
	a, err := s.node.Recall(ctx, reader, api.RecallRequest{Task: lesson(1).Scenario, TaskType: "refund", K: &k})
	if err != nil || len(a.Experiences) != 1 || !a.Experiences[0].Unproven {
		t.Fatalf("recall: %+v, %v; want the candidate as unproven", a.Experiences, err)
	}
	if !strings.Contains(a.Guidance, " unproven (") {
		t.Errorf("the guidance does not say that it is unproven:\n%s", a.Guidance)
	}
	s.receiptStored(reader, a.Receipt)
	if e, err := s.node.Experience(ctx, reader, item); err != nil || e.ID != item || len(e.Lineage.Trajectories) > 0 {
		t.Errorf("after it was given: %+v, %v", e, err)
	}
	if _, err := s.node.Experience(ctx, stranger, item); codeOf(err) != api.CodeNotFound {
		t.Errorf("one that was not given it: %v, want not found", err)
	}
}

// offJury are the readers whose principals do not judge an item, in order of name.
func (s *site) offJury(item string, readers map[string]api.Caller) (off []api.Caller) {
	s.t.Helper()
	v, ns, err := s.node.openFor(s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	jury, err := v.Jury(ns, ulid.MustParse(item))
	if err != nil || jury == nil {
		s.t.Fatal(jury, err)
	}
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		if !jury.Sits(store.JurorOf("", name, "")) {
			off = append(off, readers[name])
		}
	}
	return off
}
