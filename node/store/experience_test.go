package store

import (
	"testing"

	"cairn/federation"
)

func TestSameTextIsOneExperience(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	l.agent("a2", "alice")
	first, again := l.add("a1", "one"), l.add("a1", "one")
	if !again.Merged || again.ID != first.ID {
		t.Errorf("the same text again: %+v, want merged into %s", again, first.ID)
	}
	if other := l.add("a2", "one"); other.Merged {
		t.Error("the same text of another agent was merged across pools")
	}
	l.mustCheck()
}

func TestProposerCannotSetWhatTheStateDecides(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	added := l.add("a1", "one", func(e *Experience) {
		e.Owner, e.Principal, e.Version, e.PromotedAt, e.General = SharedOwner, "bob", 9, 1, true
		e.Recalled, e.Helped, e.Uses = 9, 9, 9
		e.Own, e.Trust, e.Candidate = federation.OwnRecord{C: 9}, &federation.Score{Trust: 1}, l.id()
	})
	e := l.must(added.ID)
	if e.Owner != a.Number || e.Principal != "alice" || e.Version != 1 || e.PromotedAt != 0 || e.General || e.Recalled != 0 ||
		e.Helped != 0 || e.Uses != 0 || e.Own.C != 0 || e.Trust != nil || e.Candidate != (ID{}) {
		t.Errorf("a new experience is %+v", e)
	}
	l.mustCheck()
}

func TestPatchMakesAVersion(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	added, other := l.add("a1", "one"), l.add("a1", "two")
	patch := func(version int, text string) PatchExperience {
		return PatchExperience{ID: added.ID, Owner: a.Number, Version: version, Scenario: "s", Content: text, Hash: textHash(text)}
	}
	l.refuse(KindPatchExperience, patch(2, "new"), "precondition")
	l.refuse(KindPatchExperience, patch(1, "two"), "conflict")
	l.do(KindPatchExperience, patch(1, "new"), nil)
	l.read(func(v *View, ns *Namespace) {
		old, err := v.VersionOf(ns.Number, a.Number, added.ID, 1)
		if err != nil || old == nil || old.Content != "one" {
			t.Errorf("version 1 is %+v: %v", old, err)
		}
		gone, err := v.ByHash(ns, a.Number, textHash("one"))
		if err != nil || gone != nil {
			t.Errorf("the old text still leads to %+v: %v", gone, err)
		}
		now, err := v.ByHash(ns, a.Number, textHash("new"))
		if err != nil || now == nil || now.ID != added.ID || now.Version != 2 {
			t.Errorf("the new text leads to %+v: %v", now, err)
		}
	})
	job, ok := l.leaseOf(JobEmbed, added.ID)
	if !ok {
		t.Fatal("a version without vectors is not embedded")
	}
	l.do(KindSetVectors, SetVectors{Job: ref(job), Target: Target{added.ID, a.Number, 2}, Vectors: testVectors()}, nil)
	l.do(KindPatchExperience, PatchExperience{ID: other.ID, Owner: a.Number, Version: 1, Content: "one", Hash: textHash("one")}, nil)
	l.mustCheck()
}

func TestPatchWithoutChangeMakesNone(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	e := l.must(l.add("a1", "one").ID)
	var got Added
	l.do(KindPatchExperience, PatchExperience{
		ID: e.ID, Owner: a.Number, Version: 1, Scenario: e.Scenario, Content: e.Content, Keywords: e.Keywords, Tools: e.Tools,
		Preconditions: e.Preconditions, ValidUntil: e.ValidUntil, Share: e.Share, Hash: e.Hash,
	}, &got)
	if now := l.must(e.ID); got.Version != 1 || now.Version != 1 {
		t.Errorf("answer %+v, version %d stands", got, now.Version)
	}
	l.mustCheck()
}

