package store

import (
	"cairn/federation"
)

// Actions of a curator.
const (
	ActionHold    = "hold"    // out of every recall until released
	ActionRelease = "release" // back to where it was; a quarantined copy goes to a jury
	ActionRevoke  = "revoke"  // called back for good
)

const (
	curateKeys = 400  // a curation stops closing descendants at this many writes; its job goes on
	givenLook  = 2000 // back links of receipts that one command reads
)

// Curate holds, releases or revokes an experience with what was derived from it.
type Curate struct {
	Target Target `cbor:"1,keyasint"`
	Action string `cbor:"2,keyasint"`
	Reason string `cbor:"3,keyasint,omitempty"`
	By     string `cbor:"4,keyasint"`
}

// Curated lists what changed, the root first. The rest of a large family follows by job.
type Curated struct {
	Target  Target `cbor:"1,keyasint"`
	Changed []ID   `cbor:"2,keyasint,omitempty"`
}

func applyCurate(t *txn, b *Curate) (any, *Reject) {
	e, ok := t.experience(b.Target.Owner, b.Target.ID)
	if !ok {
		return nil, reject("not_found", "experience not found")
	}
	if b.Target.Version != 0 && b.Target.Version != e.Version {
		return nil, reject("precondition", "the experience changed")
	}
	if rej := t.mayCurate(e, b.Action); rej != nil {
		return nil, rej
	}
	out := Curated{Target: Target{ID: e.ID, Owner: e.Owner, Version: e.Version}}
	if e.Status == federation.StatusQuarantined && b.Action == ActionRelease {
		t.releaseQuarantined(e)
		out.Changed = []ID{e.ID}
		return out, nil
	}
	e.Withdrawn = b.Action == ActionRevoke && b.By == e.Agent
	t.curate(e, e.ID, b.Action, b.Reason)
	out.Changed = append(out.Changed, e.ID)
	more := t.curateChildren(e, e.ID, b.Action, &out.Changed)
	if more || b.Action == ActionRevoke {
		t.enqueue(JobCurate, e.ID, e.Owner, t.now, b.Action)
	}
	return out, nil
}

// mayCurate refuses what would have no effect or take a text's place.
func (t *txn) mayCurate(e *Experience, action string) *Reject {
	switch action {
	case ActionHold:
		if !e.Live() {
			return reject("conflict", "only a live experience is held; this one is "+string(e.Status))
		}
	case ActionRelease:
		if e.Status == federation.StatusQuarantined {
			return nil
		}
		if e.Status != federation.StatusHeld {
			return reject("conflict", "only a held or quarantined experience is released; this one is "+string(e.Status))
		}
		if same, ok := t.byHash(e.Owner, unitHash(e.Unit, e.Hash)); ok {
			return reject("conflict", "experience "+same.ID.String()+" has this text now")
		}
	case ActionRevoke:
		if e.Status == federation.StatusRevoked {
			return reject("conflict", "it was revoked before")
		}
	default:
		return rejectField("body.action", "must be hold, release or revoke")
	}
	return nil
}

// curate changes one experience. root is whose curation it is: releasing the root releases what it held, and nothing else.
func (t *txn) curate(e *Experience, root ID, action, reason string) {
	old := clone(e)
	data := map[string]string{}
	if root != e.ID {
		data["root"] = root.String()
	}
	kind := "experience.held"
	switch action {
	case ActionHold:
		e.Prior, e.HeldBy, e.Status, e.Reason = e.Status, root, federation.StatusHeld, reason
	case ActionRelease:
		e.Status, e.Prior, e.HeldBy, e.Reason = e.Prior, "", ID{}, ""
		kind = "experience.released"
	case ActionRevoke:
		e.Status, e.Prior, e.HeldBy, e.Reason = federation.StatusRevoked, "", root, reason
		kind = "experience.revoked"
	}
	t.save(old, e)
	if action == ActionRelease && e.Shared() && e.Status == federation.StatusCandidate {
		t.enqueue(JobPromote, e.ID, e.Owner, t.now, "") // what was reported while it was held asked for nothing
	}
	t.experienceEvent(kind, e, data)
	if action == ActionRevoke {
		t.count("revoked", 1)
	}
}

// concerns reports whether a descendant follows an action on root.
func (t *txn) concerns(e *Experience, root ID, action string) bool {
	switch action {
	case ActionHold:
		return e.Live()
	case ActionRelease:
		_, taken := t.byHash(e.Owner, unitHash(e.Unit, e.Hash))
		return e.Status == federation.StatusHeld && e.HeldBy == root && !taken
	}
	return e.Status != federation.StatusRevoked
}

