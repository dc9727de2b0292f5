package store

import (
	"slices"
	"unicode/utf8"
)

// Reflect records a failure and the hypothesis for the next retry. Record holds the failure as its last attempt. Where the
// receipt has a reflection, ID and Tries are its own as it was read, and the failure is that of its last retry; else ID is
// new and Tries 0.
type Reflect struct {
	ID      ID               `cbor:"1,keyasint"`
	Receipt Receipt          `cbor:"2,keyasint"`
	Tries   int              `cbor:"3,keyasint,omitempty"`
	Record  RecordTrajectory `cbor:"4,keyasint"`
	Seen    [32]byte         `cbor:"5,keyasint"`
	Next    Retry            `cbor:"6,keyasint"`
}

// Retried reports how a retry ended. Record, if there is one, holds the retry as its last attempt; Next is the hypothesis
// for another one after a failure, where one is left.
type Retried struct {
	ID      ID                `cbor:"1,keyasint"`
	Agent   string            `cbor:"2,keyasint"`
	Tries   int               `cbor:"3,keyasint"` // as it was read
	Success bool              `cbor:"4,keyasint,omitempty"`
	Record  *RecordTrajectory `cbor:"5,keyasint,omitempty"`
	Seen    [32]byte          `cbor:"6,keyasint"`
	Next    Retry             `cbor:"7,keyasint"`
}

// Reflected says where a reflection is after a command. It holds no text: that is read from the state, where an erasure
// reaches it.
type Reflected struct {
	ID         ID     `cbor:"1,keyasint"`
	Attempt    int    `cbor:"2,keyasint"` // retries begun
	Status     string `cbor:"3,keyasint"`
	Trajectory ID     `cbor:"4,keyasint"`
	Recorded   int    `cbor:"5,keyasint,omitempty"` // attempts that are new
	Job        ID     `cbor:"6,keyasint"`           // that distils the group, where something was recorded
}

func (t *txn) reflectionKey(owner uint32, id ID) keyBuf {
	return nsKey(kindReflection, t.ns.Number).u32(owner).id(id)
}

func reflectionExpiry(r *Reflection, ns uint32) keyBuf {
	return key(kindReflectionTime).time(r.UpdatedAt + rawRetention).u32(ns).u32(r.Owner).id(r.ID)
}

func applyReflect(t *txn, b *Reflect) (any, *Reject) {
	agent, ok := t.agent(b.Receipt.Agent)
	if !ok {
		return nil, reject("unauthenticated", "the agent was removed")
	}
	if rej := t.checkReflect(b, &agent); rej != nil {
		return nil, rej
	}
	r, rej := t.openReflection(b, &agent)
	if rej != nil {
		return nil, rej
	}
	rec, number, rej := t.recordRetry(&b.Record, r)
	if rej != nil {
		return nil, rej
	}
	if n := len(r.Tries); n > 0 {
		r.Tries[n-1].Reported = true
	}
	r.Trajectory, r.Seen = rec.ID, b.Seen
	r.Failures = append(r.Failures, number)
	t.nextRetry(r, b.Next)
	t.saveReflection(r)
	return Reflected{r.ID, len(r.Tries), r.Status, r.Trajectory, rec.Recorded, rec.Job}, nil
}

// checkReflect looks at what does not depend on the reflection that stands.
func (t *txn) checkReflect(b *Reflect, agent *Agent) *Reject {
	switch {
	case b.Receipt.Recall == (ID{}):
		return reject("not_found", "receipt not found")
	case t.now-b.Receipt.At > ReceiptTTL:
		return reject("conflict", "the receipt expired: a retry is taken for 7 days")
	case b.Record.Agent != agent.ID:
		return rejectField("body.trajectory", "must be the agent's own")
	}
	if rej := checkRetry(&b.Next); rej != nil {
		return rej
	}
	return checkLast(&b.Record, false)
}

func checkRetry(r *Retry) *Reject {
	if utf8.RuneCountInString(r.Hypothesis) > MaxHypothesis || len(r.BasedOn) > maxBasedOn {
		return rejectField("body.hypothesis", "must have at most 2000 characters and 4 sources")
	}
	return nil
}

