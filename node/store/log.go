package store

import (
	"cairn/federation"
)

// event appends to the namespace's feed. The position within the entry starts at 1 in each namespace.
func (t *txn) event(e Event) {
	ns := t.ns.Number
	t.events[ns]++
	e.Time = t.now
	t.put(nsKey(kindFeed, ns).u64(t.index).u32(t.events[ns]), e)
	t.mark(key(kindFeedTime).time(t.now).u32(ns).u64(t.index))
	t.count("feed", 1)
}

func (t *txn) experienceEvent(kind string, e *Experience, data map[string]string) {
	t.event(Event{
		Type: kind, Experience: e.ID, Agent: e.Agent, Principal: e.Principal, Pool: PoolName(e), TaskType: e.TaskType,
		Unit: e.Unit, Data: data,
	})
}

// change tells indexes derived from the state to look at a record again, once an entry.
func (t *txn) change(kind byte, owner uint32, id ID) {
	c := Change{kind, t.ns.Number, owner, id}
	if t.changed[c] {
		return
	}
	t.changed[c] = true
	t.put(key(kindChange).u64(t.index).u32(uint32(len(t.changed))), c)
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

// enqueue makes sure that a job of this kind runs for subject at due or sooner; there is one job a (kind, subject). One
// that runs already is run once more after it ends, one that waits out an error keeps its back-off, and one that was given
// up starts anew. It returns the job's id.
func (t *txn) enqueue(kind string, subject ID, owner uint32, due int64, extra string) ID {
	var id ID
	var job Job
	if t.get(t.jobKey(kind, subject), &id) && t.get(key(kindJob).id(id), &job) {
		job.Extra = extra
		switch {
		case job.Status == JobLeased:
			job.Again = true
		case job.Status == JobDead:
			t.revive(&job, due)
		case job.Error == "" && due < job.Due:
			t.moveDue(&job, due)
		}
		t.put(key(kindJob).id(id), job)
		return id
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

// postpone lets a job wait longer, unless it runs or waits out an error.
func (t *txn) postpone(id ID, due int64) {
	var job Job
	if t.get(key(kindJob).id(id), &job) && job.Status == JobQueued && job.Error == "" && job.Due < due {
		t.moveDue(&job, due)
		t.put(key(kindJob).id(id), job)
	}
}

// revive puts a dead job back in the queue with all its tries.
func (t *txn) revive(job *Job, due int64) {
	t.setJobStatus(job, JobQueued)
	job.Tries, job.Waits, job.Error, job.Again = 0, 0, "", false
	t.moveDue(job, due)
}

func (t *txn) setJobStatus(job *Job, status string) {
	t.count("job/"+job.Status, -1)
	t.count("job/"+status, 1)
	job.Status = status
}
