package store

import (
	"crypto/sha256"
	"strconv"

	"cairn/federation"
)

const (
	distilAt       = 8 // attempts that make a group due
	groupIdle      = 10 * 60 * 1000
	maxAttempts    = 200 // in one command: about four keys each
	maxRewardsKept = 64
	maxParts       = 16 // of a composite reward
	rawRetention   = 30 * day
)

// States of a trajectory.
const (
	trajOpen      = "open"
	trajQueued    = "queued"
	trajDistilled = "distilled"
	trajFailed    = "failed"
)

// RecordTrajectory records attempts at a task. The proposer fills ID (used for a new group), Group, TaskVector, and each
// attempt's Score, Success, Expected and ExpectedBy.
type RecordTrajectory struct {
	ID          ID                `cbor:"1,keyasint"`
	Agent       string            `cbor:"2,keyasint"`
	GroupKey    string            `cbor:"3,keyasint,omitempty"`
	Group       [32]byte          `cbor:"4,keyasint"`
	Task        string            `cbor:"5,keyasint"`
	TaskType    string            `cbor:"6,keyasint,omitempty"`
	Environment map[string]string `cbor:"7,keyasint,omitempty"`
	Share       federation.Share  `cbor:"8,keyasint,omitempty"`
	Complete    bool              `cbor:"9,keyasint,omitempty"`
	TaskVector  Vector            `cbor:"10,keyasint"`
	Attempts    []Attempt         `cbor:"11,keyasint"`
}

// Recorded says what became of a recording. Version is the group's after it.
type Recorded struct {
	ID       ID  `cbor:"1,keyasint"`
	Job      ID  `cbor:"2,keyasint"`
	Recorded int `cbor:"3,keyasint"`
	Known    int `cbor:"4,keyasint"`
	Version  int `cbor:"5,keyasint"`
	First    int `cbor:"6,keyasint"` // number of the first new attempt
}

func (t *txn) trajectoryKey(owner uint32, id ID) keyBuf {
	return nsKey(kindTrajectory, t.ns.Number).u32(owner).id(id)
}

func (t *txn) attemptKey(owner uint32, id ID, n int) keyBuf {
	return nsKey(kindAttempt, t.ns.Number).u32(owner).id(id).u32(uint32(n))
}

func externalHash(group [32]byte, external string) [32]byte {
	h := sha256.New()
	h.Write(group[:])
	h.Write([]byte(external))
	var out [32]byte
	h.Sum(out[:0])
	return out
}

func applyRecordTrajectory(t *txn, b *RecordTrajectory) (any, *Reject) {
	agent, ok := t.agent(b.Agent)
	if !ok {
		return nil, reject("unauthenticated", "the agent was removed")
	}
	if rej := t.checkAttempts(b); rej != nil {
		return nil, rej
	}
	traj, rej := t.openGroup(b, &agent)
	if rej != nil {
		return nil, rej
	}
	out := Recorded{ID: traj.ID, First: traj.Version}
	for i := range b.Attempts {
		if t.addAttempt(traj, &agent, &b.Attempts[i]) {
			out.Recorded++
		} else {
			out.Known++
		}
	}
	out.Version = traj.Version
	t.count("attempts", int64(out.Recorded))
	traj.Share = federation.CombineShare(traj.Share, b.Share)
	if out.Recorded > 0 || b.Complete && traj.Distilled < traj.Version {
		traj.UpdatedAt = t.now
		out.Job = t.queueDistil(traj, b.Complete)
		t.change(ChangeTrajectory, traj.Owner, traj.ID)
	}
	t.put(t.trajectoryKey(traj.Owner, traj.ID), traj)
	return out, nil
}

// checkAttempts refuses numbers that the gate and the expectation must never see.
func (t *txn) checkAttempts(b *RecordTrajectory) *Reject {
	if len(b.Attempts) == 0 || len(b.Attempts) > maxAttempts {
		return rejectField("body.attempts", "must have 1.."+strconv.Itoa(maxAttempts)+" entries")
	}
	if !b.Share.Valid() {
		return rejectField("body.share", "must be auto, candidate or never")
	}
	for i, a := range b.Attempts {
		if len(a.Parts) > maxParts {
			return rejectField("body.attempts["+strconv.Itoa(i)+"].reward_parts", "must have at most 16 entries")
		}
		if a.HasReward && (a.Score < 0 || a.Score > federation.One || a.Expected < 0 || a.Expected > federation.One) {
			return rejectField("body.attempts["+strconv.Itoa(i)+"].reward", "must be 0..1 once it is on the common scale")
		}
	}
	return nil
}

// queueDistil makes a group due at once when it is complete or large enough, else after it was idle. What was due at once
// stays so when more attempts come.
func (t *txn) queueDistil(traj *Trajectory, complete bool) ID {
	due := t.now
	switch {
	case complete || traj.Version-traj.Distilled >= distilAt:
		traj.Status = trajQueued
	case traj.Status != trajQueued:
		traj.Status = trajOpen
		due += groupIdle
	}
	traj.Job = t.enqueue(JobDistil, traj.ID, traj.Owner, due, "")
	if traj.Status == trajOpen {
		t.postpone(traj.Job, due)
	}
	return traj.Job
}

