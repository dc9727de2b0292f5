package store

import (
	"fmt"
	"testing"

	"cairn/federation"
)

func (l *lab) curate(id ID, action string) Curated {
	l.t.Helper()
	var out Curated
	l.do(KindCurate, Curate{Target: Target{ID: id, Owner: l.must(id).Owner}, Action: action, Reason: "r", By: "admin"}, &out)
	return out
}

// follow runs the jobs of curations to their end.
func (l *lab) follow() {
	l.t.Helper()
	for {
		n := 0
		for _, j := range l.lease() {
			if j.Kind != JobCurate {
				l.do(KindFinishJob, FinishJob{Job: ref(j), Stale: true}, nil)
				continue
			}
			n++
			b := FollowUp{Job: ref(j), Target: Target{ID: j.Subject, Owner: j.Owner}, Action: j.Extra}
			for {
				var out FollowedUp
				l.do(KindFollowUp, b, &out)
				if !out.More {
					break
				}
				b.After = out.After
			}
		}
		if n == 0 {
			return
		}
	}
}

func TestHoldClosesWhatWasDerivedAndReleaseOpensIt(t *testing.T) {
	l := fleet(t, "bob")
	original, item := l.shelve("author", "one")
	l.prove(item, "bob-1")
	other := l.add("bob-1", "from it", func(e *Experience) { e.Lineage.DerivedFrom = []ID{item} })
	l.curate(other.ID, ActionHold) // a hold of its own
	l.curate(original, ActionHold)
	for _, id := range []ID{original, item, other.ID} {
		if e := l.must(id); e.Status != federation.StatusHeld {
			t.Errorf("%s is %s, want held", id, e.Status)
		}
	}
	if n := l.counter("meta"); n != 0 {
		t.Errorf("the meta-pool counts %d while its item is held", n)
	}
	l.mustCheck()
	l.refuse(KindCurate, Curate{Target: Target{ID: item}, Action: ActionHold}, "conflict")
	l.curate(original, ActionRelease)
	if e := l.must(item); e.Status != federation.StatusPromoted {
		t.Errorf("the copy is %s, want promoted again", e.Status)
	}
	if e := l.must(other.ID); e.Status != federation.StatusHeld {
		t.Errorf("what has a hold of its own is %s", e.Status)
	}
	l.mustCheck()
}

func TestRevokeTellsEveryoneWhoWasGivenIt(t *testing.T) {
	l := fleet(t, "bob", "carol")
	original, item := l.shelve("author", "one")
	private := l.add("carol-1", "from it", func(e *Experience) { e.Lineage.DerivedFrom = []ID{item} })
	l.report("author", federation.One, original)
	l.report("bob-1", federation.One, item)
	l.report("carol-1", federation.One, private.ID)
	l.curate(original, ActionRevoke)
	l.follow()
	l.mustCheck()
	for agent, id := range map[string]ID{"author": original, "bob-1": item, "carol-1": private.ID} {
		if e := l.must(id); e.Status != federation.StatusRevoked {
			t.Errorf("%s is %s, want revoked", id, e.Status)
		}
		l.read(func(v *View, ns *Namespace) {
			a, err := v.Agent(ns, agent)
			if err != nil || a == nil {
				t.Fatal(err)
			}
			if told, err := v.WasWithdrawn(ns, a.Number, id); err != nil || !told {
				t.Errorf("%s is told of %s: %v, %v", agent, id, told, err)
			}
		})
	}
	l.refuse(KindCurate, Curate{Target: Target{ID: original, Owner: l.must(original).Owner}, Action: ActionRevoke}, "conflict")
	l.refuse(KindCurate, Curate{Target: Target{ID: original, Owner: l.must(original).Owner}, Action: ActionRelease}, "conflict")
}

func TestLateDescendantOfARevokedOneIsToldToItsOwner(t *testing.T) {
	l := fleet(t, "bob")
	original := l.add("author", "one")
	l.curate(original.ID, ActionRevoke)
	late := l.add("bob-1", "from it", func(e *Experience) { e.Lineage.DerivedFrom = []ID{original.ID} })
	l.report("bob-1", federation.One, late.ID)
	l.follow()
	if e := l.must(late.ID); e.Status != federation.StatusRevoked {
		t.Fatalf("it is %s, want revoked", e.Status)
	}
	l.read(func(v *View, ns *Namespace) {
		if told, err := v.WasWithdrawn(ns, late.Owner, late.ID); err != nil || !told {
			t.Errorf("its owner is told: %v, %v", told, err)
		}
	})
	l.mustCheck()
}

