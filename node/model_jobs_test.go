package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// TestAnHourOfOutage moves the clock of the node: a model that is away is asked at growing pauses and no more often than
// every two minutes, each job only waits, and the first answer ends it.
func TestAnHourOfOutage(t *testing.T) {
	o := newOracle(t, map[string]string{"verdict": goodMarks})
	client, err := llm.New(llm.Options{
		BaseURL: o.URL + "/v1", Models: map[llm.Role]llm.Model{llm.RoleJudge: {Name: "scripted", Retries: -1}},
		Namespace: llm.Limit{PerMinute: -1, PerDay: -1}, Agent: llm.Limit{PerMinute: -1, PerDay: -1}, CacheSize: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := start
	m := &models{client: client, now: func() time.Time { return clock }, pause: map[llm.Role]time.Duration{}, until: map[llm.Role]time.Time{}}
	judge := func() error {
		_, ok, err := askForJob(m, llm.RoleJudge, func() (llm.Verdict, error) {
			return client.Judge(context.Background(), llm.Caller{Namespace: "default", Agent: "ann"}, llm.JudgeInput{Task: "t", Scenario: "s", Content: "call `login`"})
		})
		if err == nil && !ok {
			t.Fatal("the rules did the work of a model that is set")
		}
		return err
	}
	o.set("verdict", "503")
	waits := 0
	for clock.Before(start.Add(time.Hour)) {
		var away *outage
		if err := judge(); !errors.As(err, &away) || away.after <= 0 || away.after > longestPause {
			t.Fatalf("after %v: %v", clock.Sub(start), err)
		}
		if before := o.count("verdict"); !errors.Is(judge(), errOutage) || o.count("verdict") != before {
			t.Fatal("a model that rests was asked")
		}
		clock = clock.Add(away.after)
		waits++
	}
	if asked := o.count("verdict"); asked != waits || asked < 30 || asked > 45 {
		t.Errorf("asked %d times in an hour, waited %d times", asked, waits)
	}
	o.set("verdict", goodMarks)
	if err := judge(); err != nil || m.resting(llm.RoleJudge) > 0 {
		t.Errorf("after the outage: %v, resting for %v", err, m.resting(llm.RoleJudge))
	}
}

// TestPoisonJobIsGivenUpAndRetried: a job whose model answers what nobody can read ends dead with its error, says so on the
// feed, and is done once it is retried and the model answers well.
func TestPoisonJobIsGivenUpAndRetried(t *testing.T) {
	o := newOracle(t, map[string]string{"verdict": "fine, I would admit it"})
	s := newModelSite(t, o, nil, llm.RoleJudge)
	c := s.agent("ann", "alice")
	start := s.cursor()
	rec, err := s.node.RecordTrajectory(context.Background(), c, booking("book a flight from AMS to LIS", true), 0, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	job := s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobDistil && j.Tries > 0 && j.Error != "" })
	if job.Waits != 0 || !strings.Contains(job.Error, "unreadable") {
		t.Errorf("after the first try: %+v", job)
	}
	dead := s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobDistil && j.Status == store.JobDead })
	list, err := s.node.Jobs(context.Background(), s.admin, store.JobDead, api.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != dead.ID.String() || !strings.Contains(list.Items[0].Error, "unreadable") {
		t.Fatalf("dead jobs %+v, %v", list.Items, err)
	}
	traj, err := s.node.Trajectory(context.Background(), c, rec.Value.ID)
	if err != nil || traj.Status != "failed" || len(traj.Experiences) != 0 {
		t.Errorf("trajectory %+v, %v", traj, err)
	}
	end := s.mark(c, 1)
	for name, who := range map[string]struct {
		caller api.Caller
		told   int
	}{"admin": {s.admin, 1}, "agent": {c, 0}} {
		told := 0
		for _, m := range followFeed(t, s.node, who.caller, start, end) {
			if m.Event == "job.failed" && m.Data["job"] == dead.ID.String() && m.Data["kind"] == store.JobDistil {
				told++
			}
		}
		if told != who.told {
			t.Errorf("%s was told %d times that the job failed, want %d", name, told, who.told)
		}
	}
	if !s.alerted("dead_jobs") {
		t.Error("a dead job gives no alert")
	}
	o.set("verdict", goodMarks)
	if _, err := s.node.RetryJob(context.Background(), s.admin, dead.ID.String(), api.Write{}); err != nil {
		t.Fatal(err)
	}
	if e := s.lessonOf(c, rec.Value.ID, "success"); e.Lineage.Judge == "" {
		t.Errorf("lesson %+v was not judged by the model", e)
	}
	if s.alerted("dead_jobs") {
		t.Error("the alert outlives the job")
	}
}

// alerted reports whether there is an alert of a kind.
func (s *site) alerted(kind string) bool {
	s.t.Helper()
	alerts, err := s.node.Alerts(context.Background(), s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.ContainsFunc(alerts.Items, func(a api.Alert) bool { return a.Kind == kind })
}

// TestSlowModelKeepsNothingWaiting: while distilling hangs on a model, a nomination is done.
func TestSlowModelKeepsNothingWaiting(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": "hang"})
	s := newModelSite(t, o, func(opts *llm.Options) { opts.Parallel = 1 }, llm.RoleDistil)
	c := s.agent("ann", "alice")
	s.agent("bob", "bob") // a juror
	for _, to := range []string{"LIS", "OPO", "BER", "ROM"} {
		if _, err := s.node.RecordTrajectory(context.Background(), c, booking("book a flight from AMS to "+to, true), 0, api.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobDistil && j.Status == store.JobLeased })
	e, err := s.node.AddExperience(context.Background(), c, api.AddExperience{Scenario: "paying", Content: "Check the balance before `pay`."}, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.node.NominateExperience(context.Background(), c, e.Value.ID, api.Write{}); err != nil {
		t.Fatal(err)
	}
	s.eventually(c, e.Value.ID, func(x api.Experience) bool { return x.CandidateID != "" })
	leased := 0
	v, _, err := s.node.openFor(s.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Jobs(nil, func(_ []byte, j *store.Job) bool {
		if j.Status == store.JobLeased {
			leased++
		}
		return true
	}); err != nil || leased > 1 {
		t.Errorf("%d jobs are leased, want the one that the model is asked for, %v", leased, err)
	}
}
