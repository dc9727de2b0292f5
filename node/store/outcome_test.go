package store

import (
	"testing"

	"cairn/federation"
)

// fleet is a namespace with an author and jurors of other principals, all founders.
func fleet(t testing.TB, jurors ...string) *lab {
	l := newLab(t)
	l.agent("author", "alice")
	for _, j := range jurors {
		l.agent(j+"-1", j)
	}
	return l
}

func TestOutcomeOncePerReceipt(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	r := l.recall("bob-1", item)
	l.do(KindReceipts, Receipts{[]Receipt{r}}, nil)
	l.do(KindOutcome, l.outcome(r, federation.One), nil)
	before := l.dump()
	l.refuse(KindOutcome, l.outcome(r, federation.One), "conflict")
	l.do(KindReceipts, Receipts{[]Receipt{r}}, nil)
	if l.dump() != before {
		t.Error("a second report or receipt changed the state")
	}
	l.mustCheck()
}

func TestOutcomeMayOvertakeItsReceipt(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	full := l.recall("bob-1", item)
	signed := full // the signed receipt names neither the group nor hashes
	signed.Group = [32]byte{}
	signed.Items = []ReceiptItem{{ID: item, Version: 1, Flags: FlagExploratory}}
	l.do(KindOutcome, l.outcome(signed, federation.One), nil)
	l.do(KindReceipts, Receipts{[]Receipt{full}}, nil)
	if e := l.must(item); e.Recalled != federation.One {
		t.Errorf("the recall counted as %d, want one", e.Recalled)
	}
	if n := l.counter("recalls"); n != 1 {
		t.Errorf("%d recalls, want 1", n)
	}
	l.read(func(v *View, ns *Namespace) {
		a, err := v.Agent(ns, "bob-1")
		if err != nil || a == nil {
			t.Fatal(err)
		}
		row, err := v.Receipt(ns, a.Number, full.Recall)
		if err != nil || row == nil || !row.Reported || row.Group != full.Group || row.Items[0].Hash != full.Items[0].Hash {
			t.Errorf("the row is %+v: %v, want it reported, with group and hashes", row, err)
		}
		shown, err := v.Shown(ns, item, full.Group, "principal:bob")
		if err != nil || !shown {
			t.Errorf("shown in the task group: %v, %v, want true", shown, err)
		}
	})
	l.mustCheck()
}

func TestOutcomeRefusals(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	other := l.add("bob-1", "other")
	edit := func(fn func(*Outcome)) Outcome {
		o := l.outcome(l.recall("bob-1", item), federation.One)
		fn(&o)
		return o
	}
	used := l.outcome(l.recall("bob-1", item), federation.One)
	l.do(KindOutcome, used, nil)
	cases := []struct {
		name string
		body Outcome
		code string
	}{
		{"reward above one", edit(func(o *Outcome) { o.Reward = federation.One + 1 }), "invalid"},
		{"unknown evidence", edit(func(o *Outcome) { o.Evidence = "rumour" }), "invalid"},
		{"expired", edit(func(o *Outcome) { o.Receipt.At -= ReceiptTTL + 1 }), "conflict"},
		{"no recall id", edit(func(o *Outcome) { o.Receipt.Recall = ID{} }), "not_found"},
		{"unknown agent", edit(func(o *Outcome) { o.Receipt.Agent = "a9" }), "unauthenticated"},
		{"item that was not given", edit(func(o *Outcome) { o.Credits[0].ID = other.ID }), "invalid"},
		{"version that was not given", edit(func(o *Outcome) { o.Credits[0].Version = 2 }), "invalid"},
		{"item named twice", edit(func(o *Outcome) { o.Credits = append(o.Credits, o.Credits[0]) }), "invalid"},
		{"credit above one", edit(func(o *Outcome) { o.Credits[0].Credit = federation.One + 1 }), "invalid"},
		{"credit below zero", edit(func(o *Outcome) { o.Credits[0].Credit = -1 }), "invalid"},
		{"no citation id", edit(func(o *Outcome) { o.Credits[0].Citation = ID{} }), "conflict"},
		{"citation id in use", edit(func(o *Outcome) { o.Credits[0].Citation = used.Credits[0].Citation }), "conflict"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			l.t = t
			before := l.dump()
			l.refuse(KindOutcome, tc.body, tc.code)
			if l.dump() != before {
				t.Error("the refusal changed the state")
			}
		})
	}
	l.t = t
	l.mustCheck()
}

