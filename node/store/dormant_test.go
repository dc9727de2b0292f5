package store

import (
	"testing"

	"cairn/federation"
)

func TestLongDisuseMarksDormant(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	for range 8 {
		l.report("bob-1", federation.One, item)
		l.do(KindOutcome, l.outcome(l.recall("bob-1"), 0), nil) // keeps the expectation down
		if out, ok := l.promote(item); ok && out.Done {
			break
		}
	}
	want := func(when string, status federation.Status) {
		t.Helper()
		l.tick()
		if got := l.must(item).Status; got != status {
			t.Fatalf("%s: %s, want %s", when, got, status)
		}
		l.mustCheck()
	}
	want("promoted", federation.StatusPromoted)
	trust := l.must(item).Trust.Trust
	l.now += dormantAfter - day
	want("a day before", federation.StatusPromoted)
	l.now += day
	want("unused for long", federation.StatusDormant)
	if got := l.must(item).Trust.Trust; got != trust {
		t.Errorf("disuse moved trust from %d to %d", trust, got)
	}
	l.do(KindReceipts, Receipts{Receipts: []Receipt{l.recall("bob-1", item)}}, nil)
	want("given again", federation.StatusPromoted)
}
