package machine

import (
	"fmt"
	"slices"

	"cairn/federation"
	"cairn/node/store"
)

const (
	nodeName   = "bench"
	leaseMS    = 60_000
	leaseBatch = 64
)

// Work does all jobs that are due, as the leading node does, and returns the experiences that they were about: originals
// and shared copies whose records or juries may have changed. Texts are taken as screened and clean.
func (s *Site) Work() ([]store.ID, error) {
	var touched []store.ID
	for {
		jobs, err := s.lease()
		if err != nil || len(jobs) == 0 {
			return touched, err
		}
		ids, err := s.workOn(jobs)
		if err != nil {
			return nil, err
		}
		touched = append(touched, ids...)
	}
}

func (s *Site) lease() ([]store.Job, error) {
	due := false
	err := s.Read(func(v *store.View, _ *store.Namespace) error {
		at, any, err := v.NextDue()
		due = any && at <= s.now
		return err
	})
	if err != nil || !due {
		return nil, err
	}
	var out store.Leased
	err = s.Do(store.KindLeaseJobs, store.LeaseJobs{Node: nodeName, Max: leaseBatch, Lease: leaseMS}, &out)
	return out.Jobs, err
}

// workOn proposes the results of some jobs as one batch. A result made from a state that changed puts its job back.
func (s *Site) workOn(jobs []store.Job) ([]store.ID, error) {
	var touched []store.ID
	for _, job := range jobs {
		if err := s.conclude(job); err != nil {
			return nil, err
		}
		touched = append(touched, job.Subject)
	}
	results, err := s.Flush()
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		switch {
		case r.Reject == nil:
			if jobs[i].Kind == store.JobNominate {
				var out store.Nominated
				if err := store.DecodeBody(r.Body, &out); err != nil {
					return nil, err
				}
				touched = append(touched, out.Candidate)
			}
		case r.Reject.Code == "precondition" || r.Reject.Code == "conflict":
			if err := s.Do(store.KindFinishJob, store.FinishJob{Job: ref(jobs[i]), Stale: true}, nil); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("job %s of %s: %w", jobs[i].Kind, jobs[i].Subject, r.Reject)
		}
	}
	return touched, nil
}

func ref(j store.Job) store.JobRef { return store.JobRef{ID: j.ID, Lease: j.Lease} }

// conclude queues the command that ends a job.
func (s *Site) conclude(job store.Job) error {
	switch job.Kind {
	case store.JobNominate:
		return s.nominate(job)
	case store.JobPromote:
		return s.promote(job)
	case store.JobReplace:
		return s.replaceJuror(job)
	case store.JobCompact: // a strategy would change what a simulation counts
		return s.finish(job)
	case store.JobPurge:
		return s.Queue(store.KindPurge, store.Purge{Job: ref(job), ID: job.Subject})
	}
	return fmt.Errorf("job of kind %q is not expected", job.Kind)
}

func (s *Site) finish(job store.Job) error {
	return s.Queue(store.KindFinishJob, store.FinishJob{Job: ref(job)})
}

// nominate draws the jury and proposes the frozen copy.
func (s *Site) nominate(job store.Job) error {
	var body *store.Nominate
	err := s.Read(func(v *store.View, ns *store.Namespace) error {
		e, err := v.ExperienceOf(ns.Number, job.Owner, job.Subject)
		if err != nil || e == nil {
			return err
		}
		unit, eligible, err := v.Eligible(ns, e)
		if err != nil {
			return err
		}
		vectors, err := v.VectorsOf(ns.Number, e.Owner, e.ID)
		body = &store.Nominate{
			Job: ref(job), Original: store.Target{ID: e.ID, Owner: e.Owner, Version: e.Version},
			Copy:    store.Experience{ID: s.NewID(), Scenario: e.Scenario, Content: e.Content, Keywords: e.Keywords, Hash: e.Hash},
			Vectors: vectors, Screening: federation.ScreeningPass, Unit: unit,
			Jurors: s.draw(eligible, federation.JurySize(len(eligible))),
		}
		return err
	})
	if err != nil {
		return err
	}
	if body == nil {
		return s.finish(job)
	}
	return s.Queue(store.KindNominate, *body)
}

// draw picks size of the eligible, in order of name.
func (s *Site) draw(eligible []string, size int) []string {
	pool := slices.Clone(eligible)
	s.rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	pool = pool[:min(size, len(pool))]
	slices.Sort(pool)
	return pool
}

func (s *Site) promote(job store.Job) error {
	var target *store.Experience
	err := s.Read(func(v *store.View, ns *store.Namespace) (err error) {
		target, err = v.ExperienceOf(ns.Number, store.SharedOwner, job.Subject)
		return err
	})
	if err != nil {
		return err
	}
	if target == nil {
		return s.finish(job)
	}
	return s.Queue(store.KindPromote, store.Promote{
		Job: ref(job), Target: store.Target{ID: target.ID, Owner: store.SharedOwner, Version: target.Version}, Decision: s.NewID(),
	})
}

func (s *Site) replaceJuror(job store.Job) error {
	body := store.ReplaceJuror{Job: ref(job), ID: job.Subject, Struck: job.Extra}
	err := s.Read(func(v *store.View, ns *store.Namespace) error {
		e, err := v.ExperienceOf(ns.Number, store.SharedOwner, job.Subject)
		if err != nil || e == nil {
			return err
		}
		jury, err := v.Jury(ns, e.ID)
		if err != nil || jury == nil {
			return err
		}
		free, err := v.FreeJurors(ns, e, jury)
		if chosen := s.draw(free, 1); len(chosen) > 0 {
			body.New = chosen[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.Queue(store.KindReplaceJuror, body)
}
