package store

import (
	"testing"

	"cairn/federation"
)

func TestOutageCountsNoTry(t *testing.T) {
	l := fleet(t, "bob")
	rec := l.record("author", "g", true, federation.One)
	for range 4 * maxTries {
		job, ok := l.leaseOf(JobDistil, rec.ID)
		if !ok {
			t.Fatal("the job is gone")
		}
		l.do(KindFinishJob, FinishJob{Job: ref(job), Error: "model is out of reach", Outage: true}, nil)
	}
	got := l.job(JobDistil, rec.ID)
	if got.Status != JobQueued || got.Tries != 0 || got.Waits != 4*maxTries || got.Error == "" {
		t.Errorf("after an outage: %+v", got)
	}
	l.mustCheck()
}

func TestRenewedLeaseRunsOn(t *testing.T) {
	l := fleet(t, "bob")
	rec := l.record("author", "g", true, federation.One)
	job, _ := l.leaseOf(JobDistil, rec.ID)
	due := l.job(JobDistil, rec.ID).Due
	l.do(KindRenewJobs, RenewJobs{Jobs: []JobRef{ref(job), {ID: numbered(9)}}, Lease: 10 * 60_000}, nil)
	if got := l.job(JobDistil, rec.ID).Due; got <= due {
		t.Errorf("due at %d, want later than %d", got, due)
	}
	l.do(KindRenewJobs, RenewJobs{Jobs: []JobRef{{ID: job.ID, Lease: job.Lease + 1}}, Lease: 60 * 60_000}, nil)
	if got := l.job(JobDistil, rec.ID).Due; got > due+11*60_000 {
		t.Error("a lease that was lost was prolonged")
	}
	l.mustCheck()
}

func TestJudgedRewardIsNoOutcome(t *testing.T) {
	l := fleet(t, "bob")
	b := l.recording("author", "g", true, 0)
	b.Attempts[0] = Attempt{Steps: []Step{{Tool: "book"}}}
	var rec Recorded
	l.do(KindRecordTrajectory, b, &rec)
	job, _ := l.leaseOf(JobDistil, rec.ID)
	score := JudgedScore{Attempt: 0, Score: federation.One, Success: true, Expected: federation.One / 2, By: "llm/m/reward.en@1"}
	owner := l.trajectory(rec.ID).Owner
	bad := score
	bad.Score = 2 * federation.One
	l.refuse(KindJudged, Judged{ref(job), rec.ID, owner, []JudgedScore{bad}}, "invalid")
	l.do(KindJudged, Judged{ref(job), rec.ID, owner, []JudgedScore{score, {Attempt: 7, By: "m"}}}, nil)
	score.Score, score.Success = 0, false
	l.do(KindJudged, Judged{ref(job), rec.ID, owner, []JudgedScore{score}}, nil)
	l.read(func(v *View, ns *Namespace) {
		list, err := v.Attempts(ns, l.trajectory(rec.ID), 0)
		if err != nil {
			t.Fatal(err)
		}
		a := list[0]
		if !a.HasReward || !a.Success || a.Score != federation.One || a.JudgedBy == "" || a.Outcome {
			t.Errorf("attempt %+v, want the first verdict and no outcome", a)
		}
		counters, err := v.Counters(ns)
		if err != nil {
			t.Fatal(err)
		}
		if counters["outcomes"] != 0 || counters["judged"] != 1 {
			t.Errorf("counters %v", counters)
		}
	})
	l.mustCheck()
}

func TestSpendIsBookedByDay(t *testing.T) {
	l := fleet(t, "bob")
	line := SpendLine{Agent: "author", Role: "judge", Model: "m", Use: LLMUse{Calls: 1, Cached: 2, PromptTokens: 70, AnswerTokens: 30}}
	l.do(KindSpend, Spend{[]SpendLine{line, line}}, nil)
	check := func(agent string, today, calls int64) {
		t.Helper()
		l.read(func(v *View, ns *Namespace) {
			s, err := v.SpentBy(ns, agent)
			if err != nil || s.Today != today || s.Lines["judge m"].Calls != calls {
				t.Errorf("%q spent %+v, %v; want %d today, %d calls", agent, s, err, today, calls)
			}
		})
	}
	check("author", 200, 2)
	check("", 200, 2)
	check("bob", 0, 0)
	l.now += day
	l.do(KindSpend, Spend{[]SpendLine{line}}, nil)
	check("", 100, 3)
	l.refuse(KindSpend, Spend{make([]SpendLine, maxSpendLines+1)}, "invalid")
	l.mustCheck()
}
