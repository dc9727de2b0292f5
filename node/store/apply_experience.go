package store

import (
	"maps"
	"slices"
	"strconv"

	"cairn/federation"
)

const (
	bufferTTL    = 7 * day
	bufferCap    = 2000
	maxLineage   = 64
	maxDistilled = 64 // experiences of one distilling
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
	job, rej := t.leasedFor(b.Job, JobDistil, b.Trajectory)
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
	if len(b.Items) > maxDistilled {
		return nil, rejectField("body.items", "at most 64 experiences a group")
	}
	author := t.author(traj.Agent)
	var kept []ID
	for i := range b.Items {
		id, rej := t.keep(traj, &author, &b.Items[i])
		if rej != nil {
			return nil, rej
		}
		if id != (ID{}) && !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	t.countRoutes(traj, -1) // a group that is distilled again counts once
	traj.Experiences, traj.Gate, traj.Discarded = kept, b.Gate, b.Discarded
	t.countRoutes(traj, 1)
	traj.Distilled, traj.Status, traj.UpdatedAt = traj.Version, trajDistilled, t.now
	t.put(t.trajectoryKey(traj.Owner, traj.ID), traj)
	t.endJob(job)
	return Kept{kept}, nil
}

// author is an agent as it stands or as it was when it was removed.
func (t *txn) author(id string) Agent {
	var a Agent
	t.get(t.agentKey(id), &a)
	return a
}

func (t *txn) countRoutes(traj *Trajectory, by int64) {
	for _, row := range traj.Gate {
		t.count("route/"+row.Route, by)
	}
	for _, d := range traj.Discarded {
		t.count("discarded/"+d.Reason, by)
	}
}

// admit checks a new experience that came from a proposer and takes away what only the state machine may say.
func (t *txn) admit(e *Experience, author *Agent) *Reject {
	switch {
	case e.ID == (ID{}) || t.has(nsKey(kindOwner, t.ns.Number).id(e.ID)):
		return reject("conflict", "experience id is zero or exists")
	case e.Status != federation.StatusActive && e.Status != federation.StatusBuffered:
		return rejectField("body.status", "a new experience is active or buffered")
	case !e.Kind.Valid():
		return rejectField("body.kind", "unknown kind of experience")
	case !e.Share.Valid():
		return rejectField("body.share", "must be auto, candidate or never")
	case len(e.Lineage.DerivedFrom) > maxLineage || len(e.Lineage.Trajectories) > maxLineage || len(e.Lineage.Reflections) > maxLineage:
		return rejectField("body.lineage", "at most 64 ids of a kind")
	}
	e.Owner, e.Agent, e.Principal = author.Number, author.ID, author.Principal
	e.Version, e.CreatedAt, e.StrengthAt = 1, t.now, t.now
	e.Uses, e.Harms, e.Recalled, e.Helped, e.Own = 0, 0, 0, 0, federation.OwnRecord{}
	e.Candidate, e.Origin, e.OriginOwner, e.OriginVer, e.Unit, e.Trust = ID{}, ID{}, 0, 0, "", nil
	e.General, e.SupersededBy, e.ExpiresAt, e.PromotedAt, e.Blocked = false, ID{}, 0, 0, ""
	e.Prior, e.HeldBy, e.Reason, e.Pending = "", ID{}, "", ID{}
	e.RecalledAt = 0
	e.setActions()
	return nil
}

// keep stores one distilled experience: merged into the same text, superseding what the group said before about the same
// feature, or new.
// The zero id says that the lesson was removed before and does not come back.
func (t *txn) keep(traj *Trajectory, author *Agent, item *DistilledItem) (ID, *Reject) {
	e := &item.Experience
	if rej := t.admit(e, author); rej != nil {
		return ID{}, rej
	}
	e.Share = federation.CombineShare(e.Share, traj.Share)
	feature := t.featureKey(e.Owner, traj.ID, e.Lineage.Lens, e.Lineage.Feature)
	var said featureRecord
	var old *Experience
	if t.get(feature, &said) {
		var stands bool
		if old, stands = t.experience(e.Owner, said.ID); !stands || unwanted(old) && old.Hash == e.Hash {
			return ID{}, nil
		}
	}
	holder, rej := t.place(traj, item, old, said)
	if rej != nil {
		return ID{}, rej
	}
	t.put(feature, featureRecord{holder, e.Success, e.Failure})
	if old != nil && old.ID != holder {
		t.withdraw(old.ID, holder, traj.ID, said)
	}
	return holder, nil
}

// place finds the experience that holds an item's text: the same text, a near duplicate, or the item itself. said is what
// the group said about the feature before, old the experience that holds that.
func (t *txn) place(traj *Trajectory, item *DistilledItem, old *Experience, said featureRecord) (ID, *Reject) {
	e := &item.Experience
	if same, ok := t.byHash(e.Owner, e.Hash); ok {
		if old == nil || old.ID != same.ID {
			said = featureRecord{}
		}
		t.join(same, e, said)
		return same.ID, nil
	}
	if into, ok := t.absorbing(e); ok {
		switch {
		case old == nil || old.ID != into.ID && old.SupersededBy != into.ID:
			said = featureRecord{}
		default:
			said.ID = into.ID // what the group gave the source is counted in the strategy
		}
		t.join(into, e, said)
		return into.ID, nil
	}
	if item.MergeInto != (ID{}) {
		into, ok := t.experience(e.Owner, item.MergeInto)
		if !ok || !into.Live() || into.Version != item.MergeVer {
			return ID{}, reject("precondition", "the merge target changed")
		}
		switch {
		case old == nil || into.ID != old.ID:
			return t.mergeNear(into, item, featureRecord{}), nil
		case supportedByOthers(into, traj.ID):
			return t.mergeNear(into, item, said), nil
		}
	}
	t.add(e, item.Vectors)
	return e.ID, nil
}

// useless reports whether an experience was archived because its recalls did not help.
func useless(e *Experience) bool { return e.Status == federation.StatusArchived && e.Recalled > 0 }

// unwanted reports whether a text was taken out of use: a job does not bring it back.
func unwanted(e *Experience) bool {
	return useless(e) || e.Status == federation.StatusHeld || e.Status == federation.StatusRevoked
}

func supportedByOthers(e *Experience, traj ID) bool {
	return e.Lineage.Lens == LensStrategy || slices.ContainsFunc(e.Lineage.Trajectories, func(id ID) bool { return id != traj })
}

// add stores a new experience of version 1 and says so on the feed.
func (t *txn) add(e *Experience, v Vectors) {
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
	t.considerCompaction(e)
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

// join adds the support of an exact duplicate to the experience that stands. said is the support that the same group gave
// before, when it is distilled again.
func (t *txn) join(into, from *Experience, said featureRecord) {
	again := said.ID == into.ID
	old := clone(into)
	t.absorb(into, from, said, from.Status == federation.StatusActive || !again && into.Success+from.Success > 0)
	t.save(old, into)
	if !again {
		t.count("merges", 1)
		t.experienceEvent("experience.merged", into, map[string]string{"exact": "true"})
	}
	t.wish(into, from.Share)
}

// absorb adds what a duplicate brings; proved takes a buffered experience into long-term memory.
func (t *txn) absorb(into, from *Experience, said featureRecord, proved bool) {
	into.Success = max(0, into.Success+from.Success-said.Success)
	into.Failure = max(0, into.Failure+from.Failure-said.Failure)
	joinLineage(&into.Lineage, from.Lineage)
	into.Share = federation.CombineShare(into.Share, from.Share)
	if into.Status == federation.StatusBuffered && proved {
		into.Status, into.ExpiresAt = federation.StatusActive, 0
	}
}

func joinLineage(into *Lineage, from Lineage) {
	into.Trajectories = joinIDs(into.Trajectories, from.Trajectories)
	into.Reflections = joinIDs(into.Reflections, from.Reflections)
}

// joinIDs adds ids up to the limit of a lineage. The record as it stood shares the list, so that a longer one is a new one.
func joinIDs(into, from []ID) []ID {
	into = slices.Clone(into)
	for _, id := range from {
		if len(into) < maxLineage && !slices.Contains(into, id) {
			into = append(into, id)
		}
	}
	return into
}

// mergeNear keeps the better of two that say the same in other words. The other is stored and superseded, so that nothing
// is lost and the merge can be taken back.
func (t *txn) mergeNear(into *Experience, item *DistilledItem, said featureRecord) ID {
	e := &item.Experience
	t.noteDuplicate(into, e, said, e.Status)
	e.Status, e.SupersededBy = federation.StatusSuperseded, into.ID
	t.save(nil, e)
	item.Vectors.Version = 1
	t.put(t.vectorsKey(e.Owner, e.ID), item.Vectors)
	old := clone(into)
	t.absorb(into, e, said, into.Success+e.Success > 0)
	t.save(old, into)
	t.count("merges", 1)
	t.experienceEvent("experience.merged", into, map[string]string{"from": e.ID.String()})
	t.wish(into, e.Share)
	return into.ID
}

// withdraw takes back what a group said before, when it says something else now. An experience that other groups support
// too loses this one's support; else it is superseded.
func (t *txn) withdraw(id, by, traj ID, said featureRecord) {
	old, ok := t.find(id)
	if !ok || !old.Live() {
		return
	}
	was := clone(old)
	if supportedByOthers(old, traj) {
		old.Success, old.Failure = max(0, old.Success-said.Success), max(0, old.Failure-said.Failure)
		old.Lineage.Trajectories = slices.DeleteFunc(slices.Clone(old.Lineage.Trajectories),
			func(id ID) bool { return id == traj })
	} else {
		t.noteRevised(was, by)
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
	if rej := t.admit(e, &agent); rej != nil {
		return nil, rej
	}
	if same, ok := t.byHash(e.Owner, e.Hash); ok {
		t.lessonSeen(&agent, e)
		t.join(same, e, featureRecord{})
		return Added{same.ID, same.Version, same.Owner, true}, nil
	}
	if into, ok := t.absorbing(e); ok {
		t.lessonSeen(&agent, e)
		t.join(into, e, featureRecord{})
		return Added{into.ID, into.Version, into.Owner, true}, nil
	}
	if b.MergeInto != (ID{}) {
		into, ok := t.experience(e.Owner, b.MergeInto)
		if !ok || !into.Live() || into.Version != b.MergeVer {
			return nil, reject("precondition", "the merge target changed")
		}
		t.lessonSeen(&agent, e)
		t.mergeNear(into, &DistilledItem{Experience: *e, Vectors: b.Vectors}, featureRecord{})
		return Added{into.ID, into.Version, into.Owner, true}, nil
	}
	t.lessonSeen(&agent, e)
	t.add(e, b.Vectors)
	return Added{ID: e.ID, Version: 1, Owner: e.Owner}, nil
}

// wish follows an author's wish to share at once.
func (t *txn) wish(e *Experience, share federation.Share) {
	if share == federation.ShareCandidate && e.Status == federation.StatusActive && !t.onShelf(e) {
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
	if !b.Share.Valid() {
		return nil, rejectField("body.share", "must be auto, candidate or never")
	}
	if b.changesNothing(e) {
		return Added{ID: e.ID, Version: e.Version, Owner: e.Owner}, nil // a version of its own would lose what it has earned
	}
	old := clone(e)
	t.put(t.versionKey(e.Owner, e.ID, e.Version), old)
	e.Version++
	e.Scenario, e.Content, e.Keywords, e.Tools = b.Scenario, b.Content, b.Keywords, b.Tools
	e.Preconditions, e.ValidUntil, e.Hash = b.Preconditions, b.ValidUntil, b.Hash
	e.Share = b.Share
	e.Own, e.Candidate, e.Blocked, e.Embedded = federation.OwnRecord{}, ID{}, "", 0
	if e.Content != old.Content {
		e.Actions = nil
		e.setActions()
	}
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

func (b *PatchExperience) changesNothing(e *Experience) bool {
	return b.Scenario == e.Scenario && b.Content == e.Content && slices.Equal(b.Keywords, e.Keywords) && slices.Equal(b.Tools, e.Tools) &&
		maps.Equal(b.Preconditions, e.Preconditions) && b.ValidUntil == e.ValidUntil && b.Share == e.Share && b.Hash == e.Hash
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
	job, rej := t.leasedFor(b.Job, JobEmbed, b.Target.ID)
	if rej != nil {
		return nil, rej
	}
	if e, ok := t.experience(b.Target.Owner, b.Target.ID); ok && e.Version == b.Target.Version {
		b.Vectors.Version = e.Version
		t.put(t.vectorsKey(e.Owner, e.ID), b.Vectors)
		e.Embedded++ // so that the index notices
		t.put(t.experienceKey(e.Owner, e.ID), e)
		t.change(ChangeExperience, e.Owner, e.ID)
	}
	t.endJob(job)
	return b.Target, nil
}
