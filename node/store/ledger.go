package store

import (
	"slices"
	"strconv"
	"strings"

	"cairn/federation"
)

// The reader's ledger: what a principal's own verified outcomes say about the live candidates of another. A deed and a claim
// meet under their link, whichever came first, and each pair of an outcome and a candidate counts once.

const (
	maxActions = 8         // that one outcome or one experience is about
	linkLook   = 256       // deeds or claims under one link that are looked at, oldest first
	turnLasts  = 3_600_000 // ms within which a lesson and an outcome in one task group are of one turn
	ledgerDrop = 900       // rows that one command drops
)

// deed is one action of a verified outcome.
type deed struct {
	Reader  string `cbor:"1,keyasint"`
	Success bool   `cbor:"2,keyasint,omitempty"`
}

// turn is what an agent last did in a task group: the lesson it recorded and the verified outcome it reported.
type turn struct {
	Lesson   [32]byte `cbor:"1,keyasint"`
	Fails    bool     `cbor:"2,keyasint,omitempty"`
	LessonAt int64    `cbor:"3,keyasint,omitempty"`
	Recall   ID       `cbor:"4,keyasint"`
	Success  bool     `cbor:"5,keyasint,omitempty"`
	At       int64    `cbor:"6,keyasint,omitempty"`
}

// LedgerRow is what one reader's outcomes say about one author.
type LedgerRow struct {
	Author, Reader string
	federation.Ledger
}

func ledgerKey(ns uint32, author, reader string) keyBuf {
	return nsKey(kindLedger, ns).word(author).str(reader)
}

func (t *txn) turnKey(agent uint32, group [32]byte) keyBuf {
	return nsKey(kindTurn, t.ns.Number).u32(agent).hash(group)
}

