package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

const (
	leaseMS    = 60_000
	leaseBatch = 16
)

// errStale says that a job read something that changed before its result was applied: it runs again.
var errStale = errors.New("the state changed while the job ran")

// lane is a share of the workers. Jobs that may wait for a language model have one of their own, so that a slow model
// keeps nothing else waiting.
type lane struct {
	lease store.LeaseJobs
	slots int
}

// lanes are one for all kinds, or two where a model has a part in jobs.
func (n *Node) lanes() []lane {
	all := lane{store.LeaseJobs{Max: leaseBatch, Lease: leaseMS}, n.cfg.Workers}
	asked := []llm.Role{llm.RoleDistil, llm.RoleJudge, llm.RoleReward, llm.RoleRewrite}
	if !slices.ContainsFunc(asked, n.models.enabled) {
		return []lane{all}
	}
	slow := []string{store.JobDistil, store.JobCompact}
	asking := max(1, n.models.client.Settings().Parallel)
	all.lease.Skip = slow
	return []lane{all, {store.LeaseJobs{Max: asking, Lease: leaseMS, Only: slow}, asking}}
}

// work leases due jobs of a lane while this node leads, and runs them.
func (n *Node) work(ctx context.Context, l lane) {
	l.lease.Node = n.NodeID()
	for ctx.Err() == nil {
		changed := n.store.Changed()
		jobs, err := n.lease(ctx, l)
		if err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "lease jobs", "error", err)
		}
		if len(jobs) > 0 {
			n.runJobs(ctx, jobs, l.slots)
			continue
		}
		n.idle(ctx, changed, err != nil)
	}
}

// lease takes jobs that are due; none when there are none or another node leads.
func (n *Node) lease(ctx context.Context, l lane) ([]store.Job, error) {
	if !n.group.IsLeader() {
		return nil, nil
	}
	v, err := n.store.View()
	if err != nil {
		return nil, err
	}
	due, err := v.Due(time.Now().UnixMilli(), &l.lease)
	v.Close()
	if err != nil || !due {
		return nil, err
	}
	res, err := n.propose(ctx, api.Caller{}, api.Write{}, store.KindLeaseJobs, "", l.lease)
	if err != nil {
		return nil, err
	}
	var out store.Leased
	return out.Jobs, store.DecodeBody(res.Body, &out)
}

// idle waits for a change of the state, the next due time or a second.
func (n *Node) idle(ctx context.Context, changed <-chan struct{}, failed bool) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	if failed {
		changed = nil // do not spin on what fails
	}
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (n *Node) runJobs(ctx context.Context, jobs []store.Job, workers int) {
	keeping, done := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { n.keepLeases(keeping, jobs) })
	defer keeper.Wait()
	defer done()
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, job := range jobs {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			n.runJob(ctx, job)
		}()
	}
	wg.Wait()
}

// keepLeases renews the leases of a batch until it is done: some of its jobs wait for others, and a model takes its time.
// What is finished by then is left alone by the state machine.
func (n *Node) keepLeases(ctx context.Context, jobs []store.Job) {
	timer := time.NewTicker(leaseMS / 3 * time.Millisecond)
	defer timer.Stop()
	body := store.RenewJobs{Lease: leaseMS}
	for _, job := range jobs {
		body.Jobs = append(body.Jobs, ref(job))
	}
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if _, err := n.propose(ctx, api.Caller{}, api.Write{}, store.KindRenewJobs, "", body); err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "renew leases", "error", err)
		}
	}
}

// runJob does a job and sees to it that it ends: done, again, or put back with its error.
func (n *Node) runJob(ctx context.Context, job store.Job) {
	err := n.dispatch(ctx, job)
	if err == nil || ctx.Err() != nil {
		return
	}
	finish := store.FinishJob{Job: store.JobRef{ID: job.ID, Lease: job.Lease}}
	if errors.Is(err, errStale) {
		finish.Stale = true
	} else {
		n.log.WarnContext(ctx, "job failed", "job", job.ID.String(), "kind", job.Kind, "try", job.Tries, "error", err)
		retry := n.cfg.RetryAfter.Milliseconds()
		finish.Error, finish.RetryIn = err.Error(), retry<<min(job.Tries, 8)
		if o := (*outage)(nil); errors.As(err, &o) {
			finish.Outage, finish.RetryIn = true, max(o.after.Milliseconds(), retry<<min(job.Waits, 7))
		}
	}
	if _, err := n.propose(ctx, api.Caller{}, api.Write{}, store.KindFinishJob, job.Namespace, finish); err != nil && ctx.Err() == nil {
		n.log.WarnContext(ctx, "finish job", "job", job.ID.String(), "error", err)
	}
}

func (n *Node) dispatch(ctx context.Context, job store.Job) (err error) {
	// A job works on text from outside; a fault in one must not take the node down with it.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("job panicked: %v", p)
		}
	}()
	switch job.Kind {
	case store.JobDistil:
		return n.distil(ctx, job)
	case store.JobEmbed:
		return n.embedJob(ctx, job)
	case store.JobNominate:
		return n.nominate(ctx, job)
	case store.JobPromote:
		return n.promote(ctx, job)
	case store.JobCurate:
		return n.followUp(ctx, job)
	case store.JobCompact:
		return n.compact(ctx, job)
	case store.JobReplace:
		return n.replaceJuror(ctx, job)
	case store.JobPurge:
		_, err := n.conclude(ctx, job, store.KindPurge, store.Purge{Job: ref(job), ID: job.Subject})
		return err
	}
	return fmt.Errorf("unknown kind of job %q", job.Kind)
}

func ref(job store.Job) store.JobRef { return store.JobRef{ID: job.ID, Lease: job.Lease} }

// conclude proposes a job's result. A result that comes too late or was made from an older state is stale.
func (n *Node) conclude(ctx context.Context, job store.Job, kind store.Kind, body any) (store.Result, error) {
	res, err := n.propose(ctx, api.Caller{}, api.Write{}, kind, job.Namespace, body)
	if e := (*api.Error)(nil); errors.As(err, &e) && (e.Code == api.CodePrecondition || e.Code == api.CodeConflict) {
		return res, fmt.Errorf("%w: %s", errStale, e.Detail)
	}
	return res, err
}

// finished ends a job that found nothing to do.
func (n *Node) finished(ctx context.Context, job store.Job) error {
	_, err := n.conclude(ctx, job, store.KindFinishJob, store.FinishJob{Job: ref(job)})
	return err
}

// openJob opens a view for a job.
func (n *Node) openJob(job store.Job) (*store.View, *store.Namespace, error) {
	return n.openFor(api.Caller{Namespace: job.Namespace})
}

// tick lets the leader run the rules that time drives.
func (n *Node) tick(ctx context.Context) {
	timer := time.NewTicker(n.cfg.TickEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		for n.group.IsLeader() && ctx.Err() == nil {
			res, err := n.propose(ctx, api.Caller{}, api.Write{}, store.KindTick, "", store.Tick{})
			if err != nil {
				n.log.WarnContext(ctx, "tick", "error", err)
				break
			}
			var out store.Ticked
			if err := store.DecodeBody(res.Body, &out); err != nil || !out.More {
				break
			}
		}
	}
}