func (t *txn) openGroup(b *RecordTrajectory, agent *Agent) (*Trajectory, *Reject) {
	groupKey := nsKey(kindGroup, t.ns.Number).u32(agent.Number).hash(b.Group)
	var id ID
	traj := new(Trajectory)
	if t.get(groupKey, &id) && t.get(t.trajectoryKey(agent.Number, id), traj) {
		return traj, nil
	}
	if b.ID == (ID{}) || t.has(nsKey(kindTrajOwner, t.ns.Number).id(b.ID)) {
		return nil, reject("conflict", "trajectory id is zero or exists")
	}
	*traj = Trajectory{
		ID: b.ID, Agent: agent.ID, Owner: agent.Number, GroupKey: b.GroupKey, Group: b.Group, Task: b.Task,
		TaskType: b.TaskType, Environment: b.Environment, Share: b.Share, Status: trajOpen, TaskVector: b.TaskVector,
		CreatedAt: t.now, UpdatedAt: t.now,
	}
	t.put(groupKey, traj.ID)
	t.put(nsKey(kindTrajOwner, t.ns.Number).id(traj.ID), agent.Number)
	t.count("trajectories", 1)
	return traj, nil
}

// addAttempt reports false for an attempt whose external id is known.
func (t *txn) addAttempt(traj *Trajectory, agent *Agent, a *Attempt) bool {
	if a.ExternalID != "" {
		k := nsKey(kindExternal, t.ns.Number).u32(traj.Owner).hash(externalHash(traj.Group, a.ExternalID))
		if t.has(k) {
			return false
		}
		t.put(k, traj.ID)
	}
	a.Number, a.At = traj.Version, t.now
	traj.Version++
	if a.HasReward {
		t.observe(traj, agent, a)
	}
	t.put(t.attemptKey(traj.Owner, traj.ID, a.Number), a)
	t.mark(key(kindTrajTime).time(t.now + rawRetention).u32(t.ns.Number).u32(traj.Owner).id(traj.ID).u32(uint32(a.Number)))
	return true
}

// observe feeds the gate and, for an attempt that no receipt reports, the expectation.
func (t *txn) observe(traj *Trajectory, agent *Agent, a *Attempt) {
	t.gate(traj, agent, a)
	if a.Outcome = a.Receipt == (ID{}); a.Outcome {
		t.addOutcome(agent, traj.TaskType, a.Score)
	}
}

// gate feeds the gate's ring and the predictor, and fixes the thresholds that the attempt is measured with.
func (t *txn) gate(traj *Trajectory, agent *Agent, a *Attempt) {
	k := nsKey(kindDeltas, t.ns.Number).u32(agent.Number).str(traj.TaskType)
	var ring federation.DeltaRing
	t.get(k, &ring)
	totalsKey := nsKey(kindAgentTotals, t.ns.Number).u32(agent.Number)
	var totals federation.Tally
	t.get(totalsKey, &totals)
	a.Long, a.Buffer = federation.Thresholds(ring, ring.Count)
	a.WarmUp = federation.WarmUp(totals.N)
	ring.Observe(a.Delta())
	totals.Add(a.Score)
	t.put(k, ring)
	t.put(totalsKey, totals)
	traj.Rewards = append(traj.Rewards, AttemptReward{a.Number, a.Score, t.now})
	if n := len(traj.Rewards) - maxRewardsKept; n > 0 {
		traj.Rewards = traj.Rewards[n:]
	}
	square := (a.Delta() / 1000) * (a.Delta() / 1000) // micro-units of squared error
	t.count("predictor/square", square)
	t.count("predictor/n", 1)
	t.count("predictor/n/"+a.ExpectedBy, 1)
	t.count("predictor/square/"+a.ExpectedBy, square)
	t.count("predictor/reward", a.Score)
	t.count("predictor/reward/square", (a.Score/1000)*(a.Score/1000))
}

func (t *txn) tallyKey(taskType string) keyBuf { return nsKey(kindTally, t.ns.Number).str(taskType) }

func (t *txn) agentTallyKey(agent uint32, taskType string) keyBuf {
	return nsKey(kindAgentTally, t.ns.Number).u32(agent).str(taskType)
}

// expectation is what the server expects of the agent in the task type, before the outcome at hand.
func (t *txn) expectation(agent *Agent, taskType string) federation.Micro {
	var site federation.Tally
	var own AgentTally
	t.get(t.tallyKey(taskType), &site)
	t.get(t.agentTallyKey(agent.Number, taskType), &own)
	return federation.Expectation(site, own.Tally, own.Recent)
}

func (t *txn) addOutcome(agent *Agent, taskType string, y federation.Micro) {
	var site federation.Tally
	var own AgentTally
	t.get(t.tallyKey(taskType), &site)
	t.get(t.agentTallyKey(agent.Number, taskType), &own)
	site.Add(y)
	own.Tally.Add(y)
	own.Recent.Add(y)
	t.put(t.tallyKey(taskType), site)
	t.put(t.agentTallyKey(agent.Number, taskType), own)
	t.count("outcomes", 1)
	t.count("outcomes/reward", y)
}

func (t *txn) setTrajectoryStatus(owner uint32, id ID, status string) {
	var traj Trajectory
	if t.get(t.trajectoryKey(owner, id), &traj) {
		traj.Status, traj.UpdatedAt = status, t.now
		t.put(t.trajectoryKey(owner, id), traj)
	}
}