// links are the places where deeds and claims about a task and some actions meet. A task has one or two names.
func links(group, task [32]byte, actions [][32]byte) [][32]byte {
	var out [][32]byte
	for _, name := range [][32]byte{group, task} {
		for _, a := range actions {
			if l := federation.Link(name, a); l != ([32]byte{}) && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// claims reports whether an experience says that something works.
func (e *Experience) claims() bool { return !e.Fails && e.Kind != federation.KindFailure }

// setActions completes what a new experience says to do by its text.
func (e *Experience) setActions() {
	if a := federation.LessonAction(e.Content); a != ([32]byte{}) && !slices.Contains(e.Actions, a) {
		e.Actions = append([][32]byte{a}, e.Actions...)
	}
	e.Actions = e.Actions[:min(len(e.Actions), maxActions)]
}

// witness keeps what a verified outcome saw and holds it against the candidates that stand. actions beyond those that the
// receipt has already are new. The caller stores the receipt.
func (t *txn) witness(agent *Agent, r *Receipt, actions [][32]byte) {
	before := r.Actions
	var fresh [][32]byte
	for _, a := range actions {
		if a != ([32]byte{}) && !slices.Contains(before, a) && !slices.Contains(fresh, a) && len(before)+len(fresh) < maxActions {
			fresh = append(fresh, a)
		}
	}
	if len(fresh) == 0 {
		return
	}
	r.Actions = append(slices.Clone(before), fresh...)
	if r.Group == ([32]byte{}) && r.Task == ([32]byte{}) {
		return // completed with its receipt
	}
	t.testify(agent, r, before, fresh)
}

// testify puts the deeds of some actions under their links and judges the claims there.
func (t *txn) testify(agent *Agent, r *Receipt, before, fresh [][32]byte) {
	var seen []ID
	for _, link := range links(r.Group, r.Task, fresh) {
		t.put(nsKey(kindDeed, t.ns.Number).hash(link).id(r.Recall), deed{agent.Principal, r.Success})
		look := 0
		t.scan(nsKey(kindClaim, t.ns.Number).hash(link), func(k, _ []byte) bool {
			id := lastID(k)
			if e, ok := t.claimant(k, id); ok && !slices.Contains(seen, id) && !meets(e.Actions, before) {
				seen = append(seen, id)
				t.judge(e, agent.Principal, r.Success)
			}
			look++
			return look < linkLook
		})
	}
}

// claimant reads a candidate that a link leads to; the link goes when the candidate is gone for good.
func (t *txn) claimant(k []byte, id ID) (*Experience, bool) {
	e, ok := t.experience(SharedOwner, id)
	if !ok || final(e.Status) {
		t.del(slices.Clone(k))
		return nil, false
	}
	return e, e.Status == federation.StatusCandidate
}

// final reports whether a shared item never becomes a candidate again.
func final(s federation.Status) bool {
	switch s {
	case federation.StatusCandidate, federation.StatusHeld, federation.StatusQuarantined:
		return false
	}
	return true
}

func meets(a, b [][32]byte) bool {
	return slices.ContainsFunc(a, func(x [32]byte) bool { return slices.Contains(b, x) })
}

// judge counts one outcome of a reader for or against the author of a candidate.
func (t *txn) judge(e *Experience, reader string, success bool) {
	if reader == e.Principal {
		return
	}
	var l federation.Ledger
	k := ledgerKey(t.ns.Number, e.Principal, reader)
	t.get(k, &l)
	was := l.Proof()
	l.Add(success == e.claims())
	t.put(k, l)
	if now := l.Proof(); now != was {
		t.event(Event{Type: "ledger.changed", Principal: reader, Data: map[string]string{
			"author": e.Principal, "proof": string(now), "was": string(was),
			"agreed": strconv.FormatInt(l.Agreed, 10), "contradicted": strconv.FormatInt(l.Contradicted, 10),
		}})
	}
}

// claim lets a new candidate be found by its deed and holds it against what readers saw before.
func (t *txn) claim(e *Experience) {
	var seen []ID
	for _, link := range links(e.Group, e.Task, e.Actions) {
		t.mark(nsKey(kindClaim, t.ns.Number).hash(link).id(e.ID))
		look := 0
		t.scan(nsKey(kindDeed, t.ns.Number).hash(link), func(k, v []byte) bool {
			var d deed
			if err := decodeValue(v, &d); err != nil {
				t.fail(err)
				return false
			}
			if id := lastID(k); !slices.Contains(seen, id) {
				seen = append(seen, id)
				t.judge(e, d.Reader, d.Success)
			}
			look++
			return look < linkLook
		})
	}
}

// outcomeSeen takes a reported outcome into the ledger if it is verified: what the report names as used, what the attached
// attempt did first, and the lesson that the agent recorded meanwhile and that the outcome bears out.
func (t *txn) outcomeSeen(r *report) {
	if r.body.Evidence != federation.EvidenceVerified {
		return
	}
	actions := slices.Clone(r.body.Actions)
	for _, c := range r.body.Credits {
		if !c.Named {
			continue
		}
		if e, ok := t.find(c.ID); ok && c.Version == e.Version && e.claims() {
			actions = append(actions, e.Actions...)
		}
	}
	row := r.receipt
	if row.Group != ([32]byte{}) {
		actions = t.reported(r.agent, row, actions)
	}
	t.witness(r.agent, row, actions)
}

// reported notes a verified outcome in its task group and adds the lesson of the same turn.
func (t *txn) reported(agent *Agent, row *Receipt, actions [][32]byte) [][32]byte {
	var last turn
	k := t.turnKey(agent.Number, row.Group)
	t.get(k, &last)
	if last.LessonAt >= row.At && last.LessonAt > 0 && last.Fails != row.Success {
		actions = append(actions, last.Lesson)
	}
	last.Recall, last.Success, last.At = row.Recall, row.Success, t.now
	t.put(k, last)
	return actions
}

// lessonSeen notes a lesson that an agent recorded itself. When it bears out the outcome that the agent just reported in
// the same task group, it is what that outcome was about.
func (t *txn) lessonSeen(agent *Agent, e *Experience) {
	if len(e.Actions) == 0 || e.Group == ([32]byte{}) {
		return
	}
	var last turn
	k := t.turnKey(agent.Number, e.Group)
	t.get(k, &last)
	last.Lesson, last.Fails, last.LessonAt = e.Actions[0], !e.claims(), t.now
	t.put(k, last)
	var row Receipt
	receipt := t.receiptKey(agent.Number, last.Recall)
	if last.At == 0 || t.now-last.At > turnLasts || last.Fails == last.Success || !t.get(receipt, &row) {
		return
	}
	t.witness(agent, &row, e.Actions[:1])
	t.put(receipt, row)
}

// forgetDeeds drops what an outcome left when its receipt goes.
func (t *txn) forgetDeeds(ns, agent uint32, r *Receipt) {
	for _, link := range links(r.Group, r.Task, r.Actions) {
		t.del(nsKey(kindDeed, ns).hash(link).id(r.Recall))
	}
	k := nsKey(kindTurn, ns).u32(agent).hash(r.Group)
	var last turn
	if t.get(k, &last) && last.Recall == r.Recall {
		t.del(k)
	}
}

// dropLedger forgets what readers know about an author that was suspended.
func (t *txn) dropLedger(author string) {
	t.scan(nsKey(kindLedger, t.ns.Number).word(author), func(k, _ []byte) bool {
		t.del(k)
		return len(t.writes) < ledgerDrop
	})
}

// disproved reports whether a juror's own outcomes speak against the author of an item.
func (t *txn) disproved(e *Experience, juror string) bool {
	reader, ok := strings.CutPrefix(juror, JurorOf("", "", ""))
	if !ok {
		return false
	}
	var l federation.Ledger
	t.get(ledgerKey(t.ns.Number, e.Principal, reader), &l)
	return l.Proof() == federation.Disproved
}
