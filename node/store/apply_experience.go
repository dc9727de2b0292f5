package store

import (
	"slices"
	"strconv"

	"cairn/federation"
)

const (
	bufferTTL    = 7 * day
	bufferCap    = 2000
	maxLineage   = 64
	restoreUntil = 30 * day
)

// Distilled is the result of a distilling job.
type Distilled struct {
	Job        JobRef          `cbor:"1,keyasint"`
	Trajectory ID              `cbor:"2,keyasint"`
	Owner      uint32          `cbor:"3,keyasint"`
	Version    int             `cbor:"4,keyasint"` // of the group, as it was read
	Items      []DistilledItem `cbor:"5,keyasint,omitempty"`
	Gate       []GateRow       `cbor:"6,keyasint,omitempty"`
	Discarded  []Discard       `cbor:"7,keyasint,omitempty"`
}

// DistilledItem is a new experience, or a near duplicate to be merged into one that stands.
type DistilledItem struct {
	Experience Experience `cbor:"1,keyasint"`
	Vectors    Vectors    `cbor:"2,keyasint"`
	MergeInto  ID         `cbor:"3,keyasint"`
	MergeVer   int        `cbor:"4,keyasint,omitempty"`
}

// Kept lists what a distilling left: ids of the group's experiences.
type Kept struct {
	Experiences []ID `cbor:"1,keyasint,omitempty"`
}

func applyDistilled(t *txn, b *Distilled) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	traj := new(Trajectory)
	if !t.get(t.trajectoryKey(b.Owner, b.Trajectory), traj) {
		t.endJob(job)
		return Kept{}, nil
	}
	if traj.Version != b.Version {
		return nil, reject("precondition", "the group has more attempts than were read")
	}
	var kept []ID
	for i := range b.Items {
		id, rej := t.keep(traj, &b.Items[i])
		if rej != nil {
			return nil, rej
		}
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	traj.Experiences, traj.Gate, traj.Discarded = kept, b.Gate, b.Discarded
	traj.Distilled, traj.Status, traj.UpdatedAt = traj.Version, "distilled", t.now
	t.put(t.trajectoryKey(traj.Owner, traj.ID), traj)
	for _, row := range b.Gate {
		t.count("route/"+row.Route, 1)
	}
	for _, d := range b.Discarded {
		t.count("discarded/"+d.Reason, 1)
	}
	t.endJob(job)
	return Kept{kept}, nil
}

// keep stores one distilled experience: merged into the same text, superseding what the group said before about the same
// feature, or new.
func (t *txn) keep(traj *Trajectory, item *DistilledItem) (ID, *Reject) {
	e := &item.Experience
	if t.has(t.experienceKey(e.Owner, e.ID)) {
		return ID{}, reject("conflict", "experience id exists")
	}
	feature := t.featureKey(e.Owner, traj.ID, e.Lineage.Lens, e.Lineage.Feature)
	var before ID
	old, had := (*Experience)(nil), false
	if t.get(feature, &before) {
		old, had = t.experience(e.Owner, before)
		had = had && old.Live()
	}
	if same, ok := t.byHash(e.Owner, e.Hash); ok {
		t.join(same, e, same.ID == before)
		t.put(feature, same.ID)
		if had && old.ID != same.ID {
			t.supersede(old, same.ID, traj.ID)
		}
		return same.ID, nil
	}
	if item.MergeInto != (ID{}) {
		into, ok := t.experience(e.Owner, item.MergeInto)
		if !ok || !into.Live() || into.Version != item.MergeVer {
			return ID{}, reject("precondition", "the merge target changed")
		}
		if !had || into.ID != old.ID {
			return t.mergeNear(into, item), nil
		}
	}
	t.add(e, item.Vectors)
	t.put(feature, e.ID)
	if had {
		t.supersede(old, e.ID, traj.ID)
	}
	return e.ID, nil
}

// add stores a new experience of version 1 and says so on the feed.
func (t *txn) add(e *Experience, v Vectors) {
	e.Version, e.CreatedAt, e.StrengthAt = 1, t.now, t.now
	if e.Status == federation.StatusBuffered {
		e.ExpiresAt = t.now + bufferTTL
		t.evictBuffered(e.Owner)
	}
	t.save(nil, e)
	v.Version = 1
	t.put(t.vectorsKey(e.Owner, e.ID), v)
	if len(v.Vectors) == 0 {
		t.enqueue(JobEmbed, e.ID, e.Owner, t.now, "")
	}
	kind := "experience.recorded"
	if e.Status == federation.StatusBuffered {
		kind = "experience.buffered"
	}
	t.experienceEvent(kind, e, nil)
	t.count("recorded", 1)
	if e.Status == federation.StatusActive && e.Share == federation.ShareCandidate {
		t.enqueue(JobNominate, e.ID, e.Owner, t.now, "")
	}
}

