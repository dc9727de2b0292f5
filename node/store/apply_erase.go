package store

import (
	"slices"
	"strconv"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
)

const (
	eraseKeys       = 500 // an erasure stops removing descendants at this many keys; the purge job goes on
	purgeStep       = 900
	maxVersionsHeld = 100 // old versions that go with their record; older ones go by job
)

// Erase removes an experience with everything derived from it. What hangs on the removed ids (evidence, receipts' back
// links, shown marks, old versions) is purged by job, and so are descendants beyond what one command may hold; no reader
// finds the former without the id.
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
	k := t.erasureKey(b.Receipt)
	if b.Receipt == (ID{}) || t.has(k) {
		return nil, reject("conflict", "the erasure receipt is zero or exists")
	}
	proof := Erasure{ID: b.Receipt, Agent: b.Agent, At: t.now, Index: t.index}
	t.eraseWithin(root, &proof)
	t.put(k, proof)
	return ErasedIDs{b.Receipt, proof.Erased}, nil
}

func (t *txn) erasureKey(receipt ID) keyBuf { return nsKey(kindErasure, t.ns.Number).id(receipt) }

// eraseWithin erases root and what was derived from it, parents first, up to eraseKeys. The purge job of each erased id
// looks for children that are left.
func (t *txn) eraseWithin(root *Experience, proof *Erasure) {
	next := []ID{root.ID}
	for i := 0; i < len(next); i++ {
		e, ok := t.find(next[i])
		if !ok {
			continue
		}
		t.scan(nsKey(kindChild, t.ns.Number).id(e.ID), func(k, _ []byte) bool {
			if child := lastID(k); !slices.Contains(next, child) {
				next = append(next, child)
			}
			return len(next) < eraseKeys
		})
		t.eraseOne(e, proof)
		if len(t.writes) >= eraseKeys {
			return
		}
	}
}

func (t *txn) eraseOne(e *Experience, proof *Erasure) {
	t.drop(e)
	for _, traj := range e.Lineage.Trajectories {
		t.forgetIn(e, traj)
	}
	t.experienceEvent("experience.erased", e, nil)
	t.enqueue(JobPurge, e.ID, e.Owner, t.now, proof.ID.String())
	proof.Erased = append(proof.Erased, e.ID)
	proof.Open++
}

// retire removes an archived experience whose time to be restored is over; what was derived from it stays. One that was
// never tried (it expired in the buffer) may be learnt again.
func (t *txn) retire(e *Experience) {
	t.drop(e)
	for _, traj := range e.Lineage.Trajectories {
		t.forgetIn(e, traj)
		if !useless(e) {
			t.del(t.featureKey(e.Owner, traj, e.Lineage.Lens, e.Lineage.Feature))
		}
	}
	t.count("retired", 1)
	t.enqueue(JobPurge, e.ID, e.Owner, t.now, "")
}

func (t *txn) forgetIn(e *Experience, traj ID) {
	var rec Trajectory
	if !t.get(t.trajectoryKey(e.Owner, traj), &rec) || !slices.Contains(rec.Experiences, e.ID) {
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
	job, rej := t.leasedFor(b.Job, JobPurge, b.ID)
	if rej != nil {
		return nil, rej
	}
	var out Purged
	if _, exists := t.find(b.ID); !exists {
		out = t.purge(&job)
	}
	job.Again = out.More
	t.endJob(job)
	return out, nil
}

// purge removes a step. The erasure's proof, if there is one, learns of children that are erased late and of the end.
func (t *txn) purge(job *Job) Purged {
	var out Purged
	proof, counted := t.proofOf(job)
	if counted && t.eraseChildren(job.Subject, &proof) {
		t.put(t.erasureKey(proof.ID), proof)
		return Purged{More: true}
	}
	if counted && t.partFused(job.Subject, federation.StatusCandidate) {
		t.put(t.erasureKey(proof.ID), proof)
		return Purged{More: true}
	}
	out.Keys, out.More = t.forgetReflectionsOn(job.Subject)
	for _, prefix := range t.hangingOn(job) {
		t.scan(prefix, func(k, _ []byte) bool {
			if len(t.writes) >= purgeStep {
				out.More = true
				return false
			}
			t.del(k)
			out.Keys++
			if keyKind(k[0]) == kindEvidence {
				t.count("citations", -1)
			}
			return true
		})
	}
	if counted {
		if !out.More {
			proof.Open--
		}
		t.put(t.erasureKey(proof.ID), proof)
	}
	return out
}

func (t *txn) proofOf(job *Job) (proof Erasure, ok bool) {
	receipt, err := ulid.ParseStrict(job.Extra)
	return proof, err == nil && t.get(t.erasureKey(receipt), &proof)
}

// eraseChildren erases what was derived from an erased id and still stands; it reports whether some is left.
func (t *txn) eraseChildren(parent ID, proof *Erasure) (more bool) {
	t.scan(nsKey(kindChild, t.ns.Number).id(parent), func(k, _ []byte) bool {
		if len(t.writes) >= eraseKeys {
			more = true
			return false
		}
		if e, ok := t.find(lastID(k)); ok {
			t.eraseOne(e, proof)
		}
		return true
	})
	return more
}

// hangingOn are the prefixes of what is found by an erased id alone.
func (t *txn) hangingOn(job *Job) []keyBuf {
	var out []keyBuf
	for _, kind := range []keyKind{kindEvidence, kindAcc, kindGiven, kindShown} {
		out = append(out, nsKey(kind, t.ns.Number).id(job.Subject))
	}
	out = append(out, nsKey(kindVersion, t.ns.Number).u32(job.Owner).id(job.Subject))
	return append(out, nsKey(kindChild, t.ns.Number).id(job.Subject))
}

// expireRecord is the end of a buffered experience, or of an archived one.
func (t *txn) expireRecord(e *Experience) {
	switch {
	case e.ExpiresAt > t.now:
	case e.Status == federation.StatusBuffered:
		t.expire(e)
	case e.Status == federation.StatusArchived:
		t.retire(e)
	}
}