// checkLast holds the last attempt of a recording to what is said about it.
func checkLast(b *RecordTrajectory, success bool) *Reject {
	if len(b.Attempts) == 0 {
		return rejectField("body.trajectory.attempts", "must have 1..16 entries")
	}
	if last := b.Attempts[len(b.Attempts)-1]; !last.HasReward || last.Success != success {
		return rejectField("body.trajectory.attempts", "the last attempt must end as it is reported")
	}
	return nil
}

// openReflection finds the reflection of a receipt or begins one.
func (t *txn) openReflection(b *Reflect, agent *Agent) (*Reflection, *Reject) {
	var id ID
	r := new(Reflection)
	if t.get(t.reflectionOfKey(agent.Number, b.Receipt.Recall), &id) && t.get(t.reflectionKey(agent.Number, id), r) {
		if rej := openFor(r, b.ID, b.Tries); rej != nil {
			return nil, rej
		}
		if len(r.Tries) >= MaxRetries {
			return nil, reject("conflict", "at most 3 retries follow a recall; report how the third one ended")
		}
		return r, nil
	}
	if b.Tries != 0 || b.ID == (ID{}) || t.has(t.reflectionKey(agent.Number, b.ID)) {
		return nil, reject("conflict", "the reflection is gone, or its id is taken")
	}
	t.evictReflection(agent.Number)
	t.count("reflections", 1)
	return &Reflection{
		ID: b.ID, Agent: agent.ID, Owner: agent.Number, Recall: b.Receipt.Recall, RecalledAt: b.Receipt.At,
		Status: ReflectionOpen, Success: -1, CreatedAt: t.now, UpdatedAt: t.now,
	}, nil
}

// openFor refuses what was decided on another state of the reflection, or comes after its end.
func openFor(r *Reflection, id ID, tries int) *Reject {
	switch {
	case r.Status == ReflectionSolved:
		return reject("conflict", "a retry succeeded: the reflection is closed")
	case r.Status == ReflectionExhausted:
		return reject("conflict", "at most 3 retries follow a recall, and all of them failed")
	case r.ID != id || len(r.Tries) != tries:
		return reject("conflict", "another report about this reflection was under way; read its answer")
	}
	return nil
}

func (t *txn) reflectionOfKey(owner uint32, recall ID) keyBuf {
	return nsKey(kindReflectionOf, t.ns.Number).u32(owner).id(recall)
}

// recordRetry records the attempts in the reflection's group and gives the number of the last one.
func (t *txn) recordRetry(b *RecordTrajectory, r *Reflection) (Recorded, int, *Reject) {
	var traj Trajectory
	if r.Trajectory != (ID{}) && t.get(t.trajectoryKey(r.Owner, r.Trajectory), &traj) && traj.Group != b.Group {
		return Recorded{}, 0, rejectField("body.trajectory.task", "a retry is of the task that failed")
	}
	out, rej := applyRecordTrajectory(t, b)
	if rej != nil {
		return Recorded{}, 0, rej
	}
	rec := out.(Recorded)
	last := &b.Attempts[len(b.Attempts)-1]
	number, ok := rec.Version-1, rec.Recorded > 0
	if last.ExternalID != "" {
		number, ok = t.attemptNamed(r.Owner, rec, last.ExternalID)
	}
	if !ok {
		return rec, 0, reject("conflict", "the attempt was recorded before in another group")
	}
	return rec, number, nil
}

// lookBack bounds the attempts of a group among which a named one is looked for.
const lookBack = 256

// attemptNamed finds an attempt of a group that may have been recorded before.
func (t *txn) attemptNamed(owner uint32, rec Recorded, external string) (number int, ok bool) {
	for n := rec.Version - 1; n >= max(0, rec.Version-lookBack) && !ok; n-- {
		var a Attempt
		if t.get(t.attemptKey(owner, rec.ID, n), &a) && a.ExternalID == external {
			number, ok = n, true
		}
	}
	return number, ok
}

