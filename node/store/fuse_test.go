package store

import (
	"testing"

	"cairn/federation"
)

// fused is a site where an item of carol's gave way to one of alice's that says the same.
func fused(t *testing.T) (l *lab, item, gone ID) {
	t.Helper()
	l = fleet(t, "bob", "carol", "dan")
	_, bad := l.shelve("dan-1", "what fails")
	_, item = l.shelve("author", "one")
	l.proved(item, bad)
	if out, _ := l.promote(item); !out.Done {
		t.Fatalf("not promoted: %+v", out)
	}
	_, gone = l.shelve("carol-1", "one in other words")
	l.proved(gone, bad)
	if out := l.fuse(gone, item); !out.Done {
		t.Fatalf("not fused: %+v", out)
	}
	l.wantStatus(gone, federation.StatusSuperseded)
	return l, item, gone
}

// proved lets the other principals report successes about an item, and as many failures about another one.
func (l *lab) proved(item, bad ID) {
	l.t.Helper()
	for range 6 {
		for _, agent := range []string{"author", "bob-1", "carol-1", "dan-1"} {
			if l.must(item).Agent != agent {
				l.report(agent, federation.One, item)
			}
			l.report(agent, 0, bad)
		}
	}
}

// fuse runs an item's promotion job and names an item of the meta-pool to fuse it with.
func (l *lab) fuse(item, into ID) Promoted {
	l.t.Helper()
	job, ok := l.leaseOf(JobPromote, item)
	if !ok {
		l.t.Fatalf("no promotion job for %s", item)
	}
	var out Promoted
	l.do(KindPromote, Promote{Job: ref(job), Target: Target{ID: item, Version: 1}, Decision: l.id(), Fuse: into, FuseVer: 1}, &out)
	return out
}

func (l *lab) wantStatus(id ID, want federation.Status) *Experience {
	l.t.Helper()
	e := l.must(id)
	if e.Status != want {
		l.t.Errorf("%s is %s, want %s", id, e.Status, want)
	}
	return e
}

// workOff does the jobs that purges and curations leave.
func (l *lab) workOff(kind string, id ID, command Kind, body func(Job) any) {
	l.t.Helper()
	for range 10 {
		job, ok := l.leaseOf(kind, id)
		if !ok {
			return
		}
		l.do(command, body(job), nil)
	}
	l.t.Errorf("the job of %s does not end", id)
}

func TestFusedItemReturnsWhenItsSurvivorIsErased(t *testing.T) {
	l, item, gone := fused(t)
	evidence := l.must(gone).Trust.Citations
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: item}}, nil)
	l.workOff(JobPurge, item, KindPurge, func(j Job) any { return Purge{ref(j), item} })
	e := l.wantStatus(gone, federation.StatusCandidate)
	if e.Trust.Citations != evidence || e.SupersededBy != (ID{}) {
		t.Errorf("it returned with %d citations, superseded by %s; want its own %d", e.Trust.Citations, e.SupersededBy, evidence)
	}
	if out, _ := l.promote(gone); !out.Done {
		t.Errorf("its own evidence does not promote it: %+v", out)
	}
	l.wantStatus(gone, federation.StatusPromoted)
	l.mustCheck()
}

func TestFusedItemIsHeldWhenItsSurvivorIsCalledBack(t *testing.T) {
	l, item, gone := fused(t)
	l.do(KindCurate, Curate{Target: Target{ID: item}, Action: ActionRevoke, By: "admin"}, nil)
	l.workOff(JobCurate, item, KindFollowUp, func(j Job) any { return FollowUp{Job: ref(j), Target: Target{ID: item}, Action: j.Extra} })
	if e := l.wantStatus(gone, federation.StatusHeld); e.HeldBy != item || e.Reason == "" {
		t.Errorf("held by %s because of %q", e.HeldBy, e.Reason)
	}
	l.do(KindCurate, Curate{Target: Target{ID: gone}, Action: ActionRelease, By: "admin"}, nil)
	if out, _ := l.promote(gone); !out.Done {
		t.Errorf("released, its own evidence does not promote it: %+v", out)
	}
	l.mustCheck()
}

func TestFusedItemStandsWhenTheAuthorTakesTheSurvivorBack(t *testing.T) {
	l, item, gone := fused(t)
	l.do(KindCurate, Curate{Target: Target{ID: item}, Action: ActionRevoke, By: "author"}, nil)
	l.workOff(JobCurate, item, KindFollowUp, func(j Job) any { return FollowUp{Job: ref(j), Target: Target{ID: item}, Action: j.Extra} })
	l.wantStatus(gone, federation.StatusCandidate)
	l.mustCheck()
}

func TestFusionIsTakenBack(t *testing.T) {
	l, item, gone := fused(t)
	l.do(KindUndoMerge, UndoMerge{From: gone, Owner: SharedOwner, By: "admin"}, nil)
	l.wantStatus(gone, federation.StatusCandidate)
	if out := l.fuse(gone, item); !out.Done {
		t.Errorf("not promoted: %+v", out)
	}
	l.wantStatus(gone, federation.StatusPromoted) // what a curator parted is not fused with the same item again
	l.wantStatus(item, federation.StatusPromoted)
	l.refuse(KindUndoMerge, UndoMerge{From: gone, Owner: SharedOwner, By: "admin"}, "conflict")
	l.mustCheck()
}

func TestErasedFusedItemLeavesNothing(t *testing.T) {
	l, item, gone := fused(t)
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: gone}}, nil)
	l.workOff(JobPurge, gone, KindPurge, func(j Job) any { return Purge{ref(j), gone} })
	l.wantStatus(item, federation.StatusPromoted)
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: item}}, nil)
	l.workOff(JobPurge, item, KindPurge, func(j Job) any { return Purge{ref(j), item} })
	if e := l.get(gone); e != nil {
		t.Errorf("an erased item came back as %s", e.Status)
	}
	l.mustCheck()
}
