package store

import (
	"crypto/sha256"
	"strconv"

	"cairn/federation"
)

// StatusDemoted is a shared item that lost its place; final for its version.
const StatusDemoted = federation.StatusDemoted

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

// unitHash is the hash under which a text is found in its pool. A shared copy that agents of one owner judge does not stand
// in the way of one that other principals judge.
func unitHash(unit string, hash [32]byte) [32]byte {
	if unit == "" {
		return hash
	}
	return sha256.Sum256(append([]byte(unit+"\x00"), hash[:]...))
}

func (t *txn) textKey(e *Experience) keyBuf { return t.hashKey(e.Owner, unitHash(e.Unit, e.Hash)) }

// save writes e and everything that is found by its status. old is the record as it stood, nil for a new one.
func (t *txn) save(old, e *Experience) {
	e.UpdatedAt = t.now
	if e.Status == federation.StatusArchived && (old == nil || old.Status != e.Status) {
		e.ExpiresAt = t.now + restoreUntil
	}
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
	if e.Live() {
		t.count(poolCounter(e), 1)
		t.count(PoolCounter(e.Owner), 1)
		t.put(t.textKey(e), e.ID)
		if e.Shared() {
			t.mark(nsKey(kindShelf, t.ns.Number).id(e.ID))
		}
	}
	if e.Status == federation.StatusBuffered {
		t.mark(nsKey(kindBuffered, t.ns.Number).u32(e.Owner).id(e.ID))
		t.count(bufferCounter(e.Owner), 1)
	}
	if expires(e) {
		t.mark(t.expiryKey(e))
	}
	t.moveMeta(old, e)
	t.change(ChangeExperience, e.Owner, e.ID)
}

// unindex takes back what save wrote for a record's status.
func (t *txn) unindex(e *Experience) {
	t.count("status/"+string(e.Status), -1)
	if e.Live() {
		t.count(poolCounter(e), -1)
		t.count(PoolCounter(e.Owner), -1)
		t.del(t.textKey(e))
		if e.Shared() {
			t.del(nsKey(kindShelf, t.ns.Number).id(e.ID))
		}
	}
	if e.Status == federation.StatusBuffered {
		t.del(nsKey(kindBuffered, t.ns.Number).u32(e.Owner).id(e.ID))
		t.count(bufferCounter(e.Owner), -1)
	}
	if expires(e) {
		t.del(t.expiryKey(e))
	}
}

// drop removes a record with all that is found by it. What hangs on its id goes by job; feature keys stay and lead nowhere,
// which tells a later distilling that the lesson was removed and is not to come back.
func (t *txn) drop(e *Experience) {
	t.unindex(e)
	t.moveMeta(e, nil)
	t.del(t.experienceKey(e.Owner, e.ID))
	t.del(t.vectorsKey(e.Owner, e.ID))
	t.del(nsKey(kindOwner, t.ns.Number).id(e.ID))
	if k := mergeKey(t.ns.Number, e.Owner, e.ID); t.has(k) {
		t.del(k)
	}
	if k := fusedKey(t.ns.Number, e.SupersededBy, e.ID); e.Shared() && t.has(k) {
		t.del(k)
	}
	if k := sourceKey(t.ns.Number, e.Owner, e.ID); t.has(k) {
		t.del(k)
	}
	if k := t.absorbedKey(e); e.Status == federation.StatusSuperseded && t.has(k) {
		t.del(k)
	}
	for v := max(1, e.Version-maxVersionsHeld); v < e.Version; v++ {
		t.del(t.versionKey(e.Owner, e.ID, v))
	}
	for _, parent := range e.Lineage.DerivedFrom {
		t.del(nsKey(kindChild, t.ns.Number).id(parent).id(e.ID))
	}
	var jury Jury
	if t.get(t.juryKey(e.ID), &jury) {
		for _, s := range jury.Seats {
			if !s.Struck {
				t.addSeats(jury.Unit, s.Juror, -1)
			}
		}
		t.del(t.juryKey(e.ID))
	}
	t.change(ChangeExperience, e.Owner, e.ID)
}

// expires reports whether time ends the record: the gate's buffer, and what may be restored for a while.
func expires(e *Experience) bool {
	return e.Status == federation.StatusBuffered || e.Status == federation.StatusArchived
}

// inMeta reports whether e counts as an item of the meta-pool.
func inMeta(e *Experience) bool { return e != nil && e.Shared() && e.PromotedAt != 0 && e.Live() }

// moveMeta counts an item that enters or leaves the meta-pool, for the pool and for its author.
func (t *txn) moveMeta(was, is *Experience) {
	switch before, after := inMeta(was), inMeta(is); {
	case before == after:
	case after:
		t.count("meta", 1)
		t.addInMeta(is.Principal, 1)
	default:
		t.count("meta", -1)
		t.addInMeta(was.Principal, -1)
	}
}

func (t *txn) addInMeta(principal string, delta int) {
	if p, ok := t.principal(principal); ok {
		p.InMeta += delta
		t.put(t.principalKey(p.ID), p)
	}
}

func (t *txn) expiryKey(e *Experience) keyBuf {
	return key(kindExpiry).time(e.ExpiresAt).u32(t.ns.Number).u32(e.Owner).id(e.ID)
}

// PoolCounter counts the live experiences of one pool.
func PoolCounter(owner uint32) string { return "pool/" + strconv.FormatUint(uint64(owner), 10) }

// poolCounter counts the live experiences by kind of pool.
func poolCounter(e *Experience) string {
	switch {
	case !e.Shared():
		return "pools/own"
	case e.PromotedAt != 0:
		return "pools/meta"
	}
	return "pools/candidates"
}

func bufferCounter(owner uint32) string { return "buffer/" + strconv.FormatUint(uint64(owner), 10) }

// FeatureHash identifies what an experience of a group is about: distilling the group again supersedes by it.
func FeatureHash(lens, feature string) [32]byte {
	return sha256.Sum256([]byte(lens + "\x00" + feature))
}

func (t *txn) versionKey(owner uint32, id ID, version int) keyBuf {
	return nsKey(kindVersion, t.ns.Number).u32(owner).id(id).u32(uint32(version))
}

func (t *txn) featureKey(owner uint32, traj ID, lens, feature string) keyBuf {
	return nsKey(kindFeature, t.ns.Number).u32(owner).id(traj).hash(FeatureHash(lens, feature))
}

func clone(e *Experience) *Experience {
	c := *e
	return &c
}
