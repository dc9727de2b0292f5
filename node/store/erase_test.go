package store

import (
	"fmt"
	"strings"
	"testing"

	"cairn/federation"
)

// work runs all purge jobs to their end.
func (l *lab) work() {
	l.t.Helper()
	for {
		n := 0
		for _, j := range l.lease() {
			if j.Kind == JobPurge {
				l.do(KindPurge, Purge{Job: ref(j), ID: j.Subject}, nil)
				n++
			}
		}
		if n == 0 {
			return
		}
	}
}

func TestEraseFollowsLineage(t *testing.T) {
	l := fleet(t, "bob", "carol")
	original, item := l.shelve("author", "one")
	derived := l.add("bob-1", "from it", func(e *Experience) { e.Lineage.DerivedFrom = []ID{item} })
	other := l.add("author", "two")
	l.report("bob-1", federation.One, item)
	l.report("carol-1", 0, item)
	owner := l.must(original).Owner

	l.refuse(KindErase, Erase{Receipt: l.id(), Target: Target{original, owner, 9}}, "precondition")
	l.refuse(KindErase, Erase{Receipt: l.id(), Target: Target{numbered(99), owner, 0}}, "not_found")
	receipt := l.id()
	var out ErasedIDs
	l.do(KindErase, Erase{Receipt: receipt, Target: Target{original, owner, 1}, Agent: "author"}, &out)
	if len(out.Erased) != 3 {
		t.Errorf("erased %v, want the original, its copy and what was derived", out.Erased)
	}
	for _, id := range []ID{original, item, derived.ID} {
		if l.get(id) != nil {
			t.Errorf("%s is still read", id)
		}
	}
	if l.get(other.ID) == nil {
		t.Error("another experience went too")
	}
	l.mustCheck()
	l.work()
	l.mustCheck()
	l.read(func(v *View, ns *Namespace) {
		proof, err := v.Erasure(ns, receipt)
		if err != nil || proof == nil || proof.Open != 0 || len(proof.Erased) != 3 {
			t.Errorf("proof %+v: %v", proof, err)
		}
		for _, kind := range []keyKind{kindEvidence, kindAcc, kindGiven, kindShown, kindChild, kindJury} {
			prefix := nsKey(kind, ns.Number)
			if err := v.scan(prefix, upper(prefix), func(k, _ []byte) (bool, error) {
				t.Errorf("key %x is left", k)
				return true, nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
	l.refuse(KindErase, Erase{Receipt: receipt, Target: Target{other.ID, owner, 1}}, "conflict")
}

func TestEraseOfManyDescendantsGoesOnByJob(t *testing.T) {
	l := fleet(t, "bob")
	root := l.add("author", "root")
	const children = 300
	for i := range children {
		l.add("author", fmt.Sprintf("child %d", i), func(e *Experience) { e.Lineage.DerivedFrom = []ID{root.ID} })
	}
	last := l.add("author", "grandchild", func(e *Experience) { e.Lineage.DerivedFrom = []ID{numbered(l.ids - 1)} })
	receipt, before := l.id(), l.dump()
	var out ErasedIDs
	l.do(KindErase, Erase{Receipt: receipt, Target: Target{root.ID, root.Owner, 1}}, &out)
	if len(out.Erased) >= children {
		t.Fatalf("one command erased %d", len(out.Erased))
	}
	if n := changedKeys(before, l.dump()); n > 1000 {
		t.Errorf("the erasure wrote %d keys", n)
	}
	l.work()
	if n := l.counter(PoolCounter(root.Owner)); n != 0 {
		t.Errorf("%d descendants are left", n)
	}
	l.read(func(v *View, ns *Namespace) {
		proof, err := v.Erasure(ns, receipt)
		if err != nil || proof == nil || proof.Open != 0 || len(proof.Erased) != children+2 {
			t.Errorf("the proof has %d ids, %d open: %v, want %d, 0 open", len(proof.Erased), proof.Open, err, children+2)
		}
	})
	if l.get(last.ID) != nil {
		t.Error("the grandchild is left")
	}
	l.mustCheck()
}

// changedKeys counts the lines that differ between two dumps.
func changedKeys(before, after string) int {
	was := map[string]bool{}
	for _, line := range strings.Split(before, "\n") {
		was[line] = true
	}
	n := 0
	for _, line := range strings.Split(after, "\n") {
		if was[line] {
			delete(was, line)
		} else {
			n++
		}
	}
	return n + len(was)
}

func TestEraseGivesSeatsAndPlacesBack(t *testing.T) {
	l := fleet(t, "bob")
	original, item := l.shelve("author", "one")
	l.prove(item, "bob-1")
	if e := l.must(item); e.Status != federation.StatusPromoted {
		t.Fatalf("it is %s", e.Status)
	}
	l.mustCheck()
	owner := l.must(original).Owner
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{original, owner, 0}}, nil)
	l.work()
	if n := l.counter("meta"); n != 0 {
		t.Errorf("the meta-pool counts %d", n)
	}
	l.mustCheck()
}

func TestErasedLessonIsNotDistilledAgain(t *testing.T) {
	l := fleet(t, "bob")
	rec := l.record("author", "g", true, federation.One)
	kept, _ := l.distil(rec.ID, l.item(rec.ID, "f", "secret", 1))
	owner := l.must(kept.Experiences[0]).Owner
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{kept.Experiences[0], owner, 0}}, nil)
	l.work()
	l.mustCheck()
	l.record("author", "g", true, federation.One)
	again, _ := l.distil(rec.ID, l.item(rec.ID, "f", "secret", 2), l.item(rec.ID, "g", "new", 1))
	if len(again.Experiences) != 1 || l.must(again.Experiences[0]).Content != "new" {
		t.Errorf("distilling again kept %v", again.Experiences)
	}
	l.mustCheck()
}

func TestEraseTakesOldVersionsAlong(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "v0")
	const versions = maxVersionsHeld + 20
	for i := 1; i < versions; i++ {
		text := fmt.Sprintf("v%d", i)
		l.do(KindPatchExperience, PatchExperience{
			ID: added.ID, Owner: added.Owner, Version: i, Content: text, Hash: textHash(text), Vectors: testVectors(),
		}, nil)
	}
	l.mustCheck()
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{added.ID, added.Owner, 0}}, nil)
	l.mustCheck()
	l.work()
	l.read(func(v *View, _ *Namespace) {
		if err := v.scan(key(kindVersion), upper(key(kindVersion)), func(k, _ []byte) (bool, error) {
			t.Errorf("version key %x is left", k)
			return true, nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// prove reports successes of agents about a candidate until it is promoted.
func (l *lab) prove(item ID, agents ...string) {
	l.t.Helper()
	for range 12 {
		for _, a := range agents {
			l.report(a, federation.One, item)
			l.now += 1000
			if out, ran := l.promote(item); ran && out.Done {
				return
			}
		}
	}
	l.t.Fatalf("%s was not promoted: %+v", item, l.must(item).Trust)
}
