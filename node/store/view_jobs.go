package store

// Due reports whether a lease at a time, Unix ms, would find a job.
func (v *View) Due(now int64, b *LeaseJobs) (bool, error) {
	found, looked := false, 0
	err := v.scan(key(kindDue), key(kindDue).time(now+1), func(k, _ []byte) (bool, error) {
		job, err := v.Job(lastID(k))
		looked++
		found = err == nil && job != nil && b.Wants(job.Kind)
		return !found && looked < leaseLook, err
	})
	return found, err
}
