package store

import (
	"strings"
	"testing"

	"cairn/federation"
)

// job is a nomination job that is due, with its experience.
func jobLab(t *testing.T) (*lab, Added) {
	l := fleet(t, "bob")
	return l, l.add("author", "one", share(federation.ShareCandidate))
}

func (l *lab) job(kind string, subject ID) *Job {
	l.t.Helper()
	for _, j := range l.jobs() {
		if j.Kind == kind && j.Subject == subject {
			return &j
		}
	}
	return nil
}

func TestOneJobASubject(t *testing.T) {
	l, added := jobLab(t)
	l.do(KindRequestNomination, RequestNomination{added.ID, added.Owner}, nil)
	if n := len(l.jobs()); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	job, _ := l.leaseOf(JobNominate, added.ID)
	l.do(KindRequestNomination, RequestNomination{added.ID, added.Owner}, nil)
	l.do(KindFinishJob, FinishJob{Job: ref(job)}, nil)
	if again := l.job(JobNominate, added.ID); again == nil || again.Status != JobQueued {
		t.Errorf("what was asked for while it ran is %+v, want queued once more", again)
	}
	l.mustCheck()
}

// A wish that cannot come true is refused at once, and leaves no wish behind for the day when the settings change.
func TestNominationThatNeverWins(t *testing.T) {
	never := "never"
	for _, c := range []struct {
		name  string
		setup func(l *lab)
		with  func(*Experience)
	}{
		{"experience", func(*lab) {}, share(federation.ShareNever)},
		{"agent", func(l *lab) { l.do(KindUpdateAgent, UpdateAgent{ID: "author", Share: &never}, nil) }, share(federation.ShareAuto)},
		{"namespace", func(l *lab) { l.do(KindSettings, Settings{Share: federation.ShareNever}, nil) }, share(federation.ShareAuto)},
		{"caution", func(*lab) {}, func(e *Experience) { e.Kind = federation.KindCaution }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := fleet(t, "bob")
			c.setup(l)
			added := l.add("author", "one", c.with)
			before := l.dump()
			l.refuse(KindRequestNomination, RequestNomination{added.ID, added.Owner}, "conflict")
			if l.dump() != before {
				t.Error("the refusal changed the state")
			}
		})
	}
}

func TestLostLease(t *testing.T) {
	l, added := jobLab(t)
	first, _ := l.leaseOf(JobNominate, added.ID)
	if n := len(l.lease()); n != 0 {
		t.Errorf("%d jobs leased twice", n)
	}
	l.now += 60_000
	second, ok := l.leaseOf(JobNominate, added.ID)
	if !ok || second.Tries != 2 {
		t.Fatalf("after the lease ran out: %+v", second)
	}
	l.refuse(KindFinishJob, FinishJob{Job: ref(first)}, "conflict")
	l.do(KindFinishJob, FinishJob{Job: ref(second)}, nil)
	l.refuse(KindFinishJob, FinishJob{Job: ref(second)}, "conflict")
	l.mustCheck()
}

func TestFailedJobBacksOffDiesAndIsRetried(t *testing.T) {
	l, added := jobLab(t)
	for try := 1; try <= maxTries; try++ {
		job, ok := l.leaseOf(JobNominate, added.ID)
		if !ok || job.Tries != try {
			t.Fatalf("try %d: %+v", try, job)
		}
		l.do(KindFinishJob, FinishJob{Job: ref(job), Error: "screener is away", RetryIn: 5000}, nil)
		l.do(KindRequestNomination, RequestNomination{added.ID, added.Owner}, nil)
		if _, early := l.leaseOf(JobNominate, added.ID); early && try < maxTries {
			t.Fatalf("try %d: asking again broke the back-off", try)
		}
		l.mustCheck()
		l.now += 5000
		if try == maxTries-1 {
			continue
		}
	}
}

func TestDeadJobIsVisibleAndRevived(t *testing.T) {
	l := fleet(t, "bob")
	rec := l.record("author", "g", true, federation.One)
	die := func() Job {
		var job Job
		for range maxTries {
			var ok bool
			if job, ok = l.leaseOf(JobDistil, rec.ID); !ok {
				t.Fatal("no job")
			}
			l.do(KindFinishJob, FinishJob{Job: ref(job), Error: "broken"}, nil)
		}
		return job
	}
	job := die()
	if got := l.job(JobDistil, rec.ID); got.Status != JobDead || got.Error != "broken" {
		t.Fatalf("after %d tries: %+v", maxTries, got)
	}
	if s := l.trajectory(rec.ID).Status; s != "failed" {
		t.Errorf("the group is %s, want failed", s)
	}
	l.mustCheck()
	l.do(KindRetryJob, JobID{job.ID}, nil)
	l.refuse(KindRetryJob, JobID{job.ID}, "conflict")
	l.refuse(KindRetryJob, JobID{numbered(99)}, "not_found")
	l.mustCheck()
	die()
	l.record("author", "g", true, federation.One)
	if n := len(l.jobs()); n != 1 {
		t.Errorf("%d jobs, want the dead one revived", n)
	}
	if got := l.job(JobDistil, rec.ID); got.Status != JobQueued || got.Tries != 0 {
		t.Errorf("after an attempt more: %+v", got)
	}
	l.mustCheck()
}

func TestJobThatTakesItsNodeDownIsGivenUp(t *testing.T) {
	l, added := jobLab(t)
	for range maxTries {
		if _, ok := l.leaseOf(JobNominate, added.ID); !ok {
			t.Fatal("no job")
		}
		l.now += 60_000
	}
	if _, ok := l.leaseOf(JobNominate, added.ID); ok {
		t.Error("leased once more")
	}
	if got := l.job(JobNominate, added.ID); got.Status != JobDead || !strings.Contains(got.Error, "lease") {
		t.Errorf("it is %+v, want dead", got)
	}
	l.mustCheck()
}

func TestStaleJobRunsAgainAtOnce(t *testing.T) {
	l, added := jobLab(t)
	job, _ := l.leaseOf(JobNominate, added.ID)
	l.do(KindFinishJob, FinishJob{Job: ref(job), Stale: true}, nil)
	if again, ok := l.leaseOf(JobNominate, added.ID); !ok || again.Tries != 1 {
		t.Errorf("a stale job: %+v, want it due with all tries", again)
	}
	l.mustCheck()
}

func TestResultOfAnotherJob(t *testing.T) {
	l, added := jobLab(t)
	second := l.add("author", "two", share(federation.ShareCandidate))
	var job Job
	for _, j := range l.lease() {
		if j.Subject == second.ID {
			job = j
		}
	}
	l.refuse(KindNominate, l.nomination(l.must(added.ID), job), "conflict")
	l.mustCheck()
}

func TestJobsAreLeasedInPortions(t *testing.T) {
	l := fleet(t, "bob")
	for i := range 3 {
		l.add("author", string(rune('a'+i)), share(federation.ShareCandidate))
	}
	var got Leased
	l.do(KindLeaseJobs, LeaseJobs{Node: "n", Max: 2, Lease: 1000}, &got)
	if len(got.Jobs) != 2 {
		t.Errorf("leased %d, want 2", len(got.Jobs))
	}
	l.read(func(v *View, _ *Namespace) {
		if due, any, err := v.NextDue(); err != nil || !any || due != l.now {
			t.Errorf("next due %d, %v, %v, want now", due, any, err)
		}
	})
	l.mustCheck()
}
