package store

// RenewJobs prolongs leases of jobs that a node is still at, so that what takes long is not taken for lost.
type RenewJobs struct {
	Jobs  []JobRef `cbor:"1,keyasint"` // at most 64
	Lease int64    `cbor:"2,keyasint"` // ms from now
}

func applyRenewJobs(t *txn, b *RenewJobs) (any, *Reject) {
	if len(b.Jobs) > maxLeased {
		return nil, rejectField("body.jobs", "at most 64 leases")
	}
	for _, ref := range b.Jobs {
		var job Job
		if !t.get(key(kindJob).id(ref.ID), &job) || job.Status != JobLeased || job.Lease != ref.Lease {
			continue
		}
		t.within(job.Namespace, func() {
			t.moveDue(&job, t.now+max(b.Lease, 1000))
			t.put(key(kindJob).id(job.ID), job)
		})
	}
	return struct{}{}, nil
}
