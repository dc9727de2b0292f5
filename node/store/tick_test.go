package store

import (
	"fmt"
	"testing"

	"cairn/federation"
)

func TestTickExpiresReceiptsAndAttempts(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "one")
	l.report("author", federation.One, added.ID)
	rec := l.record("author", "g", false, federation.One)
	l.now += rawRetention
	if out := l.tick(); out.Attempts != 1 || out.Receipts != 0 {
		t.Errorf("after 30 days: %+v", out)
	}
	l.read(func(v *View, ns *Namespace) {
		traj, err := v.Trajectory(ns, rec.ID)
		if err != nil || !traj.Purged {
			t.Fatalf("trajectory %+v: %v", traj, err)
		}
		attempts, err := v.Attempts(ns, traj, 0)
		if err != nil || len(attempts) != 1 || attempts[0].Steps != nil || attempts[0].Score != federation.One {
			t.Errorf("attempts %+v: %v, want the reward without the steps", attempts, err)
		}
	})
	l.now += ReceiptKept
	if out := l.tick(); out.Receipts != 1 {
		t.Errorf("after 90 days: %+v", out)
	}
	l.mustCheck()
}

func TestTickExpiresTheFeedOfEveryNamespace(t *testing.T) {
	l := newLab(t)
	l.do(KindCreateNamespace, CreateNamespace{"other", testKey("other")}, nil)
	for _, ns := range []string{DefaultNamespace, "other"} {
		l.ns = ns
		l.agent("author", "alice")
		l.agent("bob-1", "bob")
		_, item := l.shelve("author", "one")
		weak := l.outcome(l.recall("bob-1", item), federation.One)
		weak.Evidence = federation.EvidenceSelf
		l.do(KindOutcome, weak, nil)
	}
	l.now += 14 * day
	var out Ticked
	l.do(KindTick, Tick{}, &out) // strikes the silent jurors of both: events of both in one entry
	if out.Struck != 2 {
		t.Fatalf("struck %d, want 2", out.Struck)
	}
	l.mustCheck()
	at, _ := l.s.Applied()
	l.now += feedKept
	l.tick()
	for _, ns := range []string{DefaultNamespace, "other"} {
		l.ns = ns
		l.read(func(v *View, ns *Namespace) {
			oldest, err := v.OldestEvent(ns)
			if err != nil || oldest < at {
				t.Errorf("%s: the feed is complete from %d: %v, want %d or later", ns.ID, oldest, err, at)
			}
		})
	}
	l.mustCheck()
}

func TestTickWritesABoundedNumberOfKeys(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "one")
	for range 400 {
		l.do(KindReceipts, Receipts{[]Receipt{l.recall("author", added.ID)}}, nil)
	}
	for i := range 400 {
		c := l.command(KindUpdatePrincipal, UpdatePrincipal{ID: "bob"})
		c.Actor, c.Client, c.Seq = "author", "node/1", uint64(i+1)
		c.Idem = &Idempotency{Key: fmt.Sprint(i)}
		l.entry(c)
	}
	l.now += ReceiptKept
	ticks := 0
	for more := true; more; ticks++ {
		before := l.dump()
		var out Ticked
		l.do(KindTick, Tick{}, &out)
		if n := changedKeys(before, l.dump()); n > 1000 {
			t.Fatalf("tick %d changed %d keys", ticks, n)
		}
		more = out.More
	}
	if ticks < 2 {
		t.Errorf("%d tick did it all: the bound was not reached", ticks)
	}
	l.read(func(v *View, _ *Namespace) {
		for _, kind := range []keyKind{kindReceipt, kindIdem, kindClient, kindGiven} {
			if err := v.scan(key(kind), upper(key(kind)), func(k, _ []byte) (bool, error) {
				t.Errorf("key %x is left", k)
				return false, nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
	l.mustCheck()
}

func TestChangeLogSaysWhereItIsComplete(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "one")
	at, _ := l.s.Applied()
	oldest := func() (n uint64) {
		l.read(func(v *View, _ *Namespace) {
			var err error
			if n, err = v.OldestChange(); err != nil {
				t.Fatal(err)
			}
		})
		return n
	}
	if n := oldest(); n != 0 {
		t.Errorf("complete from %d, want 0: nothing was trimmed", n)
	}
	// Entries without commands move the index far on.
	if _, err := l.s.Apply(at+changesKept+10, 1, []int64{l.now}, [][]byte{nil}); err != nil {
		t.Fatal(err)
	}
	l.tick()
	if n := oldest(); n != at+1 {
		t.Errorf("complete from %d, want %d, after the last change", n, at+1)
	}
	l.do(KindReceipts, Receipts{[]Receipt{l.recall("author", added.ID)}}, nil)
	l.read(func(v *View, _ *Namespace) {
		var seen []ID
		if err := v.Changes(at, func(_ uint64, c *Change) bool { seen = append(seen, c.ID); return true }); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 1 || seen[0] != added.ID {
			t.Errorf("changes %v, want one of %s", seen, added.ID)
		}
	})
}

func TestARecordIsChangedOnceAnEntry(t *testing.T) {
	l := fleet(t, "bob")
	added := l.add("author", "one")
	at, _ := l.s.Applied()
	l.do(KindReceipts, Receipts{[]Receipt{l.recall("author", added.ID), l.recall("author", added.ID)}}, nil)
	l.read(func(v *View, _ *Namespace) {
		n := 0
		if err := v.Changes(at, func(uint64, *Change) bool { n++; return true }); err != nil || n != 1 {
			t.Errorf("%d changes: %v, want 1", n, err)
		}
	})
}

func TestSweepVisitsManyNamespaces(t *testing.T) {
	l := newLab(t)
	const namespaces = 3*sweepNamespaces + 5
	for i := range namespaces {
		l.ns = DefaultNamespace
		name := fmt.Sprintf("ns-%d", i)
		l.do(KindCreateNamespace, CreateNamespace{name, testKey(name)}, nil)
		l.ns = name
		l.agent("author", "alice")
		l.agent("bob-1", "bob")
		l.shelve("author", "one")
	}
	l.now += 14 * day
	struck := 0
	for range 5 {
		struck += l.tick().Struck
	}
	if struck != namespaces {
		t.Errorf("struck %d, want one in each of %d namespaces", struck, namespaces)
	}
	l.mustCheck()
}

func TestPromotionCountsOfPastDaysGo(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	l.prove(item, "bob-1")
	count := func() (n int) {
		l.read(func(v *View, _ *Namespace) {
			if err := v.scan(key(kindQuota), upper(key(kindQuota)), func(_, _ []byte) (bool, error) { n++; return true, nil }); err != nil {
				t.Fatal(err)
			}
		})
		return n
	}
	l.tick()
	if count() != 1 {
		t.Error("today's count is gone")
	}
	l.now += quotaKept * day
	l.tick()
	if count() != 0 {
		t.Error("an old count is left")
	}
}
