package store

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"cairn/federation"
)

const (
	// LensStrategy is the lens of experiences that several others were compacted into.
	LensStrategy = "strategy"
	// MinSources is how many experiences a strategy is made of at least; maxSources bounds what one command touches.
	MinSources = 4
	maxSources = 16
	// provenUses is after how many successful uses of a strategy its sources give way to it.
	provenUses = 3

	maxStrategies = 8
	retireKeys    = 800 // keys of a command beyond which no more sources give way; the next use goes on
)

// compactSubject names the sub-pool that a compaction job is about, so that one is queued at a time.
func compactSubject(owner uint32, taskType string) ID {
	h := sha256.New()
	var number [4]byte
	binary.BigEndian.PutUint32(number[:], owner)
	h.Write([]byte("cairn.compact.v1\x00"))
	h.Write(number[:])
	h.Write([]byte(taskType))
	var id ID
	copy(id[:], h.Sum(nil))
	return id
}

// considerCompaction queues a look at a sub-pool that got another success: at each one while the pool is small, more rarely
// as it grows, so that the looks cost a settled share of the writes.
func (t *txn) considerCompaction(e *Experience) {
	if e.Status != federation.StatusActive || e.Kind != federation.KindSuccess || e.TaskType == "" || e.Shared() || e.Lineage.Lens == LensStrategy {
		return
	}
	pool := t.counter(PoolCounter(e.Owner))
	if pool < MinSources || pool%max(1, pool/8) != 0 {
		return
	}
	t.enqueue(JobCompact, compactSubject(e.Owner, e.TaskType), e.Owner, t.now, e.TaskType)
}

// Compacted is the result of a compaction job: strategies with the experiences that each was made of.
type Compacted struct {
	Job   JobRef     `cbor:"1,keyasint"`
	Items []Strategy `cbor:"2,keyasint,omitempty"` // at most 8
}

// Strategy is an experience that says in general what its sources say in particular.
type Strategy struct {
	Experience Experience `cbor:"1,keyasint"`
	Vectors    Vectors    `cbor:"2,keyasint"`
	Sources    []Target   `cbor:"3,keyasint"` // 4 to 16 live experiences of the pool, in the version that was read
}

func applyCompacted(t *txn, b *Compacted) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej == nil && job.Kind != JobCompact {
		rej = reject("conflict", "the job is a "+job.Kind)
	}
	if rej != nil {
		return nil, rej
	}
	if len(b.Items) > maxStrategies {
		return nil, rejectField("body.items", "at most 8 strategies")
	}
	for i := range b.Items {
		if rej := t.checkStrategy(&job, &b.Items[i]); rej != nil {
			return nil, rej
		}
	}
	var kept []ID
	for i := range b.Items {
		id, rej := t.keepStrategy(&b.Items[i])
		if rej != nil {
			return nil, rej
		}
		kept = append(kept, id)
	}
	t.endJob(job)
	return Kept{kept}, nil
}

// checkStrategy holds a strategy to its job's sub-pool. Nothing of another agent, and so of another principal, gets in.
func (t *txn) checkStrategy(job *Job, s *Strategy) *Reject {
	e := &s.Experience
	if len(s.Sources) < MinSources || len(s.Sources) > maxSources {
		return rejectField("body.items", "a strategy has 4..16 sources")
	}
	if e.Lineage.Lens != LensStrategy || e.Status != federation.StatusActive || e.TaskType != job.Extra {
		return rejectField("body.items", "a strategy is active, of its lens and of the job's task type")
	}
	for i, target := range s.Sources {
		source, ok := t.experience(job.Owner, target.ID)
		switch {
		case !ok || !source.Live() || source.Version != target.Version || source.TaskType != job.Extra:
			return reject("precondition", "a source changed")
		case source.Agent != e.Agent:
			return rejectField("body.items", "the sources are the author's own")
		case slices.ContainsFunc(s.Sources[:i], func(x Target) bool { return x.ID == target.ID }):
			return rejectField("body.items", "a source is named twice")
		}
	}
	return nil
}

