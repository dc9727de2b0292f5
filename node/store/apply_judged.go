package store

import (
	"cairn/federation"
)

// Judged gives rewards to attempts that came without one. A model's opinion feeds gate and distiller; it is no outcome,
// so that trust never rests on it.
type Judged struct {
	Job        JobRef        `cbor:"1,keyasint"`
	Trajectory ID            `cbor:"2,keyasint"`
	Owner      uint32        `cbor:"3,keyasint"`
	Rewards    []JudgedScore `cbor:"4,keyasint"` // at most 64
}

// JudgedScore is one attempt's reward in micro-units in [0,1].
type JudgedScore struct {
	Attempt    int              `cbor:"1,keyasint"`
	Score      federation.Micro `cbor:"2,keyasint"`
	Success    bool             `cbor:"3,keyasint,omitempty"`
	Expected   federation.Micro `cbor:"4,keyasint"`
	ExpectedBy string           `cbor:"5,keyasint,omitempty"`
	By         string           `cbor:"6,keyasint"` // model and prompt
}

// applyJudged leaves alone what has a reward by now. The job goes on: its lease stays.
func applyJudged(t *txn, b *Judged) (any, *Reject) {
	if _, rej := t.leasedFor(b.Job, JobDistil, b.Trajectory); rej != nil {
		return nil, rej
	}
	if len(b.Rewards) > maxDistilled {
		return nil, rejectField("body.rewards", "at most 64 attempts")
	}
	traj := new(Trajectory)
	if !t.get(t.trajectoryKey(b.Owner, b.Trajectory), traj) {
		return struct{}{}, nil
	}
	agent := t.author(traj.Agent)
	for _, x := range b.Rewards {
		if x.Score < 0 || x.Score > federation.One || x.Expected < 0 || x.Expected > federation.One || x.By == "" {
			return nil, rejectField("body.rewards", "must be 0..1 and name their judge")
		}
		var a Attempt
		k := t.attemptKey(traj.Owner, traj.ID, x.Attempt)
		if !t.get(k, &a) || a.HasReward {
			continue
		}
		a.HasReward, a.Reward, a.Scale = true, float64(x.Score)/float64(federation.One), [2]float64{0, 1}
		a.Score, a.Success, a.Expected, a.ExpectedBy, a.JudgedBy = x.Score, x.Success, x.Expected, x.ExpectedBy, x.By
		t.gate(traj, &agent, &a)
		t.put(k, a)
		t.count("judged", 1)
	}
	t.put(t.trajectoryKey(traj.Owner, traj.ID), traj)
	t.change(ChangeTrajectory, traj.Owner, traj.ID)
	return struct{}{}, nil
}
