package store

import (
	"testing"

	"cairn/federation"
)

func (l *lab) trajectory(id ID) *Trajectory {
	l.t.Helper()
	var out *Trajectory
	l.read(func(v *View, ns *Namespace) {
		rec, err := v.Trajectory(ns, id)
		if err != nil || rec == nil {
			l.t.Fatalf("trajectory %s: %v", id, err)
		}
		out = rec
	})
	return out
}

func TestGroupIsDueWhenIdleFullOrComplete(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	due := func(id ID) int64 {
		for _, j := range l.jobs() {
			if j.Subject == id {
				return j.Due - l.now
			}
		}
		return -1
	}
	open := l.record("a1", "open", false, federation.One)
	if got := due(open.ID); got != groupIdle {
		t.Errorf("an open group is due in %d ms, want %d", got, groupIdle)
	}
	l.now += 1000
	l.record("a1", "open", false, 0)
	if got := due(open.ID); got != groupIdle {
		t.Errorf("an attempt more and the group is due in %d ms, want %d again", got, groupIdle)
	}
	full := l.record("a1", "full", false, 0, 0, 0, 0, 0, 0, 0, federation.One)
	if got := due(full.ID); got != 0 {
		t.Errorf("8 attempts are due in %d ms, want at once", got)
	}
	complete := l.record("a1", "complete", true, federation.One)
	l.record("a1", "complete", false, federation.One)
	if got := due(complete.ID); got != 0 {
		t.Errorf("a complete group is due in %d ms after one attempt more, want at once", got)
	}
	l.mustCheck()
}

func TestExternalIDsAreRecordedOnce(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	b := l.recording("a1", "g", true, federation.One, 0)
	b.Attempts[0].ExternalID, b.Attempts[1].ExternalID = "x/1", "x/2"
	var first, again Recorded
	l.do(KindRecordTrajectory, b, &first)
	l.distil(first.ID)
	before := l.dump()
	b.ID = l.id()
	l.do(KindRecordTrajectory, b, &again)
	if first.Recorded != 2 || again.Recorded != 0 || again.Known != 2 || again.ID != first.ID || again.Version != 2 {
		t.Errorf("recorded %+v, then %+v", first, again)
	}
	if l.dump() != before {
		t.Error("known attempts changed the state")
	}
}

func TestAttemptCountsAsOutcomeWithoutReceipt(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	b := l.recording("a1", "g", false, federation.One, federation.One)
	b.Attempts[1].Receipt = l.id()
	l.do(KindRecordTrajectory, b, nil)
	if n := l.counter("outcomes"); n != 1 {
		t.Errorf("%d outcomes, want 1: a receipt's attempt never reports", n)
	}
	l.mustCheck()
}

func TestRecordingRefusals(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	taken := l.record("a1", "taken", false, 0)
	edit := func(fn func(*RecordTrajectory)) RecordTrajectory {
		b := l.recording("a1", "g", false, federation.One)
		fn(&b)
		return b
	}
	cases := []struct {
		name string
		body RecordTrajectory
		code string
	}{
		{"no attempts", edit(func(b *RecordTrajectory) { b.Attempts = nil }), "invalid"},
		{"too many attempts", edit(func(b *RecordTrajectory) { b.Attempts = make([]Attempt, maxAttempts+1) }), "invalid"},
		{"reward above the scale", edit(func(b *RecordTrajectory) { b.Attempts[0].Score = federation.One + 1 }), "invalid"},
		{"expectation below the scale", edit(func(b *RecordTrajectory) { b.Attempts[0].Expected = -1 }), "invalid"},
		{"unknown wish", edit(func(b *RecordTrajectory) { b.Share = "maybe" }), "invalid"},
		{"id of another group", edit(func(b *RecordTrajectory) { b.ID = taken.ID }), "conflict"},
		{"no id", edit(func(b *RecordTrajectory) { b.ID = ID{} }), "conflict"},
		{"unknown agent", edit(func(b *RecordTrajectory) { b.Agent = "a9" }), "unauthenticated"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			l.t = t
			l.refuse(KindRecordTrajectory, tc.body, tc.code)
		})
	}
	l.t = t
	l.mustCheck()
}

func TestDistillingAgain(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	rec := l.record("a1", "g", true, federation.One)
	kept, _ := l.distil(rec.ID, l.item(rec.ID, "order", "log in first", 1), l.item(rec.ID, "value", "use EUR", 1))
	if len(kept.Experiences) != 2 {
		t.Fatalf("kept %v", kept)
	}
	order, value := kept.Experiences[0], kept.Experiences[1]

	l.record("a1", "g", true, federation.One, 0)
	again, _ := l.distil(rec.ID, l.item(rec.ID, "order", "log in first", 2), l.item(rec.ID, "value", "use EUR or USD", 2))
	if e := l.must(order); e.Success != 2 || e.Status != federation.StatusActive {
		t.Errorf("the same text has support %d and is %s, want 2, active", e.Success, e.Status)
	}
	if e := l.must(value); e.Status != federation.StatusSuperseded || e.SupersededBy != again.Experiences[1] {
		t.Errorf("the old text is %s by %s, want superseded by %s", e.Status, e.SupersededBy, again.Experiences[1])
	}
	if n := l.counter("route/long_term"); n != 3 {
		t.Errorf("%d attempts routed, want 3: a group that is distilled again counts once", n)
	}
	l.mustCheck()
}