func TestVectorsOfAnOldVersionAreDropped(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	e := l.lesson("one")
	e.Agent = "a1"
	l.do(KindAddExperience, AddExperience{Experience: e}, nil)
	job, ok := l.leaseOf(JobEmbed, e.ID)
	if !ok {
		t.Fatal("no embedding job")
	}
	l.do(KindPatchExperience, PatchExperience{ID: e.ID, Owner: a.Number, Version: 1, Content: "two", Hash: textHash("two")}, nil)
	l.do(KindSetVectors, SetVectors{Job: ref(job), Target: Target{e.ID, a.Number, 1}, Vectors: testVectors()}, nil)
	l.read(func(v *View, ns *Namespace) {
		got, err := v.VectorsOf(ns.Number, a.Number, e.ID)
		if err != nil || len(got.Vectors) != 0 || got.Version != 2 {
			t.Errorf("vectors %+v: %v, want none of version 2 yet", got, err)
		}
	})
	if _, ok := l.leaseOf(JobEmbed, e.ID); !ok {
		t.Error("the new version is not embedded")
	}
	l.mustCheck()
}

func TestNearDuplicateIsKeptBeside(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	into := l.add("a1", "log in first")
	e := l.lesson("first, log in")
	e.Agent, e.Share = "a1", federation.ShareNever
	var out Added
	l.do(KindAddExperience, AddExperience{Experience: e, Vectors: testVectors(), MergeInto: into.ID, MergeVer: 1}, &out)
	if !out.Merged || out.ID != into.ID {
		t.Fatalf("got %+v, want merged into %s", out, into.ID)
	}
	if got := l.must(e.ID); got.Status != federation.StatusSuperseded || got.SupersededBy != into.ID {
		t.Errorf("the other is %s by %s", got.Status, got.SupersededBy)
	}
	if got := l.must(into.ID); got.Share != federation.ShareNever {
		t.Errorf("share is %q: never wins over every other wish", got.Share)
	}
	e.ID = l.id()
	l.refuse(KindAddExperience, AddExperience{Experience: e, MergeInto: into.ID, MergeVer: 2}, "precondition")
	l.mustCheck()
}

func TestRestoreRefusals(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	live := l.add("a1", "one")
	l.refuse(KindRestore, Target{ID: live.ID, Owner: a.Number}, "conflict")
	l.refuse(KindRestore, Target{ID: numbered(99), Owner: a.Number}, "not_found")
	old := l.add("a1", "two", func(e *Experience) { e.Status = federation.StatusBuffered })
	l.now += bufferTTL
	l.tick()
	l.add("a1", "two")
	l.refuse(KindRestore, Target{ID: old.ID, Owner: a.Number}, "conflict")
	l.mustCheck()
}

func TestUselessExperienceIsArchived(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	for range 4 {
		l.record("a1", "base", false, federation.One) // a base rate to fall below
	}
	bad := l.add("a1", "bad")
	var out Reported
	for range 5 {
		out = l.report("a1", 0, bad.ID)
	}
	if e := l.must(bad.ID); e.Status != federation.StatusArchived || len(out.Archived) != 1 {
		t.Fatalf("after 5 recalls without help it is %s, reported %v", e.Status, out.Archived)
	}
	l.do(KindRestore, Target{ID: bad.ID, Owner: a.Number}, nil)
	if e := l.must(bad.ID); e.Recalled != 0 || e.Status != federation.StatusActive {
		t.Errorf("restored: %+v", e)
	}
	l.mustCheck()
}

func TestDistillingDoesNotBringBackWhatDidNotHelp(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	for range 4 {
		l.record("a1", "base", false, federation.One)
	}
	rec := l.record("a1", "g", true, federation.One)
	kept, _ := l.distil(rec.ID, l.item(rec.ID, "f", "bad", 1))
	id := kept.Experiences[0]
	for range 5 {
		l.report("a1", 0, id)
	}
	if e := l.must(id); e.Status != federation.StatusArchived {
		t.Fatalf("it is %s", e.Status)
	}
	l.record("a1", "g", true, federation.One)
	if again, _ := l.distil(rec.ID, l.item(rec.ID, "f", "bad", 2)); len(again.Experiences) != 0 {
		t.Errorf("the job brought it back as %v", again.Experiences)
	}
	l.mustCheck()
}