// curateChildren follows lineage from a node, parents first. It reports whether something is left for the job.
func (t *txn) curateChildren(from *Experience, root ID, action string, changed *[]ID) (more bool) {
	next, seen := []ID{from.ID}, map[ID]bool{from.ID: true}
	for i := 0; i < len(next); i++ {
		t.scan(nsKey(kindChild, t.ns.Number).id(next[i]), func(k, _ []byte) bool {
			child := lastID(k)
			if seen[child] {
				return true
			}
			seen[child] = true
			next = append(next, child)
			e, ok := t.find(child)
			if !ok || !t.concerns(e, root, action) {
				return true
			}
			if len(t.writes) >= curateKeys {
				more = true
				return false
			}
			t.curate(e, root, action, "")
			*changed = append(*changed, child)
			return true
		})
		if more {
			return true
		}
	}
	return false
}

// releaseQuarantined hands a copy that screening stopped to a jury: the copy goes, and its original is nominated anew with
// the curator's word in place of the screener's.
func (t *txn) releaseQuarantined(e *Experience) {
	original, ok := t.experience(e.OriginOwner, e.Origin)
	t.drop(e)
	t.experienceEvent("experience.released", e, nil)
	t.enqueue(JobPurge, e.ID, e.Owner, t.now, "")
	if !ok {
		return
	}
	was := clone(original)
	original.Candidate, original.Blocked = ID{}, ""
	original.Share = federation.ShareCandidate
	t.save(was, original)
	t.enqueue(JobNominate, original.ID, original.Owner, t.now, ExtraCleared)
}

// ExtraCleared marks a nomination whose text a curator looked at.
const ExtraCleared = "cleared"

// FollowUp is a step of a curation's job: descendants that are left, and who is to be told of a revocation.
type FollowUp struct {
	Job    JobRef `cbor:"1,keyasint"`
	Target Target `cbor:"2,keyasint"`
	Action string `cbor:"3,keyasint"`
	After  []byte `cbor:"4,keyasint,omitempty"` // place in the back links of receipts
}

// FollowedUp says how far the step came.
type FollowedUp struct {
	Told  int    `cbor:"1,keyasint,omitempty"`
	After []byte `cbor:"2,keyasint,omitempty"`
	More  bool   `cbor:"3,keyasint,omitempty"`
}

func applyFollowUp(t *txn, b *FollowUp) (any, *Reject) {
	job, rej := t.leasedFor(b.Job, JobCurate, b.Target.ID)
	if rej != nil {
		return nil, rej
	}
	e, ok := t.experience(b.Target.Owner, b.Target.ID)
	if !ok || !follows(e, b.Action) {
		t.endJob(job)
		return FollowedUp{}, nil
	}
	var changed []ID
	out := FollowedUp{More: t.curateChildren(e, e.ID, b.Action, &changed)}
	if b.Action == ActionRevoke && !out.More {
		for _, id := range changed {
			if child, ok := t.find(id); ok {
				t.enqueue(JobCurate, id, child.Owner, t.now, ActionRevoke)
			}
		}
		if out.More = t.partFused(e.ID, partedBy(e)); out.More {
			out.After = b.After
			return out, nil
		}
		out.After, out.Told = t.tell(e, b.After)
		out.More = len(out.After) > 0
		if len(b.After) == 0 {
			t.enqueueChildren(e)
		}
	}
	if !out.More {
		t.endJob(job)
	}
	return out, nil
}

// follows reports whether the root still is what the action made it: a release may have overtaken the job of a hold.
func follows(e *Experience, action string) bool {
	switch action {
	case ActionHold:
		return e.Status == federation.StatusHeld
	case ActionRevoke:
		return e.Status == federation.StatusRevoked
	}
	return e.Live()
}

// enqueueChildren sees to it that those who were given a revoked descendant are told, too.
func (t *txn) enqueueChildren(e *Experience) {
	t.scan(nsKey(kindChild, t.ns.Number).id(e.ID), func(k, _ []byte) bool {
		if child, ok := t.find(lastID(k)); ok && child.Status == federation.StatusRevoked {
			t.enqueue(JobCurate, child.ID, child.Owner, t.now, ActionRevoke)
		}
		return len(t.writes) < purgeStep
	})
}

func withdrawnKey(ns, agent uint32, id ID) keyBuf { return nsKey(kindWithdrawn, ns).u32(agent).id(id) }