func applyRetried(t *txn, b *Retried) (any, *Reject) {
	agent, ok := t.agent(b.Agent)
	if !ok {
		return nil, reject("unauthenticated", "the agent was removed")
	}
	r := new(Reflection)
	if !t.get(t.reflectionKey(agent.Number, b.ID), r) {
		return nil, reject("not_found", "reflection not found")
	}
	if rej := t.checkRetried(b, r); rej != nil {
		return nil, rej
	}
	out := Reflected{ID: r.ID, Trajectory: r.Trajectory}
	number := -1
	if b.Record != nil {
		rec, n, rej := t.recordRetry(b.Record, r)
		if rej != nil {
			return nil, rej
		}
		number, out.Recorded, out.Job = n, rec.Recorded, rec.Job
	}
	t.endRetry(r, b, number)
	t.saveReflection(r)
	out.Attempt, out.Status = len(r.Tries), r.Status
	return out, nil
}

func (t *txn) checkRetried(b *Retried, r *Reflection) *Reject {
	if rej := openFor(r, b.ID, b.Tries); rej != nil {
		return rej
	}
	if t.now-r.RecalledAt > ReceiptTTL {
		return reject("conflict", "the receipt expired: a retry is taken for 7 days")
	}
	if rej := checkRetry(&b.Next); rej != nil {
		return rej
	}
	switch {
	case b.Record == nil:
		return nil
	case b.Record.Agent != r.Agent:
		return rejectField("body.trajectory", "must be the agent's own")
	}
	return checkLast(b.Record, b.Success)
}

// endRetry closes the retry under way and, after a failure, begins the next one or ends the reflection.
func (t *txn) endRetry(r *Reflection, b *Retried, number int) {
	last := &r.Tries[len(r.Tries)-1]
	last.Reported, last.Success = true, b.Success
	if b.Success {
		r.Status, r.Success = ReflectionSolved, number
		t.count("reflections/solved", 1)
		return
	}
	if number >= 0 {
		r.Failures, r.Seen = append(r.Failures, number), b.Seen
	}
	if len(r.Tries) >= MaxRetries {
		r.Status = ReflectionExhausted
		t.count("reflections/exhausted", 1)
		return
	}
	t.nextRetry(r, b.Next)
}

func (t *txn) nextRetry(r *Reflection, next Retry) {
	next.Reported, next.Success, next.At = false, false, t.now
	r.Tries = append(r.Tries, next)
	t.count("reflections/retries", 1)
}

// saveReflection writes a reflection with its indexes; its time to live begins anew.
func (t *txn) saveReflection(r *Reflection) {
	t.del(reflectionExpiry(r, t.ns.Number))
	r.UpdatedAt = t.now
	t.put(t.reflectionKey(r.Owner, r.ID), r)
	t.put(t.reflectionOfKey(r.Owner, r.Recall), r.ID)
	t.mark(nsKey(kindReflectionIn, t.ns.Number).u32(r.Owner).id(r.Trajectory).id(r.ID))
	t.mark(reflectionExpiry(r, t.ns.Number))
	for _, id := range r.sources() {
		t.mark(nsKey(kindReflectionBase, t.ns.Number).id(id).u32(r.Owner).id(r.ID))
	}
}

// sources are what its hypotheses were made from, each once.
func (r *Reflection) sources() []ID {
	var out []ID
	for _, try := range r.Tries {
		for _, id := range try.BasedOn {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

func (t *txn) dropReflection(r *Reflection) {
	t.del(t.reflectionKey(r.Owner, r.ID))
	t.del(t.reflectionOfKey(r.Owner, r.Recall))
	t.del(nsKey(kindReflectionIn, t.ns.Number).u32(r.Owner).id(r.Trajectory).id(r.ID))
	t.del(reflectionExpiry(r, t.ns.Number))
	for _, id := range r.sources() {
		t.del(nsKey(kindReflectionBase, t.ns.Number).id(id).u32(r.Owner).id(r.ID))
	}
	t.count("reflections", -1)
	t.count(reflectionCounter(r.Owner), -1)
}
