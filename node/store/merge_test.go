package store

import (
	"testing"

	"cairn/federation"
)

func (l *lab) merges(owner uint32) (out []Merge) {
	l.t.Helper()
	l.read(func(v *View, ns *Namespace) {
		if err := v.Merges(ns, owner, nil, func(_ []byte, m *Merge) bool { out = append(out, *m); return true }); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

// mergeInto records a lesson as a near duplicate of another.
func (l *lab) mergeInto(into ID, agent, text string, with ...func(*Experience)) Experience {
	l.t.Helper()
	e := l.lesson(text)
	e.Agent = agent
	for _, fn := range with {
		fn(&e)
	}
	l.do(KindAddExperience, AddExperience{
		Experience: e, Vectors: testVectors(), MergeInto: into, MergeVer: l.must(into).Version,
	}, nil)
	return e
}

func TestUndoOfADirectDuplicate(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	into := l.add("a1", "log in first")
	e := l.mergeInto(into.ID, "a1", "first, log in")
	list := l.merges(a.Number)
	if len(list) != 1 || list[0].From != e.ID || list[0].Into != into.ID || list[0].Cause != MergeDuplicate || list[0].UndoneAt != 0 {
		t.Fatalf("merges %+v", list)
	}
	l.now++
	var m Merge
	undo := UndoMerge{From: e.ID, Owner: a.Number, By: "a1"}
	l.do(KindUndoMerge, undo, &m)
	if m.UndoneAt != l.now || m.UndoneBy != "a1" {
		t.Errorf("undone as %+v", m)
	}
	got := l.must(e.ID)
	if got.Status != federation.StatusActive || got.SupersededBy != (ID{}) || l.must(into.ID).Status != federation.StatusActive {
		t.Errorf("the two are %s by %s and %s", got.Status, got.SupersededBy, l.must(into.ID).Status)
	}
	l.mustCheck()
	l.refuse(KindUndoMerge, undo, "conflict")
	l.refuse(KindUndoMerge, UndoMerge{From: into.ID, Owner: a.Number}, "not_found")
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{e.ID, a.Number, 0}}, nil)
	l.refuse(KindUndoMerge, undo, "not_found")
	if list := l.merges(a.Number); len(list) != 0 {
		t.Errorf("the erased one's merge is still listed: %+v", list)
	}
	l.mustCheck()
}

func TestUndoGivesSupportBack(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	one, two := l.record("a1", "g1", true, federation.One), l.record("a1", "g2", true, federation.One)
	first, _ := l.distil(one.ID, l.item(one.ID, "order", "log in first", 5))
	into := first.Experiences[0]
	near := func(success int) DistilledItem {
		item := l.item(two.ID, "order", "first, log in", success)
		item.MergeInto, item.MergeVer = into, l.must(into).Version
		return item
	}
	l.lease()
	l.now += 61_000
	item := near(3)
	l.distil(two.ID, item)
	if e := l.must(into); e.Success != 8 || len(e.Lineage.Trajectories) != 2 {
		t.Fatalf("merged: support %d of %v", e.Success, e.Lineage.Trajectories)
	}
	l.do(KindUndoMerge, UndoMerge{From: item.Experience.ID, Owner: a.Number, By: "a1"}, nil)
	if e := l.must(into); e.Success != 5 || len(e.Lineage.Trajectories) != 1 {
		t.Errorf("the survivor has support %d of %v, want its own 5 of one group", e.Success, e.Lineage.Trajectories)
	}
	if e := l.must(item.Experience.ID); e.Success != 3 || e.Status != federation.StatusActive {
		t.Errorf("the restored one is %s with support %d, want active with 3", e.Status, e.Success)
	}
	l.mustCheck()

	// Distilling the group again keeps the two apart and counts once.
	l.record("a1", "g2", true, federation.One)
	again, _ := l.distil(two.ID, near(4))
	if len(again.Experiences) != 1 || again.Experiences[0] != item.Experience.ID {
		t.Errorf("distilled again into %v, want %s", again.Experiences, item.Experience.ID)
	}
	if e := l.must(item.Experience.ID); e.Success != 4 {
		t.Errorf("support %d, want 4", e.Success)
	}
	if e := l.must(into); e.Success != 5 {
		t.Errorf("the survivor has support %d, want 5", e.Success)
	}
	l.mustCheck()
}

func TestUndoBringsARevisedLessonBack(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	rec := l.record("a1", "g", true, federation.One)
	first, _ := l.distil(rec.ID, l.item(rec.ID, "order", "log in first", 1))
	l.record("a1", "g", true, federation.One)
	second, _ := l.distil(rec.ID, l.item(rec.ID, "order", "log in last", 2))
	list := l.merges(a.Number)
	if len(list) != 1 || list[0].Cause != MergeRevised || list[0].From != first.Experiences[0] || list[0].Into != second.Experiences[0] {
		t.Fatalf("merges %+v", list)
	}
	l.do(KindUndoMerge, UndoMerge{From: list[0].From, Owner: a.Number, By: "admin"}, nil)
	for _, id := range []ID{list[0].From, list[0].Into} {
		if e := l.must(id); e.Status != federation.StatusActive {
			t.Errorf("%s is %s", id, e.Status)
		}
	}
	l.mustCheck()
}

func TestUndoOfABufferedOneAndOfOneWhoseTextIsTaken(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	into := l.add("a1", "log in first")
	e := l.mergeInto(into.ID, "a1", "first, log in", func(e *Experience) { e.Status = federation.StatusBuffered })
	l.add("a1", "first, log in")
	l.refuse(KindUndoMerge, UndoMerge{From: e.ID, Owner: a.Number}, "conflict")
	other := l.mergeInto(into.ID, "a1", "do log in first", func(e *Experience) { e.Status = federation.StatusBuffered })
	l.do(KindUndoMerge, UndoMerge{From: other.ID, Owner: a.Number}, nil)
	if got := l.must(other.ID); got.Status != federation.StatusBuffered || got.ExpiresAt != l.now+bufferTTL {
		t.Errorf("it is %s until %d", got.Status, got.ExpiresAt)
	}
	l.mustCheck()
}