// Withdrawn notes that an agent was given what was revoked since. Told is when its recall said so, 0 before.
type Withdrawn struct {
	At   int64 `cbor:"1,keyasint"`
	Told int64 `cbor:"2,keyasint,omitempty"`
}

// tell notes a revocation for every agent that was given the experience, a step at a time.
func (t *txn) tell(e *Experience, after []byte) (next []byte, told int) {
	prefix := nsKey(kindGiven, t.ns.Number).id(e.ID)
	lower := append(append(keyBuf(nil), prefix...), after...)
	if len(after) > 0 {
		lower = append(lower, 0)
	}
	looked := 0
	t.scanRange(lower, upper(prefix), func(k, _ []byte) bool {
		if looked == givenLook || len(t.writes) >= purgeStep {
			return false
		}
		looked++
		next = append([]byte(nil), k[len(prefix):]...)
		mark := withdrawnKey(t.ns.Number, u32At(k, len(k)-4), e.ID)
		if !t.has(mark) {
			t.put(mark, Withdrawn{At: t.now})
			told++
		}
		return true
	})
	if looked < givenLook && len(t.writes) < purgeStep {
		return nil, told
	}
	return next, told
}

// confirmTold notes that an agent's recall listed what was withdrawn from it.
func (t *txn) confirmTold(agent uint32, ids []ID) {
	for _, id := range ids {
		k := withdrawnKey(t.ns.Number, agent, id)
		var w Withdrawn
		if t.get(k, &w) && w.Told == 0 {
			w.Told = t.now
			t.put(k, w)
		}
	}
}

// DecidePromotion is a curator's answer to a decision that waits for one.
type DecidePromotion struct {
	ID      ID     `cbor:"1,keyasint"`
	Approve bool   `cbor:"2,keyasint,omitempty"`
	Reason  string `cbor:"3,keyasint,omitempty"`
	By      string `cbor:"4,keyasint"`
}

func applyDecidePromotion(t *txn, b *DecidePromotion) (any, *Reject) {
	k := nsKey(kindDecision, t.ns.Number).id(b.ID)
	var d Decision
	if !t.get(k, &d) {
		return nil, reject("not_found", "promotion not found")
	}
	if d.Status != DecisionPending {
		return nil, reject("conflict", "the promotion is "+d.Status+" already")
	}
	e, ok := t.experience(SharedOwner, d.Experience)
	if !ok || e.Status != federation.StatusCandidate || e.Version != d.Version {
		return nil, reject("conflict", "the experience is no candidate any more")
	}
	d.By, d.Note = b.By, b.Reason
	if !b.Approve {
		d.Status = DecisionRejected
		t.put(k, d)
		old := clone(e)
		e.Status, e.Pending, e.Reason = StatusDemoted, ID{}, b.Reason
		t.save(old, e)
		t.experienceEvent("experience.demoted", e, map[string]string{"decision": d.ID.String(), "reason": "rejected"})
		return d, nil
	}
	fresh, okay := t.decide(e)
	if !okay {
		return nil, reject("conflict", "the rule does not promote it any more: "+fresh.Reasons[0])
	}
	if into, ok := t.experience(SharedOwner, d.FusedWith); !ok || into.Status != federation.StatusPromoted {
		d.FusedWith = ID{} // what it was to be fused with left the meta-pool meanwhile
	}
	d.Score, d.Jurors, d.Quota, d.Verdict, d.Profile = fresh.Score, fresh.Jurors, fresh.Quota, fresh.Verdict, fresh.Profile
	d.Status = DecisionApproved
	e.Pending = ID{}
	t.put(k, d)
	t.promote(e, &d)
	return d, nil
}

// States of a decision.
const (
	DecisionPending   = "pending"
	DecisionApproved  = "approved"
	DecisionRejected  = "rejected"
	DecisionAutomatic = "automatic"
)

// Sample is an auditor's verdict on an item of the meta-pool: good, bad or unsure. The last one counts.
type Sample struct {
	Experience ID     `cbor:"1,keyasint"`
	Version    int    `cbor:"2,keyasint"`
	Verdict    string `cbor:"3,keyasint"`
	By         string `cbor:"4,keyasint"`
	At         int64  `cbor:"5,keyasint"`
}

func applySample(t *txn, b *Sample) (any, *Reject) {
	e, ok := t.experience(SharedOwner, b.Experience)
	if !ok || e.PromotedAt == 0 {
		return nil, reject("not_found", "no such item in the meta-pool")
	}
	b.Version, b.At = e.Version, t.now
	t.put(nsKey(kindSample, t.ns.Number).id(e.ID), b)
	return b, nil
}