// evictBuffered makes room in a full buffer: the oldest expires early.
func (t *txn) evictBuffered(owner uint32) {
	if t.counter(bufferCounter(owner)) < bufferCap {
		return
	}
	t.scan(nsKey(kindBuffered, t.ns.Number).u32(owner), func(k, _ []byte) bool {
		e, ok := t.experience(owner, lastID(k))
		if !ok || e.Status != federation.StatusBuffered {
			return true
		}
		t.expire(e)
		return false
	})
}

func (t *txn) expire(e *Experience) {
	old := clone(e)
	e.Status = federation.StatusArchived
	t.save(old, e)
	t.count("expired", 1)
}

// join adds the support of an exact duplicate to the experience that stands. again says that the same group was distilled
// again, so its attempts are in the support already.
func (t *txn) join(into, from *Experience, again bool) {
	old := clone(into)
	if again {
		into.Success, into.Failure = max(into.Success, from.Success), max(into.Failure, from.Failure)
	} else {
		into.Success += from.Success
		into.Failure += from.Failure
		t.count("merges", 1)
	}
	joinLineage(&into.Lineage, from.Lineage)
	into.Share = federation.CombineShare(into.Share, from.Share)
	if into.Status == federation.StatusBuffered &&
		(from.Status == federation.StatusActive || !again && into.Success > 0) {
		into.Status, into.ExpiresAt = federation.StatusActive, 0
	}
	t.save(old, into)
	if !again {
		t.experienceEvent("experience.merged", into, map[string]string{"exact": "true"})
	}
}

func joinLineage(into *Lineage, from Lineage) {
	for _, id := range from.Trajectories {
		if len(into.Trajectories) < maxLineage && !slices.Contains(into.Trajectories, id) {
			into.Trajectories = append(into.Trajectories, id)
		}
	}
}

// mergeNear keeps the better of two that say the same in other words. The other is stored and superseded, so that nothing
// is lost and the merge can be taken back.
func (t *txn) mergeNear(into *Experience, item *DistilledItem) ID {
	e := &item.Experience
	e.Version, e.CreatedAt, e.StrengthAt = 1, t.now, t.now
	e.Status, e.SupersededBy = federation.StatusSuperseded, into.ID
	t.save(nil, e)
	item.Vectors.Version = 1
	t.put(t.vectorsKey(e.Owner, e.ID), item.Vectors)
	old := clone(into)
	into.Success += e.Success
	into.Failure += e.Failure
	joinLineage(&into.Lineage, e.Lineage)
	if into.Status == federation.StatusBuffered && into.Success > 0 {
		into.Status, into.ExpiresAt = federation.StatusActive, 0
	}
	t.save(old, into)
	t.count("merges", 1)
	t.experienceEvent("experience.merged", into, map[string]string{"from": e.ID.String()})
	return into.ID
}

// supersede retires what a group said before. An experience that other groups support too only loses this one.
func (t *txn) supersede(old *Experience, by, traj ID) {
	was := clone(old)
	if len(old.Lineage.Trajectories) > 1 {
		old.Lineage.Trajectories = slices.DeleteFunc(slices.Clone(old.Lineage.Trajectories),
			func(id ID) bool { return id == traj })
	} else {
		old.Status, old.SupersededBy = federation.StatusSuperseded, by
	}
	t.save(was, old)
}

// AddExperience records a lesson directly.
type AddExperience struct {
	Experience Experience `cbor:"1,keyasint"`
	Vectors    Vectors    `cbor:"2,keyasint"`
	MergeInto  ID         `cbor:"3,keyasint"`
	MergeVer   int        `cbor:"4,keyasint,omitempty"`
}

// Added names the experience that holds the text, at a version; Merged says that it stood before.
type Added struct {
	ID      ID     `cbor:"1,keyasint"`
	Version int    `cbor:"2,keyasint"`
	Owner   uint32 `cbor:"3,keyasint,omitempty"`
	Merged  bool   `cbor:"4,keyasint,omitempty"`
}

func applyAddExperience(t *txn, b *AddExperience) (any, *Reject) {
	e := &b.Experience
	agent, ok := t.agent(e.Agent)
	if !ok {
		return nil, reject("unauthenticated", "the agent was removed")
	}
	e.Owner, e.Principal = agent.Number, agent.Principal
	if t.has(t.experienceKey(e.Owner, e.ID)) {
		return nil, reject("conflict", "experience id exists")
	}
	if same, ok := t.byHash(e.Owner, e.Hash); ok {
		t.join(same, e, false)
		t.wish(same, e.Share)
		return Added{same.ID, same.Version, same.Owner, true}, nil
	}
	if b.MergeInto != (ID{}) {
		into, ok := t.experience(e.Owner, b.MergeInto)
		if !ok || !into.Live() || into.Version != b.MergeVer {
			return nil, reject("precondition", "the merge target changed")
		}
		t.mergeNear(into, &DistilledItem{Experience: *e, Vectors: b.Vectors})
		t.wish(into, e.Share)
		return Added{into.ID, into.Version, into.Owner, true}, nil
	}
	t.add(e, b.Vectors)
	return Added{ID: e.ID, Version: 1, Owner: e.Owner}, nil
}

