package store

import (
	"slices"

	"cairn/federation"
)

// Why an experience gave way to another.
const (
	MergeDuplicate = "duplicate" // it said the same in other words
	MergeRevised   = "revised"   // its group says something else about the same feature now
	MergeCompacted = "compacted" // a strategy made of it and others has proved itself
	MergeFused     = "fused"     // a candidate that proved itself says the same as an item of the meta-pool
)

// Merge records that an experience of a pool gave way to another one, with what is needed to take that back. It is found
// by the superseded experience, which gives way to one experience at a time; a later merge of the same experience takes the
// record's place.
type Merge struct {
	From         ID                `cbor:"1,keyasint"`
	Into         ID                `cbor:"2,keyasint"`
	Owner        uint32            `cbor:"3,keyasint"`
	Agent        string            `cbor:"4,keyasint"`
	Cause        string            `cbor:"5,keyasint"` // MergeDuplicate, MergeRevised, MergeCompacted, MergeFused
	Prior        federation.Status `cbor:"6,keyasint"` // of From, before
	Success      int               `cbor:"7,keyasint,omitempty"`
	Failure      int               `cbor:"8,keyasint,omitempty"`
	Trajectories []ID              `cbor:"9,keyasint,omitempty"` // that Into has from From alone
	At           int64             `cbor:"10,keyasint"`
	UndoneAt     int64             `cbor:"11,keyasint,omitempty"`
	UndoneBy     string            `cbor:"12,keyasint,omitempty"`
}

func mergeKey(ns, owner uint32, from ID) keyBuf { return nsKey(kindMerge, ns).u32(owner).id(from) }

// noteDuplicate records the merge of a near duplicate, before into has taken anything of it. said is what from's group had
// said about the feature through into.
func (t *txn) noteDuplicate(into, from *Experience, said featureRecord, prior federation.Status) {
	m := Merge{
		From: from.ID, Into: into.ID, Owner: from.Owner, Agent: from.Agent, Cause: MergeDuplicate, Prior: prior,
		Success: from.Success, Failure: from.Failure, At: t.now,
	}
	for _, id := range from.Lineage.Trajectories {
		if said.ID == into.ID || !slices.Contains(into.Lineage.Trajectories, id) {
			m.Trajectories = append(m.Trajectories, id)
		}
	}
	t.put(mergeKey(t.ns.Number, m.Owner, m.From), m)
}

// noteRevised records that a group's earlier lesson gave way to its later one; was is the lesson as it stood.
func (t *txn) noteRevised(was *Experience, by ID) {
	t.put(mergeKey(t.ns.Number, was.Owner, was.ID), Merge{
		From: was.ID, Into: by, Owner: was.Owner, Agent: was.Agent, Cause: MergeRevised, Prior: was.Status, At: t.now,
	})
}

// UndoMerge takes a merge back: the superseded experience stands on its own again. It is done once a merge.
type UndoMerge struct {
	From  ID     `cbor:"1,keyasint"`
	Owner uint32 `cbor:"2,keyasint"`
	By    string `cbor:"3,keyasint"`
}

func applyUndoMerge(t *txn, b *UndoMerge) (any, *Reject) {
	var m Merge
	k := mergeKey(t.ns.Number, b.Owner, b.From)
	if !t.get(k, &m) {
		return nil, reject("not_found", "merge not found")
	}
	e, ok := t.experience(m.Owner, m.From)
	if !ok {
		return nil, reject("not_found", "the merged experience is gone")
	}
	if m.UndoneAt != 0 {
		return nil, reject("conflict", "the merge was undone before")
	}
	if e.Status != federation.StatusSuperseded || e.SupersededBy != m.Into {
		return nil, reject("conflict", "the merged experience is "+string(e.Status)+" now")
	}
	if same, ok := t.byHash(e.Owner, unitHash(e.Unit, e.Hash)); ok {
		return nil, reject("conflict", "experience "+same.ID.String()+" has this text")
	}
	if m.Cause == MergeFused {
		t.parted(e, m.Into, federation.StatusCandidate)
	} else {
		t.separate(&m, e)
	}
	m.UndoneAt, m.UndoneBy = max(t.now, 1), b.By
	t.put(k, m)
	return m, nil
}

