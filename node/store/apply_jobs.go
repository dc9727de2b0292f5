package store

import "strconv"

const maxTries = 5

// LeaseJobs takes due jobs for a node. A lease that runs out makes its job due again.
type LeaseJobs struct {
	Node  string `cbor:"1,keyasint"`
	Max   int    `cbor:"2,keyasint"`
	Lease int64  `cbor:"3,keyasint"` // ms
}

// Leased lists the jobs that were taken.
type Leased struct {
	Jobs []Job `cbor:"1,keyasint"`
}

// within runs fn in another namespace and keeps its record if fn changed it.
func (t *txn) within(id string, fn func()) bool {
	caller, dirty := t.ns, t.nsDirty
	defer func() { t.ns, t.nsDirty = caller, dirty }()
	if rej := t.openNamespace(id); rej != nil {
		return false
	}
	t.nsDirty = false
	fn()
	if t.nsDirty {
		t.put(key(kindNamespace).str(id), t.ns)
	}
	return true
}

func applyLeaseJobs(t *txn, b *LeaseJobs) (any, *Reject) {
	var out Leased
	end := key(kindDue).time(t.now + 1)
	t.scanRange(key(kindDue), end, func(k, _ []byte) bool {
		var job Job
		if !t.get(key(kindJob).id(lastID(k)), &job) {
			t.del(k)
			return true
		}
		t.within(job.Namespace, func() {
			t.setJobStatus(&job, JobLeased)
			t.moveDue(&job, t.now+max(b.Lease, 1000))
			job.Node, job.Lease, job.Again = b.Node, t.index, false
			job.Tries++
			t.put(key(kindJob).id(job.ID), job)
		})
		out.Jobs = append(out.Jobs, job)
		return len(out.Jobs) < b.Max
	})
	return out, nil
}

// JobRef names a leased job; a result with another lease comes too late.
type JobRef struct {
	ID    ID     `cbor:"1,keyasint"`
	Lease uint64 `cbor:"2,keyasint"`
}

func (t *txn) leased(ref JobRef) (Job, *Reject) {
	var job Job
	if !t.get(key(kindJob).id(ref.ID), &job) || job.Status != JobLeased || job.Lease != ref.Lease {
		return job, reject("conflict", "the job's lease was lost")
	}
	return job, nil
}

// endJob removes a job that did its work, or queues it once more if it was asked for meanwhile.
func (t *txn) endJob(job Job) {
	if job.Again {
		t.setJobStatus(&job, JobQueued)
		t.moveDue(&job, t.now)
		job.Again, job.Tries, job.Error = false, 0, ""
		t.put(key(kindJob).id(job.ID), job)
		return
	}
	t.del(key(kindJob).id(job.ID))
	t.del(key(kindDue).time(job.Due).id(job.ID))
	t.del(t.jobKey(job.Kind, job.Subject))
	t.count("job/"+job.Status, -1)
	t.count("job/"+JobDone, 1)
}

// FinishJob ends a job without a result of its own, or puts it back: an error counts as a try, Stale does not.
type FinishJob struct {
	Job     JobRef `cbor:"1,keyasint"`
	Error   string `cbor:"2,keyasint,omitempty"`
	RetryIn int64  `cbor:"3,keyasint,omitempty"` // ms
	Stale   bool   `cbor:"4,keyasint,omitempty"` // it read something that changed: run again
}

func applyFinishJob(t *txn, b *FinishJob) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	switch {
	case b.Stale:
		job.Tries--
		job.Again = true
		t.endJob(job)
	case b.Error == "":
		t.endJob(job)
	default:
		job.Error = b.Error
		t.failJob(job, b.RetryIn)
	}
	return job, nil
}

func (t *txn) failJob(job Job, retryIn int64) {
	if job.Tries < maxTries {
		t.setJobStatus(&job, JobQueued)
		t.moveDue(&job, t.now+max(retryIn, 0))
		t.put(key(kindJob).id(job.ID), job)
		return
	}
	t.setJobStatus(&job, JobDead)
	t.del(key(kindDue).time(job.Due).id(job.ID))
	t.put(key(kindJob).id(job.ID), job)
	if job.Kind == JobDistil {
		t.setTrajectoryStatus(job.Owner, job.Subject, "failed")
	}
	t.event(Event{Type: "job.failed", Data: map[string]string{
		"job": job.ID.String(), "kind": job.Kind, "subject": job.Subject.String(), "tries": strconv.Itoa(job.Tries),
	}})
}

// JobID names a job.
type JobID struct {
	ID ID `cbor:"1,keyasint"`
}

func applyRetryJob(t *txn, b *JobID) (any, *Reject) {
	var job Job
	if !t.get(key(kindJob).id(b.ID), &job) || job.Namespace != t.ns.ID {
		return nil, reject("not_found", "job not found")
	}
	if job.Status != JobDead {
		return nil, reject("conflict", "only a dead job is retried; this one is "+job.Status)
	}
	t.setJobStatus(&job, JobQueued)
	job.Tries, job.Error = 0, ""
	t.moveDue(&job, t.now)
	t.put(key(kindJob).id(job.ID), job)
	if job.Kind == JobDistil {
		t.setTrajectoryStatus(job.Owner, job.Subject, "queued")
	}
	return job, nil
}
