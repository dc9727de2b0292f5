package store

import (
	"cairn/federation"
)

// dormantAfter is how long an item of the meta-pool may go without being given, ms. A dormant item is recalled as before and
// keeps its trust; being given once ends it.
const dormantAfter = 60 * day

// lookAtUse marks an item of the meta-pool that nobody was given for long.
func (t *txn) lookAtUse(id ID) {
	e, ok := t.experience(SharedOwner, id)
	if !ok || e.Status != federation.StatusPromoted || t.now-max(e.RecalledAt, e.PromotedAt) < dormantAfter {
		return
	}
	old := clone(e)
	e.Status = federation.StatusDormant
	t.save(old, e)
	t.count("dormant", 1)
}

// woken writes an item that was just given; a dormant one is in use again.
func (t *txn) woken(e *Experience) {
	if !e.Shared() || e.Status != federation.StatusDormant {
		t.touch(e)
		return
	}
	old := clone(e)
	e.Status = federation.StatusPromoted
	t.save(old, e)
}