func TestUnusedTakesTheRecallBack(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	o := l.outcome(l.recall("bob-1", item), federation.One)
	o.Credits[0].Credit, o.Credits[0].Unused = 0, true
	var out Reported
	l.do(KindOutcome, o, &out)
	if e := l.must(item); e.Recalled != 0 || e.Helped != 0 || len(out.Citations) != 0 {
		t.Errorf("f %d, u %d, cited %v, want nothing", e.Recalled, e.Helped, out.Citations)
	}
	l.mustCheck()
}

// evidenceMoves reports whether a report about an item changed its accumulators, trust or strength.
func evidenceMoves(l *lab, agent string, item ID) (moved bool) {
	before := l.must(item)
	out := l.report(agent, federation.One, item)
	after := l.must(item)
	return len(out.Citations) > 0 || before.Trust.Trust != after.Trust.Trust || before.Uses != after.Uses
}

func TestEvidenceThatDoesNotCount(t *testing.T) {
	l := fleet(t, "bob", "carol")
	l.agent("alice-2", "alice")
	_, item := l.shelve("author", "one")
	if evidenceMoves(l, "author", item) {
		t.Error("the author's own evidence counted")
	}
	if evidenceMoves(l, "alice-2", item) {
		t.Error("evidence of the author's principal counted")
	}
	l.agent("late-1", "late")
	out := l.report("late-1", federation.One, item)
	if len(out.Citations) != 0 {
		t.Error("evidence of somebody who is no juror counted")
	}
	l.read(func(v *View, ns *Namespace) {
		r, err := v.Rater(ns, "principal:late")
		if err != nil || r.LW != federation.One {
			t.Errorf("its own mean has mass %d: %v, want one", r.LW, err)
		}
	})
	if !evidenceMoves(l, "bob-1", item) {
		t.Error("a juror's evidence did not count")
	}
	l.mustCheck()
}

func TestEvidenceAboutAPrivateItemOfAnother(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "mine")
	before := *l.must(added.ID)
	l.report("bob-1", federation.One, added.ID)
	after := *l.must(added.ID)
	if after.Helped != before.Helped || after.Strength != before.Strength || after.Own != before.Own {
		t.Errorf("another agent moved a private item: %+v", after)
	}
	l.mustCheck()
}

func TestExpectationIsReadBeforeTheOutcome(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	if out := l.report("bob-1", federation.One, item); out.Expected != federation.One/2 {
		t.Errorf("without history %d was expected, want .5", out.Expected)
	}
	// One success: site (1+2)/(1+4) = .6, m = (1 + 4*.6)/5 = .68, e = (4*.68 + 1)/5 = .744.
	if out := l.report("bob-1", 0, item); out.Expected != 744_000 {
		t.Errorf("after one success %d was expected, want .744", out.Expected)
	}
}

func TestOwnRecordNominates(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "one")
	queued := func() bool {
		for _, j := range l.jobs() {
			if j.Kind == JobNominate && j.Subject == added.ID {
				return true
			}
		}
		return false
	}
	for i := range 3 {
		if queued() {
			t.Fatalf("nominated after %d outcomes", i)
		}
		l.report("author", federation.One, added.ID)
	}
	if !queued() {
		t.Error("not nominated after 3 outcomes better than expected")
	}
	l.mustCheck()
}

func TestNeverIsNotNominated(t *testing.T) {
	for name, never := range map[string]func(l *lab){
		"agent": func(l *lab) {
			wish := string(federation.ShareNever)
			l.do(KindUpdateAgent, UpdateAgent{ID: "author", Share: &wish}, nil)
		},
		"namespace": func(l *lab) { l.do(KindSettings, Settings{Share: federation.ShareNever}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			l := fleet(t, "bob")
			never(l)
			added := l.add("author", "one", share(federation.ShareCandidate))
			job, ok := l.leaseOf(JobNominate, added.ID)
			if !ok {
				t.Fatal("no job")
			}
			if out := l.nominate(l.must(added.ID), job); out.Reason != federation.ReasonShareNever {
				t.Errorf("got %+v, want share_never", out)
			}
			l.mustCheck()
		})
	}
}

func TestTrajectoryShareNeverReachesItsExperiences(t *testing.T) {
	l := fleet(t, "bob")
	b := l.recording("author", "g", true, federation.One)
	b.Share = federation.ShareNever
	var rec Recorded
	l.do(KindRecordTrajectory, b, &rec)
	kept, _ := l.distil(rec.ID, l.item(rec.ID, "f", "secret", 1))
	if e := l.must(kept.Experiences[0]); e.Share != federation.ShareNever {
		t.Errorf("share is %q, want never", e.Share)
	}
}
