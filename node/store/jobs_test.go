package store

import (
	"strconv"
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

// TestLeaseOfSomeKinds: a share of the workers takes its kinds alone, also from behind many others.
func TestLeaseOfSomeKinds(t *testing.T) {
	l, added := jobLab(t)
	for i := range 40 {
		l.record("author", strconv.Itoa(i), true, federation.One)
	}
	l.do(KindFinishJob, FinishJob{Job: ref(l.lease()[0])}, nil)
	l.now += 10 * 60_000
	quick, slow := LeaseJobs{Node: "n1", Max: 16, Lease: 30_000, Skip: []string{JobDistil}}, LeaseJobs{Node: "n1", Max: 3, Lease: 30_000, Only: []string{JobDistil}}
	l.do(KindRequestNomination, RequestNomination{added.ID, added.Owner}, nil)
	due := func(b *LeaseJobs) (found bool) {
		l.read(func(v *View, _ *Namespace) {
			var err error
			if found, err = v.Due(l.now, b); err != nil {
				t.Fatal(err)
			}
		})
		return found
	}
	if !due(&quick) || !due(&slow) {
		t.Error("nothing is due in one of the shares")
	}
	var got Leased
	l.do(KindLeaseJobs, quick, &got)
	if len(got.Jobs) == 0 {
		t.Error("the quick share took nothing")
	}
	for _, j := range got.Jobs {
		if j.Kind == JobDistil {
			t.Errorf("the quick share took %+v", j)
		}
	}
	if due(&quick) {
		t.Error("the quick share has more to do")
	}
	l.do(KindLeaseJobs, slow, &got)
	if len(got.Jobs) != 3 || got.Jobs[0].Kind != JobDistil {
		t.Errorf("the slow share took %+v", got.Jobs)
	}
	l.mustCheck()
}

// TestHoursOfOutage: however often a job is put back since what it needs is out of reach, no try is counted.
func TestHoursOfOutage(t *testing.T) {
	l := fleet(t, "bob")
	rec := l.record("author", "g", true, federation.One)
	for range 60 {
		job, ok := l.leaseOf(JobDistil, rec.ID)
		if !ok {
			t.Fatal("the job is not to be had")
		}
		l.do(KindFinishJob, FinishJob{Job: ref(job), Error: "away", RetryIn: 120_000, Outage: true}, nil)
		l.now += 120_000
	}
	if job := l.job(JobDistil, rec.ID); job.Status != JobQueued || job.Tries != 0 || job.Waits != 60 {
		t.Errorf("after two hours: %+v", job)
	}
	if kept, rej := l.distil(rec.ID, l.item(rec.ID, "plan", "text", 1)); rej != nil || len(kept.Experiences) != 1 {
		t.Errorf("afterwards: %+v, %v", kept, rej)
	}
	l.mustCheck()
}