func TestGroupsShareSupport(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	one, two := l.record("a1", "g1", true, federation.One), l.record("a1", "g2", true, federation.One)
	first, _ := l.distil(one.ID, l.item(one.ID, "order", "log in first", 5))
	l.lease()
	l.now += 61_000
	second, _ := l.distil(two.ID, l.item(two.ID, "order", "log in first", 3))
	id := first.Experiences[0]
	if second.Experiences[0] != id || l.must(id).Success != 8 {
		t.Fatalf("two groups with one text: %v, support %d, want one experience with 8", second, l.must(id).Success)
	}
	l.record("a1", "g2", true, federation.One)
	l.distil(two.ID, l.item(two.ID, "order", "log in first", 4))
	if e := l.must(id); e.Success != 9 {
		t.Errorf("support is %d after one success more, want 9", e.Success)
	}
	l.record("a1", "g2", true, 0)
	moved, _ := l.distil(two.ID, l.item(two.ID, "order", "search first", 4))
	if e := l.must(id); e.Success != 5 || e.Status != federation.StatusActive || len(e.Lineage.Trajectories) != 1 {
		t.Errorf("after one group said something else: %+v, want support 5 from one group, active", e)
	}
	if e := l.must(moved.Experiences[0]); e.Success != 4 {
		t.Errorf("the new text has support %d, want 4", e.Success)
	}
	l.mustCheck()
}

func TestNearDuplicateOfAGroupCountsOnce(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	one, two := l.record("a1", "g1", true, federation.One), l.record("a1", "g2", true, federation.One)
	first, _ := l.distil(one.ID, l.item(one.ID, "order", "log in first", 5))
	into := l.must(first.Experiences[0])
	l.lease()
	near := func(success int) DistilledItem {
		item := l.item(two.ID, "order", "first, log in", success)
		item.MergeInto, item.MergeVer = into.ID, into.Version
		return item
	}
	l.now += 61_000
	l.distil(two.ID, near(3))
	l.record("a1", "g2", true, federation.One)
	l.distil(two.ID, near(4))
	if e := l.must(into.ID); e.Success != 9 {
		t.Errorf("support is %d, want 5 of one group and 4 of the other", e.Success)
	}
	l.mustCheck()
}

func TestDistilledRefusals(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	rec := l.record("a1", "g", true, federation.One)
	taken := l.add("a1", "taken")
	shelved := l.item(rec.ID, "f", "x", 1)
	shelved.Experience.Status = federation.StatusPromoted
	clash := l.item(rec.ID, "f", "y", 1)
	clash.Experience.ID = taken.ID
	merge := l.item(rec.ID, "f", "z", 1)
	merge.MergeInto, merge.MergeVer = taken.ID, 7
	for name, tc := range map[string]struct {
		item DistilledItem
		code string
	}{"a promoted one": {shelved, "invalid"}, "a known id": {clash, "conflict"}, "a target that changed": {merge, "precondition"}} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			l.now += 61_000
			if _, rej := l.distil(rec.ID, tc.item); rej == nil || rej.Code != tc.code {
				t.Errorf("got %v, want %s", rej, tc.code)
			}
		})
	}
	l.t = t
	l.mustCheck()
}

func TestGateBufferEvictsAndExpires(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	buffered := func(text string) Added {
		return l.add("a1", text, func(e *Experience) { e.Status = federation.StatusBuffered })
	}
	first := buffered("first")
	if e := l.must(first.ID); e.Status != federation.StatusBuffered || e.ExpiresAt != l.now+bufferTTL {
		t.Fatalf("buffered: %+v", e)
	}
	l.now += bufferTTL - 1
	if out := l.tick(); out.Expired != 0 {
		t.Errorf("%d expired a millisecond early", out.Expired)
	}
	l.now++
	if out := l.tick(); out.Expired != 1 {
		t.Errorf("%d expired, want 1", out.Expired)
	}
	if e := l.must(first.ID); e.Status != federation.StatusArchived {
		t.Errorf("an expired one is %s, want archived", e.Status)
	}
	l.do(KindRestore, Target{ID: first.ID, Owner: a.Number}, nil)
	l.mustCheck()
	second := buffered("second")
	l.now += bufferTTL
	l.tick()
	l.now += restoreUntil
	l.tick()
	if l.get(second.ID) != nil {
		t.Error("an archived experience stands after the time to restore it")
	}
	l.mustCheck()
}

func TestFullBufferDropsTheOldest(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	for i := range bufferCap + 2 {
		e := l.lesson("lesson " + string(rune('a'+i%26)) + numbered(uint64(i)).String())
		e.Agent, e.Status = "a1", federation.StatusBuffered
		l.do(KindAddExperience, AddExperience{Experience: e, Vectors: testVectors()}, nil)
	}
	if n := l.counter(bufferCounter(a.Number)); n != bufferCap {
		t.Errorf("the buffer holds %d, want %d", n, bufferCap)
	}
	if n := l.counter("status/archived"); n != 2 {
		t.Errorf("%d were archived, want the 2 oldest", n)
	}
	l.mustCheck()
}
