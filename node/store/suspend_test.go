package store

import (
	"testing"

	"cairn/federation"
)

func TestSuspendedPrincipalDoesNotWrite(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	receipt := l.recall("bob-1", item)
	suspend := func(yes bool) { l.do(KindUpdatePrincipal, UpdatePrincipal{ID: "bob", Suspended: &yes}, nil) }
	as := func(kind Kind, body any) Result {
		c := l.command(kind, body)
		c.Actor = "bob-1"
		return l.entry(c)
	}
	lesson := l.lesson("two")
	lesson.Agent = "bob-1"
	suspend(true)
	before := l.dump()
	for kind, body := range map[Kind]any{
		KindAddExperience:    AddExperience{Experience: lesson, Vectors: testVectors()},
		KindOutcome:          l.outcome(receipt, federation.One),
		KindRecordTrajectory: l.recording("bob-1", "g", true, federation.One),
	} {
		if r := as(kind, body); r.Reject == nil || r.Reject.Code != "denied" {
			t.Errorf("kind %d of a suspended principal: %+v, want denied", kind, r.Reject)
		}
	}
	if l.dump() != before {
		t.Error("a refused write changed the state")
	}
	suspend(false)
	if r := as(KindAddExperience, AddExperience{Experience: lesson, Vectors: testVectors()}); r.Reject != nil {
		t.Errorf("after it was lifted: %v", r.Reject)
	}
}