// keepStrategy stores a strategy beside its sources, with counters of its own. One that stands with this text takes the
// sources over. What its author wished for a source about sharing holds for it too.
func (t *txn) keepStrategy(s *Strategy) (ID, *Reject) {
	e := &s.Experience
	author := t.author(e.Agent)
	e.Lineage.DerivedFrom, e.Lineage.Trajectories, e.Success, e.Failure = nil, nil, 0, 0
	for _, target := range s.Sources {
		source, _ := t.experience(author.Number, target.ID)
		e.Lineage.DerivedFrom = append(e.Lineage.DerivedFrom, source.ID)
		e.Success, e.Failure = e.Success+source.Success, e.Failure+source.Failure
		e.Share = federation.CombineShare(e.Share, source.Share)
	}
	if rej := t.admit(e, &author); rej != nil {
		return ID{}, rej
	}
	same, ok := t.byHash(e.Owner, e.Hash)
	switch {
	case !ok:
		t.add(e, s.Vectors)
		t.count("strategies", 1)
		same = e
	case same.Lineage.Lens == LensStrategy:
		t.extend(same, e)
	}
	for _, id := range e.Lineage.DerivedFrom {
		t.put(sourceKey(t.ns.Number, e.Owner, id), same.ID)
	}
	return same.ID, nil
}

// sourceKey marks what was compacted. The mark outlives the strategy: one that was erased or found useless is not made again.
func sourceKey(ns, owner uint32, id ID) keyBuf { return nsKey(kindSource, ns).u32(owner).id(id) }

// StrategyOf is the strategy that an experience was compacted into, zero when there was none. It may be gone.
func (v *View) StrategyOf(ns *Namespace, owner uint32, id ID) (ID, error) {
	var out ID
	_, err := v.get(sourceKey(ns.Number, owner, id), &out)
	return out, err
}

// extend gives a strategy more sources, as far as its lineage goes.
func (t *txn) extend(into, from *Experience) {
	old := clone(into)
	into.Lineage.DerivedFrom = slices.Clone(into.Lineage.DerivedFrom)
	for _, id := range from.Lineage.DerivedFrom {
		if len(into.Lineage.DerivedFrom) < maxLineage && !slices.Contains(into.Lineage.DerivedFrom, id) {
			into.Lineage.DerivedFrom = append(into.Lineage.DerivedFrom, id)
			t.mark(nsKey(kindChild, t.ns.Number).id(id).id(into.ID))
		}
	}
	into.Share = federation.CombineShare(into.Share, from.Share)
	t.save(old, into)
}

// retireSources lets the sources of a strategy give way to it once it has helped often enough: each is superseded, which
// can be taken back. Those that were taken back stay, and so do those that others judge.
func (t *txn) retireSources(e *Experience) {
	if e.Lineage.Lens != LensStrategy || e.Uses < provenUses || e.Shared() || !e.Live() {
		return
	}
	for _, id := range e.Lineage.DerivedFrom {
		if len(t.writes) > retireKeys {
			return
		}
		source, ok := t.experience(e.Owner, id)
		var m Merge
		if !ok || !source.Live() || t.onShelf(source) || t.get(mergeKey(t.ns.Number, e.Owner, id), &m) && m.Into == e.ID {
			continue
		}
		old := clone(source)
		t.put(mergeKey(t.ns.Number, e.Owner, id), Merge{
			From: id, Into: e.ID, Owner: e.Owner, Agent: e.Agent, Cause: MergeCompacted, Prior: source.Status, At: t.now,
		})
		source.Status, source.SupersededBy, source.ExpiresAt = federation.StatusSuperseded, e.ID, 0
		t.save(old, source)
		t.put(t.absorbedKey(source), e.ID)
		t.count("compacted", 1)
		t.experienceEvent("experience.merged", e, map[string]string{"from": id.String()})
	}
}

// absorbedKey finds a strategy by the text of a source that gave way to it: the same text is not learnt again beside it.
func (t *txn) absorbedKey(e *Experience) keyBuf {
	return nsKey(kindAbsorbed, t.ns.Number).u32(e.Owner).hash(e.Hash)
}

// absorbing is the live strategy that took over a text.
func (t *txn) absorbing(e *Experience) (*Experience, bool) {
	var id ID
	if !t.get(t.absorbedKey(e), &id) {
		return nil, false
	}
	into, ok := t.experience(e.Owner, id)
	return into, ok && into.Live()
}
