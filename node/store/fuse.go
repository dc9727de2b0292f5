package store

import (
	"cairn/federation"
)

// A candidate that proved itself and says the same as an item of the meta-pool gives way to that item. It keeps its jury and
// its evidence beside, so that nothing is lost when the item goes: what was fused into it is looked at on its own then.

const fuseStep = 40 // fused items that one command parts from what they gave way to

func fusedKey(ns uint32, into, from ID) keyBuf { return nsKey(kindFused, ns).id(into).id(from) }

// noteFused records that a shared candidate gave way to an item of the meta-pool.
func (t *txn) noteFused(e *Experience, into ID) {
	t.put(mergeKey(t.ns.Number, SharedOwner, e.ID), Merge{
		From: e.ID, Into: into, Owner: SharedOwner, Agent: e.Agent, Cause: MergeFused, Prior: federation.StatusCandidate, At: t.now,
	})
	t.mark(fusedKey(t.ns.Number, into, e.ID))
	t.count("merges", 1)
}

// keptApart reports whether a curator took back that one item gave way to another.
func (t *txn) keptApart(from, into ID) bool {
	var m Merge
	return t.get(mergeKey(t.ns.Number, SharedOwner, from), &m) && m.Into == into && m.UndoneAt != 0
}

// partedBy is what becomes of items that gave way to one that was revoked. What its author took back says nothing about
// them; what a curator called back may be as wrong in their words, so they are held until a curator looks.
func partedBy(revoked *Experience) federation.Status {
	if revoked.Withdrawn {
		return federation.StatusCandidate
	}
	return federation.StatusHeld
}

// partFused lets what gave way to an item that is gone stand on its own again, a step at a time. It reports whether some is
// left.
func (t *txn) partFused(into ID, to federation.Status) (more bool) {
	n := 0
	t.scan(nsKey(kindFused, t.ns.Number).id(into), func(k, _ []byte) bool {
		if n == fuseStep {
			more = true
			return false
		}
		n++
		from := lastID(k)
		e, ok := t.experience(SharedOwner, from)
		if !ok || e.Status != federation.StatusSuperseded || e.SupersededBy != into || t.textTaken(e) {
			t.del(fusedKey(t.ns.Number, into, from))
			return true
		}
		t.parted(e, into, to)
		var m Merge
		if record := mergeKey(t.ns.Number, SharedOwner, from); t.get(record, &m) {
			m.UndoneAt = max(t.now, 1)
			t.put(record, m)
		}
		return true
	})
	return more
}

func (t *txn) textTaken(e *Experience) bool {
	_, taken := t.byHash(e.Owner, unitHash(e.Unit, e.Hash))
	return taken
}

// parted puts a fused item back on the shelf, or holds it. The rule is evaluated again on its own evidence.
func (t *txn) parted(e *Experience, into ID, to federation.Status) {
	old := clone(e)
	e.Status, e.SupersededBy = to, ID{}
	kind := "experience.released"
	if to == federation.StatusHeld {
		e.Prior, e.HeldBy, e.Reason = federation.StatusCandidate, into, "it says the same as "+into.String()+", which was revoked"
		kind = "experience.held"
	}
	t.save(old, e)
	t.del(fusedKey(t.ns.Number, into, e.ID))
	t.count("merges_undone", 1)
	t.experienceEvent(kind, e, map[string]string{"merged": into.String()})
	if to == federation.StatusCandidate {
		t.enqueue(JobPromote, e.ID, e.Owner, t.now, "")
	}
}