func TestLargeFamilyIsClosedByJob(t *testing.T) {
	l := fleet(t, "bob")
	root := l.add("author", "root")
	for i := range 150 {
		l.add("author", fmt.Sprintf("child %d", i), func(e *Experience) { e.Lineage.DerivedFrom = []ID{root.ID} })
	}
	before := l.dump()
	l.curate(root.ID, ActionHold)
	if n := changedKeys(before, l.dump()); n > 1000 {
		t.Errorf("the hold changed %d keys", n)
	}
	l.follow()
	if n := l.counter("status/held"); n != 151 {
		t.Errorf("%d are held, want 151", n)
	}
	l.mustCheck()
}

func TestDistillingDoesNotBringBackWhatWasRevoked(t *testing.T) {
	l := fleet(t, "bob")
	rec := l.record("author", "g", true, federation.One)
	kept, _ := l.distil(rec.ID, l.item(rec.ID, "f", "wrong", 1))
	l.curate(kept.Experiences[0], ActionRevoke)
	l.record("author", "g", true, federation.One)
	if again, _ := l.distil(rec.ID, l.item(rec.ID, "f", "wrong", 2)); len(again.Experiences) != 0 {
		t.Errorf("the job brought it back as %v", again.Experiences)
	}
	l.mustCheck()
}

func TestPromotionWaitsForACurator(t *testing.T) {
	l := fleet(t, "bob")
	l.do(KindSettings, Settings{Approval: "manual"}, nil)
	propose := func(text string) (ID, Promoted) {
		_, item := l.shelve("author", text)
		for i := range 16 {
			rec := l.recall("bob-1", item)
			rec.TaskType = fmt.Sprint(text, i) // of which nothing is expected yet
			l.do(KindOutcome, l.outcome(rec, federation.One), nil)
			l.now += 1000
		}
		out, ran := l.promote(item)
		if !ran {
			t.Fatalf("%s: no promotion job, trust %+v", text, l.must(item).Trust)
		}
		return item, out
	}
	item, out := propose("one")
	if out.Done || out.Reason != "approval" || l.must(item).Status != federation.StatusCandidate {
		t.Fatalf("got %+v, want it to wait", out)
	}
	l.mustCheck()
	l.do(KindDecidePromotion, DecidePromotion{ID: out.Decision, Approve: true, By: "admin"}, nil)
	if e := l.must(item); e.Status != federation.StatusPromoted || e.Pending != (ID{}) {
		t.Errorf("approved: %+v", e)
	}
	l.refuse(KindDecidePromotion, DecidePromotion{ID: out.Decision, Approve: true}, "conflict")
	l.refuse(KindDecidePromotion, DecidePromotion{ID: numbered(77)}, "not_found")
	l.mustCheck()

	item, out = propose("two")
	l.do(KindDecidePromotion, DecidePromotion{ID: out.Decision, By: "admin", Reason: "not for all"}, nil)
	if e := l.must(item); e.Status != StatusDemoted || e.PromotedAt != 0 || e.Pending != (ID{}) || e.Reason != "not for all" {
		t.Errorf("rejected: %+v", e)
	}
	l.report("bob-1", federation.One, item)
	if _, ran := l.promote(item); ran {
		t.Error("what was rejected is proposed again")
	}
	l.refuse(KindDecidePromotion, DecidePromotion{ID: out.Decision, Approve: true}, "conflict")

	item, out = propose("three")
	for range 12 {
		l.report("bob-1", 0, item)
	}
	l.refuse(KindDecidePromotion, DecidePromotion{ID: out.Decision, Approve: true}, "conflict")
	if e := l.must(item); e.Status != federation.StatusCandidate {
		t.Errorf("approved although its trust fell: %+v", e)
	}
	l.mustCheck()
}

func TestQuarantinedCopyIsReleasedToAJury(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "one", share(federation.ShareCandidate))
	job, _ := l.leaseOf(JobNominate, added.ID)
	out := l.nominate(l.must(added.ID), job, func(b *Nominate) { b.Screening = federation.ScreeningQuarantine })
	if e := l.must(out.Candidate); e.Status != federation.StatusQuarantined {
		t.Fatalf("it is %s", e.Status)
	}
	l.curate(out.Candidate, ActionRelease)
	if l.get(out.Candidate) != nil {
		t.Error("the stopped copy is left")
	}
	job, ok := l.leaseOf(JobNominate, added.ID)
	if !ok || job.Extra != ExtraCleared {
		t.Fatalf("nomination job %+v", job)
	}
	if again := l.nominate(l.must(added.ID), job); again.Reason != "" {
		t.Errorf("not nominated: %s", again.Reason)
	}
	l.work()
	l.mustCheck()
}