// separate makes a superseded experience live as it was.
func (t *txn) separate(m *Merge, e *Experience) {
	old := clone(e)
	switch m.Cause {
	case MergeDuplicate:
		t.giveBack(m, e)
	case MergeCompacted:
		if k := t.absorbedKey(e); t.has(k) {
			t.del(k)
		}
	}
	e.Status, e.SupersededBy = federation.StatusActive, ID{}
	if m.Prior == federation.StatusBuffered {
		t.evictBuffered(e.Owner)
		e.Status, e.ExpiresAt = federation.StatusBuffered, t.now+bufferTTL
	}
	t.save(old, e)
	var v Vectors
	if !t.get(t.vectorsKey(e.Owner, e.ID), &v) || len(v.Vectors) == 0 {
		t.enqueue(JobEmbed, e.ID, e.Owner, t.now, "")
	}
	t.count("merges_undone", 1)
	t.experienceEvent("experience.released", e, map[string]string{"merged": m.Into.String()})
	t.wish(e, e.Share)
}

// giveBack takes from the survivor what the duplicate brought. A group that was distilled again since may have changed or
// withdrawn what it says: then that stands. The survivor keeps the stricter wish about sharing and its place in long-term
// memory, for others may have relied on both.
func (t *txn) giveBack(m *Merge, e *Experience) {
	success, failure := m.Success, m.Failure
	for _, traj := range e.Lineage.Trajectories {
		k := t.featureKey(e.Owner, traj, e.Lineage.Lens, e.Lineage.Feature)
		var said featureRecord
		if !t.get(k, &said) {
			continue
		}
		if said.ID != m.Into {
			success, failure = 0, 0
			continue
		}
		success, failure = said.Success, said.Failure
		e.Success, e.Failure = success, failure
		t.put(k, featureRecord{e.ID, success, failure})
	}
	into, ok := t.experience(m.Owner, m.Into)
	if !ok {
		return
	}
	old := clone(into)
	into.Success, into.Failure = max(0, into.Success-success), max(0, into.Failure-failure)
	into.Lineage.Trajectories = slices.DeleteFunc(slices.Clone(into.Lineage.Trajectories),
		func(id ID) bool { return slices.Contains(m.Trajectories, id) })
	t.save(old, into)
	for _, id := range m.Trajectories {
		t.renameIn(id, into, e)
	}
}

// renameIn lets a group name another experience than before, so that the one it named can be erased.
func (t *txn) renameIn(traj ID, was, is *Experience) {
	var rec Trajectory
	k := t.trajectoryKey(was.Owner, traj)
	if !t.get(k, &rec) || !slices.Contains(rec.Experiences, was.ID) {
		return
	}
	rec.Experiences = slices.DeleteFunc(rec.Experiences, func(id ID) bool { return id == was.ID })
	if !slices.Contains(rec.Experiences, is.ID) {
		rec.Experiences = append(rec.Experiences, is.ID)
	}
	t.put(k, rec)
}

// Merge finds the merge of a superseded experience; nil when there is none.
func (v *View) Merge(ns *Namespace, owner uint32, from ID) (*Merge, error) {
	m := new(Merge)
	ok, err := v.get(mergeKey(ns.Number, owner, from), m)
	if !ok {
		return nil, err
	}
	return m, err
}

// Merges visits the merges of one pool in order of the superseded experience's id after a suffix.
func (v *View) Merges(ns *Namespace, owner uint32, after []byte, fn func(suffix []byte, m *Merge) bool) error {
	return list(v, nsKey(kindMerge, ns.Number).u32(owner), after, fn)
}

// AllMerges visits the merges of a namespace, by owner, then superseded experience.
func (v *View) AllMerges(ns *Namespace, after []byte, fn func(suffix []byte, m *Merge) bool) error {
	return list(v, nsKey(kindMerge, ns.Number), after, fn)
}