// wish follows an author's wish to share at once.
func (t *txn) wish(e *Experience, share federation.Share) {
	if share == federation.ShareCandidate && e.Candidate == (ID{}) {
		t.enqueue(JobNominate, e.ID, e.Owner, t.now, "")
	}
}

// PatchExperience replaces the content of a private experience by a new version.
type PatchExperience struct {
	ID            ID                `cbor:"1,keyasint"`
	Owner         uint32            `cbor:"2,keyasint"`
	Version       int               `cbor:"3,keyasint"` // that stands
	Scenario      string            `cbor:"4,keyasint"`
	Content       string            `cbor:"5,keyasint"`
	Keywords      []string          `cbor:"6,keyasint,omitempty"`
	Tools         []string          `cbor:"7,keyasint,omitempty"`
	Preconditions map[string]string `cbor:"8,keyasint,omitempty"`
	ValidUntil    int64             `cbor:"9,keyasint,omitempty"`
	Share         federation.Share  `cbor:"10,keyasint,omitempty"`
	Hash          [32]byte          `cbor:"11,keyasint"`
	Vectors       Vectors           `cbor:"12,keyasint"`
}

func applyPatchExperience(t *txn, b *PatchExperience) (any, *Reject) {
	e, ok := t.experience(b.Owner, b.ID)
	if !ok {
		return nil, reject("not_found", "experience not found")
	}
	if e.Version != b.Version {
		return nil, reject("precondition", "version "+strconv.Itoa(e.Version)+" stands")
	}
	if !e.Live() || e.Shared() {
		return nil, reject("conflict", "only a live private experience is changed; this one is "+string(e.Status))
	}
	if same, ok := t.byHash(b.Owner, b.Hash); ok && same.ID != e.ID {
		return nil, reject("conflict", "experience "+same.ID.String()+" has this text")
	}
	old := clone(e)
	t.put(nsKey(kindVersion, t.ns.Number).u32(e.Owner).id(e.ID).u32(uint32(e.Version)), old)
	e.Version++
	e.Scenario, e.Content, e.Keywords, e.Tools = b.Scenario, b.Content, b.Keywords, b.Tools
	e.Preconditions, e.ValidUntil, e.Hash = b.Preconditions, b.ValidUntil, b.Hash
	e.Share = b.Share
	e.Own, e.Candidate, e.Blocked = federation.OwnRecord{}, ID{}, ""
	t.save(old, e)
	b.Vectors.Version = e.Version
	t.put(t.vectorsKey(e.Owner, e.ID), b.Vectors)
	if len(b.Vectors.Vectors) == 0 {
		t.enqueue(JobEmbed, e.ID, e.Owner, t.now, "")
	}
	t.experienceEvent("experience.corrected", e, map[string]string{"version": strconv.Itoa(e.Version)})
	t.wish(e, e.Share)
	return Added{ID: e.ID, Version: e.Version, Owner: e.Owner}, nil
}

// Target names an experience in a version; Version 0 means whichever stands.
type Target struct {
	ID      ID     `cbor:"1,keyasint"`
	Owner   uint32 `cbor:"2,keyasint"`
	Version int    `cbor:"3,keyasint,omitempty"`
}

func applyRestore(t *txn, b *Target) (any, *Reject) {
	e, ok := t.experience(b.Owner, b.ID)
	if !ok {
		return nil, reject("not_found", "experience not found")
	}
	if e.Status != federation.StatusArchived {
		return nil, reject("conflict", "only an archived experience is restored; this one is "+string(e.Status))
	}
	if same, ok := t.byHash(e.Owner, e.Hash); ok {
		return nil, reject("conflict", "experience "+same.ID.String()+" has this text")
	}
	old := clone(e)
	e.Status, e.ExpiresAt, e.SupersededBy = federation.StatusActive, 0, ID{}
	e.Recalled, e.Helped = 0, 0 // a second chance: the old counters would archive it at its next recall
	t.save(old, e)
	t.experienceEvent("experience.released", e, nil)
	return Added{ID: e.ID, Version: e.Version, Owner: e.Owner}, nil
}

// SetVectors is the result of an embedding job.
type SetVectors struct {
	Job     JobRef  `cbor:"1,keyasint"`
	Target  Target  `cbor:"2,keyasint"`
	Vectors Vectors `cbor:"3,keyasint"`
}

func applySetVectors(t *txn, b *SetVectors) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	if e, ok := t.experience(b.Target.Owner, b.Target.ID); ok && e.Version == b.Target.Version {
		b.Vectors.Version = e.Version
		t.put(t.vectorsKey(e.Owner, e.ID), b.Vectors)
		t.change(ChangeExperience, e.Owner, e.ID)
	}
	t.endJob(job)
	return b.Target, nil
}
