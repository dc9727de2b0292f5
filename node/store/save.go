package store

import (
	"crypto/sha256"
	"strconv"

	"cairn/federation"
)

// StatusDemoted is a shared item that lost its place; final for its version.
const StatusDemoted federation.Status = "demoted"

func (t *txn) experienceKey(owner uint32, id ID) keyBuf {
	return nsKey(kindExperience, t.ns.Number).u32(owner).id(id)
}

func (t *txn) vectorsKey(owner uint32, id ID) keyBuf {
	return nsKey(kindVectors, t.ns.Number).u32(owner).id(id)
}

func (t *txn) hashKey(owner uint32, hash [32]byte) keyBuf {
	return nsKey(kindHash, t.ns.Number).u32(owner).hash(hash)
}

func (t *txn) experience(owner uint32, id ID) (*Experience, bool) {
	e := new(Experience)
	if !t.get(t.experienceKey(owner, id), e) {
		return nil, false
	}
	return e, true
}

// find looks an experience up by id alone, within the namespace.
func (t *txn) find(id ID) (*Experience, bool) {
	var owner uint32
	if !t.get(nsKey(kindOwner, t.ns.Number).id(id), &owner) {
		return nil, false
	}
	return t.experience(owner, id)
}

// byHash finds the live experience of a pool with exactly this text.
func (t *txn) byHash(owner uint32, hash [32]byte) (*Experience, bool) {
	var id ID
	if !t.get(t.hashKey(owner, hash), &id) {
		return nil, false
	}
	e, ok := t.experience(owner, id)
	return e, ok && e.Live()
}

// save writes e and everything that is found by its status. old is the record as it stood, nil for a new one.
func (t *txn) save(old, e *Experience) {
	e.UpdatedAt = t.now
	t.put(t.experienceKey(e.Owner, e.ID), e)
	if old == nil {
		t.put(nsKey(kindOwner, t.ns.Number).id(e.ID), e.Owner)
		for _, parent := range e.Lineage.DerivedFrom {
			t.mark(nsKey(kindChild, t.ns.Number).id(parent).id(e.ID))
		}
	} else {
		t.unindex(old)
	}
	t.count("status/"+string(e.Status), 1)
	t.count(poolCounter(e), 1)
	if e.Live() {
		t.count(PoolCounter(e.Owner), 1)
		t.put(t.hashKey(e.Owner, e.Hash), e.ID)
		if e.Shared() {
			t.mark(nsKey(kindShelf, t.ns.Number).id(e.ID))
		}
	}
	if e.Status == federation.StatusBuffered {
		t.mark(nsKey(kindBuffered, t.ns.Number).u32(e.Owner).id(e.ID))
		t.mark(t.expiryKey(e))
		t.count(bufferCounter(e.Owner), 1)
	}
	t.change(ChangeExperience, e.Owner, e.ID)
}

// unindex takes back what save wrote for a record's status.
func (t *txn) unindex(e *Experience) {
	t.count("status/"+string(e.Status), -1)
	t.count(poolCounter(e), -1)
	if e.Live() {
		t.count(PoolCounter(e.Owner), -1)
		var holder ID
		if t.get(t.hashKey(e.Owner, e.Hash), &holder) && holder == e.ID {
			t.del(t.hashKey(e.Owner, e.Hash))
		}
		if e.Shared() {
			t.del(nsKey(kindShelf, t.ns.Number).id(e.ID))
		}
	}
	if e.Status == federation.StatusBuffered {
		t.del(nsKey(kindBuffered, t.ns.Number).u32(e.Owner).id(e.ID))
		t.del(t.expiryKey(e))
		t.count(bufferCounter(e.Owner), -1)
	}
}

func (t *txn) expiryKey(e *Experience) keyBuf {
	return key(kindExpiry).time(e.ExpiresAt).u32(t.ns.Number).u32(e.Owner).id(e.ID)
}

// PoolCounter counts the live experiences of one pool.
func PoolCounter(owner uint32) string { return "pool/" + strconv.FormatUint(uint64(owner), 10) }

func bufferCounter(owner uint32) string { return "buffer/" + strconv.FormatUint(uint64(owner), 10) }

func poolCounter(e *Experience) string {
	switch {
	case !e.Shared():
		return "pools/own"
	case e.PromotedAt != 0:
		return "pools/meta"
	}
	return "pools/candidates"
}

// FeatureHash identifies what an experience of a group is about: distilling the group again supersedes by it.
func FeatureHash(lens, feature string) [32]byte {
	return sha256.Sum256([]byte(lens + "\x00" + feature))
}

func (t *txn) featureKey(owner uint32, traj ID, lens, feature string) keyBuf {
	return nsKey(kindFeature, t.ns.Number).u32(owner).id(traj).hash(FeatureHash(lens, feature))
}

func clone(e *Experience) *Experience {
	c := *e
	return &c
}
