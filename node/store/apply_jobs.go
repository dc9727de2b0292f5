package store

import (
	"fmt"
	"slices"
	"strconv"
)

const (
	maxTries  = 5
	maxLeased = 64 // jobs a lease takes at most: about ten keys each
)

// LeaseJobs takes due jobs for a node. A lease that runs out makes its job due again.
type LeaseJobs struct {
	Node  string `cbor:"1,keyasint"`
	Max   int    `cbor:"2,keyasint"`
	Lease int64  `cbor:"3,keyasint"` // ms
	// Only are the kinds that are taken, Skip those that are not; none named: all are.
	Only []string `cbor:"4,keyasint,omitempty"`
	Skip []string `cbor:"5,keyasint,omitempty"`
}

// leaseLook bounds the due jobs among which some of the wanted kinds are looked for.
const leaseLook = 4096

// Wants reports whether a job of a kind is taken.
func (b *LeaseJobs) Wants(kind string) bool {
	return (len(b.Only) == 0 || slices.Contains(b.Only, kind)) && !slices.Contains(b.Skip, kind)
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
	limit := min(max(b.Max, 1), maxLeased)
	looked, taken := 0, 0
	t.scanRange(key(kindDue), key(kindDue).time(t.now+1), func(k, _ []byte) bool {
		var job Job
		looked++
		if !t.get(key(kindJob).id(lastID(k)), &job) {
			t.fail(fmt.Errorf("lease jobs: no job for the due key %x", k))
			return false
		}
		if !b.Wants(job.Kind) {
			return looked < leaseLook
		}
		t.within(job.Namespace, func() {
			if t.lease(&job, b) {
				out.Jobs = append(out.Jobs, job)
			}
		})
		taken++
		return taken < limit && looked < leaseLook
	})
	return out, nil
}

// lease gives a job to a node. A job whose lease ran out as often as a job may fail is given up: what takes its node down
// each time would go on for ever.
func (t *txn) lease(job *Job, b *LeaseJobs) bool {
	if job.Status == JobLeased && job.Tries >= maxTries {
		job.Error = "the lease ran out"
		t.failJob(*job, 0)
		return false
	}
	t.setJobStatus(job, JobLeased)
	t.moveDue(job, t.now+max(b.Lease, 1000))
	job.Node, job.Lease, job.Again = b.Node, t.index, false
	job.Tries++
	t.put(key(kindJob).id(job.ID), job)
	return true
}

// JobRef names a leased job; a result with another lease comes too late.
type JobRef struct {
	ID    ID     `cbor:"1,keyasint"`
	Lease uint64 `cbor:"2,keyasint"`
}

func (t *txn) leased(ref JobRef) (Job, *Reject) {
	var job Job
	if !t.get(key(kindJob).id(ref.ID), &job) || job.Namespace != t.ns.ID || job.Status != JobLeased || job.Lease != ref.Lease {
		return job, reject("conflict", "the job's lease was lost")
	}
	return job, nil
}

// leasedFor is the leased job that a result of this kind about subject belongs to.
func (t *txn) leasedFor(ref JobRef, kind string, subject ID) (Job, *Reject) {
	job, rej := t.leased(ref)
	if rej == nil && (job.Kind != kind || job.Subject != subject) {
		rej = reject("conflict", "the job is a "+job.Kind+" of "+job.Subject.String())
	}
	return job, rej
}

// endJob removes a job that did its work, or queues it once more if it was asked for meanwhile.
func (t *txn) endJob(job Job) {
	if job.Again {
		t.setJobStatus(&job, JobQueued)
		t.moveDue(&job, t.now)
		job.Again, job.Tries, job.Waits, job.Error = false, 0, 0, ""
		t.put(key(kindJob).id(job.ID), job)
		return
	}
	t.del(key(kindJob).id(job.ID))
	t.del(key(kindDue).time(job.Due).id(job.ID))
	t.del(t.jobKey(job.Kind, job.Subject))
	t.count("job/"+job.Status, -1)
	t.count("job/"+JobDone, 1)
}

// FinishJob ends a job without a result of its own, or puts it back: an error counts as a try, Stale and Outage do not.
type FinishJob struct {
	Job     JobRef `cbor:"1,keyasint"`
	Error   string `cbor:"2,keyasint,omitempty"`
	RetryIn int64  `cbor:"3,keyasint,omitempty"` // ms
	Stale   bool   `cbor:"4,keyasint,omitempty"` // it read something that changed: run again
	Outage  bool   `cbor:"5,keyasint,omitempty"` // what it needs is out of reach: no try is counted, however long that lasts
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
	case b.Outage:
		job.Error, job.Tries = b.Error, max(0, job.Tries-1)
		job.Waits++
		t.failJob(job, b.RetryIn)
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
		t.setTrajectoryStatus(job.Owner, job.Subject, trajFailed)
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
	t.revive(&job, t.now)
	t.put(key(kindJob).id(job.ID), job)
	if job.Kind == JobDistil {
		t.setTrajectoryStatus(job.Owner, job.Subject, trajQueued)
	}
	return job, nil
}
