package store

import (
	"slices"
	"strconv"
)

const (
	maxErased = 200
	purgeStep = 900
)

// Erase removes an experience with everything derived from it. What hangs on the removed ids (evidence, receipts' back
// links, shown marks) is purged by job; no reader finds it without the id.
type Erase struct {
	Receipt ID     `cbor:"1,keyasint"`
	Target  Target `cbor:"2,keyasint"`
	Agent   string `cbor:"3,keyasint"`
}

// ErasedIDs lists what is gone.
type ErasedIDs struct {
	Receipt ID   `cbor:"1,keyasint"`
	Erased  []ID `cbor:"2,keyasint"`
}

func applyErase(t *txn, b *Erase) (any, *Reject) {
	root, ok := t.experience(b.Target.Owner, b.Target.ID)
	if !ok {
		return nil, reject("not_found", "experience not found")
	}
	if b.Target.Version != 0 && root.Version != b.Target.Version {
		return nil, reject("precondition", "version "+strconv.Itoa(root.Version)+" stands")
	}
	ids := t.descendants(root.ID)
	for _, id := range ids {
		if e, ok := t.find(id); ok {
			t.eraseOne(e)
		}
	}
	t.put(nsKey(kindErasure, t.ns.Number).id(b.Receipt),
		Erasure{ID: b.Receipt, Agent: b.Agent, Erased: ids, At: t.now, Index: t.index})
	return ErasedIDs{b.Receipt, ids}, nil
}

// descendants lists an experience and what was derived from it, parents first.
func (t *txn) descendants(root ID) []ID {
	ids := []ID{root}
	for i := 0; i < len(ids) && len(ids) < maxErased; i++ {
		t.scan(nsKey(kindChild, t.ns.Number).id(ids[i]), func(k, _ []byte) bool {
			if child := lastID(k); !slices.Contains(ids, child) {
				ids = append(ids, child)
			}
			return len(ids) < maxErased
		})
	}
	return ids
}

func (t *txn) eraseOne(e *Experience) {
	t.unindex(e)
	if e.Shared() && e.Status == "promoted" {
		t.addInMeta(e.Principal, -1)
		t.count("meta", -1)
	}
	t.del(t.experienceKey(e.Owner, e.ID))
	t.del(t.vectorsKey(e.Owner, e.ID))
	t.del(nsKey(kindOwner, t.ns.Number).id(e.ID))
	for v := 1; v < e.Version; v++ {
		t.del(nsKey(kindVersion, t.ns.Number).u32(e.Owner).id(e.ID).u32(uint32(v)))
	}
	for _, parent := range e.Lineage.DerivedFrom {
		t.del(nsKey(kindChild, t.ns.Number).id(parent).id(e.ID))
	}
	for _, traj := range e.Lineage.Trajectories {
		t.del(t.featureKey(e.Owner, traj, e.Lineage.Lens, e.Lineage.Feature))
		t.forgetIn(e, traj)
	}
	var jury Jury
	if t.get(t.juryKey(e.ID), &jury) {
		for _, s := range jury.Seats {
			t.addSeats(jury.Unit, s.Juror, -1)
		}
		t.del(t.juryKey(e.ID))
	}
	t.change(ChangeExperience, e.Owner, e.ID)
	t.experienceEvent("experience.erased", e, nil)
	t.enqueue(JobPurge, e.ID, e.Owner, t.now, "")
}

func (t *txn) forgetIn(e *Experience, traj ID) {
	var rec Trajectory
	if !t.get(t.trajectoryKey(e.Owner, traj), &rec) {
		return
	}
	rec.Experiences = slices.DeleteFunc(rec.Experiences, func(id ID) bool { return id == e.ID })
	t.put(t.trajectoryKey(e.Owner, traj), rec)
}

// Purge removes a step of what hangs on an erased id.
type Purge struct {
	Job JobRef `cbor:"1,keyasint"`
	ID  ID     `cbor:"2,keyasint"`
}

// Purged says how many keys went, and whether more are left.
type Purged struct {
	Keys int  `cbor:"1,keyasint"`
	More bool `cbor:"2,keyasint,omitempty"`
}

func applyPurge(t *txn, b *Purge) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	if _, exists := t.find(b.ID); exists {
		return nil, reject("conflict", "the experience was not erased")
	}
	var out Purged
	for _, kind := range []keyKind{kindEvidence, kindAcc, kindGiven, kindShown, kindChild} {
		t.scan(nsKey(kind, t.ns.Number).id(b.ID), func(k, _ []byte) bool {
			if out.Keys == purgeStep {
				out.More = true
				return false
			}
			t.del(k)
			out.Keys++
			return true
		})
	}
	job.Again = out.More
	t.endJob(job)
	return out, nil
}
