package store

import (
	"slices"
	"testing"

	"cairn/federation"
)

// claimsIn makes a lesson one of a task group.
func claimsIn(group string) func(*Experience) {
	return func(e *Experience) { e.Group = textHash(group) }
}

// onShelf nominates a lesson of a task group and gives the candidate.
func (l *lab) onShelf(agent, text, group string, with ...func(*Experience)) ID {
	l.t.Helper()
	added := l.add(agent, text, append(with, share(federation.ShareCandidate), claimsIn(group))...)
	job, ok := l.leaseOf(JobNominate, added.ID)
	if !ok {
		l.t.Fatalf("no nomination job for %s", added.ID)
	}
	out := l.nominate(l.must(added.ID), job, func(n *Nominate) { n.Copy.Hash = textHash(agent + text) })
	if out.Reason != "" {
		l.t.Fatalf("not nominated: %s", out.Reason)
	}
	return out.Candidate
}

func (l *lab) ledger(author, reader string) federation.Ledger {
	l.t.Helper()
	var out federation.Ledger
	l.read(func(v *View, ns *Namespace) {
		var err error
		if out, err = v.Ledger(ns, author, reader); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

func (l *lab) wantLedger(what, author, reader string, agreed, contradicted int64) {
	l.t.Helper()
	if got := l.ledger(author, reader); got != (federation.Ledger{Agreed: agreed, Contradicted: contradicted}) {
		l.t.Errorf("%s: %s to %s is %+v, want %d agreed, %d contradicted", what, author, reader, got, agreed, contradicted)
	}
}

// tell reports an outcome in a task group, naming what was used.
func (l *lab) tell(agent, group string, reward federation.Micro, kind federation.EvidenceKind, used ...ID) Outcome {
	l.t.Helper()
	r := l.recall(agent, used...)
	r.Group = textHash(group)
	o := l.outcome(r, reward)
	o.Evidence = kind
	for i := range o.Credits {
		o.Credits[i].Named = true
	}
	l.do(KindOutcome, o, nil)
	return o
}

func TestLedgerWhicheverComesFirst(t *testing.T) {
	const verified = federation.EvidenceVerified
	for _, first := range []string{"claim", "outcome"} {
		t.Run(first, func(t *testing.T) {
			l := fleet(t, "bob", "carol")
			own := l.add("bob-1", "take the early flight", claimsIn("trip")).ID
			outcome := func() { l.tell("bob-1", "trip", federation.One, verified, own) }
			if first == "outcome" {
				outcome()
			}
			l.onShelf("author", "Take the early  flight.", "trip")
			if first == "claim" {
				l.wantLedger("a claim alone", "alice", "bob", 0, 0)
				outcome()
			}
			l.wantLedger("one pair", "alice", "bob", 1, 0)
			l.wantLedger("somebody else", "alice", "carol", 0, 0)
			l.tell("bob-1", "trip", 0, verified, own)
			l.tell("bob-1", "trip", 0, verified, own)
			l.wantLedger("two failures after it", "alice", "bob", 1, 2)
			l.mustCheck()
		})
	}
}

func TestLedgerCountsNothingElse(t *testing.T) {
	l := fleet(t, "bob", "carol")
	own := l.add("bob-1", "take the early flight", claimsIn("trip")).ID
	l.now++ // or the lesson would be of the turn
	mine := l.add("author", "take the early flight", claimsIn("trip")).ID
	l.onShelf("author", "take the early flight.", "trip")
	l.tell("bob-1", "trip", federation.One, federation.EvidenceJudge, own)
	l.tell("bob-1", "trip", federation.One, federation.EvidenceSelf, own)
	l.tell("bob-1", "another", federation.One, federation.EvidenceVerified, own)
	l.wantLedger("other evidence, other task", "alice", "bob", 0, 0)
	unnamed := l.recall("bob-1", own)
	unnamed.Group = textHash("trip")
	l.do(KindOutcome, l.outcome(unnamed, federation.One), nil)
	l.wantLedger("not said to be used", "alice", "bob", 0, 0)
	l.tell("author", "trip", federation.One, federation.EvidenceVerified, mine)
	l.wantLedger("one's own", "alice", "alice", 0, 0)
	said := l.tell("bob-1", "trip", federation.One, federation.EvidenceVerified, own)
	l.refuse(KindOutcome, said, "conflict")
	l.wantLedger("once an outcome", "alice", "bob", 1, 0)
}

func TestLedgerFailureClaims(t *testing.T) {
	l := fleet(t, "bob")
	own := l.add("bob-1", "press the red button", claimsIn("door")).ID
	l.onShelf("author", "press the red button!", "door", func(e *Experience) { e.Fails = true })
	l.tell("bob-1", "door", 0, federation.EvidenceVerified, own)
	l.wantLedger("it failed as claimed", "alice", "bob", 1, 0)
	l.tell("bob-1", "door", federation.One, federation.EvidenceVerified, own)
	l.wantLedger("it worked", "alice", "bob", 1, 1)
}

func TestLedgerAttachedAttempt(t *testing.T) {
	l := fleet(t, "bob")
	call := federation.CallAction("open", []byte(`{"door":"left"}`))
	l.onShelf("author", "the left door leads out", "door", func(e *Experience) { e.Actions = [][32]byte{call} })
	r := l.recall("bob-1")
	r.Group = textHash("door")
	o := l.outcome(r, federation.One)
	o.Actions = [][32]byte{call}
	l.do(KindOutcome, o, nil)
	l.wantLedger("the same first call", "alice", "bob", 1, 0)
}

func TestLedgerOwnLessonOfTheTurn(t *testing.T) {
	for _, first := range []string{"lesson", "outcome"} {
		l := fleet(t, "bob")
		l.onShelf("author", "take the early flight.", "trip")
		r := l.recall("bob-1")
		r.Group = textHash("trip")
		steps := []func(){
			func() { l.add("bob-1", "take the early flight", claimsIn("trip")) },
			func() { l.do(KindOutcome, l.outcome(r, federation.One), nil) },
		}
		if first == "outcome" {
			slices.Reverse(steps)
		}
		for _, step := range steps {
			step()
		}
		l.wantLedger(first+" first", "alice", "bob", 1, 0)
		// A lesson drawn from a failure says what to do instead: the failure says nothing about it.
		later := l.recall("bob-1")
		later.Group, later.At = textHash("trip"), l.now
		l.add("bob-1", "take the early flight of another line", claimsIn("trip"))
		l.do(KindOutcome, l.outcome(later, 0), nil)
		l.wantLedger("a failure", "alice", "bob", 1, 0)
	}
}

func TestLedgerReceiptComesLate(t *testing.T) {
	l := fleet(t, "bob")
	own := l.add("bob-1", "take the early flight", claimsIn("trip")).ID
	l.onShelf("author", "take the early flight.", "trip")
	full := l.recall("bob-1", own)
	full.Group = textHash("trip")
	signed := full
	signed.Group = [32]byte{}
	o := l.outcome(signed, federation.One)
	o.Credits[0].Named = true
	l.do(KindOutcome, o, nil)
	l.wantLedger("the group is not known", "alice", "bob", 0, 0)
	for range 2 {
		l.do(KindReceipts, Receipts{Receipts: []Receipt{full}}, nil)
		l.wantLedger("once the receipt is there", "alice", "bob", 1, 0)
	}
}

func TestLedgerOfSuspendedIsDropped(t *testing.T) {
	l := fleet(t, "bob")
	own := l.add("bob-1", "take the early flight", claimsIn("trip")).ID
	l.onShelf("author", "take the early flight.", "trip")
	l.tell("bob-1", "trip", federation.One, federation.EvidenceVerified, own)
	yes := true
	l.do(KindUpdatePrincipal, UpdatePrincipal{ID: "alice", Suspended: &yes}, nil)
	l.wantLedger("suspended", "alice", "bob", 0, 0)
}

// keysOf counts what is stored of a kind.
func (l *lab) keysOf(kind keyKind) (n int) {
	l.t.Helper()
	l.read(func(v *View, ns *Namespace) {
		k := nsKey(kind, ns.Number)
		if err := v.scan(k, upper(k), func(_, _ []byte) (bool, error) { n++; return true, nil }); err != nil {
			l.t.Fatal(err)
		}
	})
	return n
}

func TestDeedsGoWithTheirReceipt(t *testing.T) {
	l := fleet(t, "bob")
	own := l.add("bob-1", "take the early flight", claimsIn("trip")).ID
	l.tell("bob-1", "trip", federation.One, federation.EvidenceVerified, own)
	if l.keysOf(kindDeed) == 0 || l.keysOf(kindTurn) == 0 {
		t.Fatal("a verified outcome left nothing")
	}
	l.now += ReceiptKept + 1
	l.tick()
	if n := l.keysOf(kindDeed) + l.keysOf(kindTurn); n != 0 {
		t.Errorf("%d records outlive the receipt", n)
	}
}

func TestDisprovedJurorKeepsItsSeat(t *testing.T) {
	l := fleet(t, "bob", "carol")
	own := l.add("bob-1", "take the early flight", claimsIn("trip")).ID
	id := l.onShelf("author", "take the early flight.", "trip")
	l.tell("bob-1", "trip", 0, federation.EvidenceVerified, own)
	l.now += 15 * day
	l.tick()
	l.read(func(v *View, ns *Namespace) {
		jury, err := v.Jury(ns, id)
		if err != nil || jury == nil {
			t.Fatalf("no jury: %v", err)
		}
		if !jury.Sits(JurorOf("", "bob", "")) || jury.Sits(JurorOf("", "carol", "")) {
			t.Errorf("seats %+v: want bob, to whom the author is disproved, and not the silent carol", jury.Seats)
		}
	})
}
