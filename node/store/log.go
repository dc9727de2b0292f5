package store

import (
	"cairn/federation"
)

// event appends to the namespace's feed. The position within the entry starts at 1.
func (t *txn) event(e Event) {
	t.events++
	e.Time = t.now
	t.put(nsKey(kindFeed, t.ns.Number).u64(t.index).u32(t.events), e)
	if t.events == 1 {
		t.mark(key(kindFeedTime).time(t.now).u32(t.ns.Number).u64(t.index))
	}
	t.count("feed", 1)
}

func (t *txn) experienceEvent(kind string, e *Experience, data map[string]string) {
	t.event(Event{
		Type: kind, Experience: e.ID, Agent: e.Agent, Principal: e.Principal, Pool: PoolName(e), TaskType: e.TaskType,
		Unit: e.Unit, Data: data,
	})
}

// change tells indexes derived from the state to look at a record again.
func (t *txn) change(kind byte, owner uint32, id ID) {
	t.changes++
	t.put(key(kindChange).u64(t.index).u32(t.changes), Change{kind, t.ns.Number, owner, id})
}

// PoolName is the wire name of the pool an experience is in.
func PoolName(e *Experience) string {
	switch {
	case !e.Shared():
		return "agent:" + e.Agent
	case e.PromotedAt != 0:
		return "meta"
	}
	return "candidates"
}

func shareOf(s string) federation.Share { return federation.Share(s) }

func (t *txn) jobKey(kind string, subject ID) keyBuf {
	return nsKey(kindJobKey, t.ns.Number).word(kind).id(subject)
}

// enqueue makes sure that a job of this kind runs for subject at due or sooner when now is set. A job that runs already
// is run once more after it ends. It returns the job's id.
func (t *txn) enqueue(kind string, subject ID, owner uint32, due int64, extra string) ID {
	var id ID
	var job Job
	if t.get(t.jobKey(kind, subject), &id) && t.get(key(kindJob).id(id), &job) {
		switch job.Status {
		case JobQueued:
			t.moveDue(&job, due)
			job.Extra = extra
			t.put(key(kindJob).id(id), job)
			return id
		case JobLeased:
			job.Again = true
			t.put(key(kindJob).id(id), job)
			return id
		}
	}
	job = Job{
		ID: t.mint(), Namespace: t.ns.ID, Kind: kind, Subject: subject, Owner: owner, Extra: extra, Status: JobQueued,
		Due: due, CreatedAt: t.now,
	}
	t.put(key(kindJob).id(job.ID), job)
	t.mark(key(kindDue).time(due).id(job.ID))
	t.put(t.jobKey(kind, subject), job.ID)
	t.count("job/"+JobQueued, 1)
	return job.ID
}

func (t *txn) moveDue(job *Job, due int64) {
	t.del(key(kindDue).time(job.Due).id(job.ID))
	job.Due = due
	t.mark(key(kindDue).time(due).id(job.ID))
}

func (t *txn) setJobStatus(job *Job, status string) {
	t.count("job/"+job.Status, -1)
	t.count("job/"+status, 1)
	job.Status = status
}
