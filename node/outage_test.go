package node

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/consensus"
	"cairn/node/api"
	"cairn/node/gate"
	"cairn/node/llm"
	"cairn/node/store"
)

// simulation is a node without peers and loops, whose time only the test moves: commands are applied as they are proposed,
// and jobs run when the test lets them.
type simulation struct {
	t     *testing.T
	dir   string
	n     *Node
	opts  llm.Options
	agent api.Caller
	stop  func()

	mu    sync.Mutex // guards below
	now   time.Time
	index uint64
}

func newSimulation(t *testing.T, opts llm.Options, start time.Time) *simulation {
	t.Helper()
	s := &simulation{t: t, dir: t.TempDir(), opts: opts, now: start}
	s.start()
	t.Cleanup(func() { s.stop() })
	key := sha256.Sum256([]byte("ann"))
	s.must(store.KindBootstrap, "", store.Bootstrap{Site: "site-1", Admin: store.AgentKey{ID: "k", Hash: sha256.Sum256([]byte("admin"))}})
	s.must(store.KindCreateAgent, store.DefaultNamespace, store.Agent{
		ID: "ann", Principal: "alice", Roles: []string{api.RoleAgent}, Keys: []store.AgentKey{{ID: "k2", Hash: key}},
	})
	s.agent = api.Caller{Namespace: store.DefaultNamespace, Agent: "ann", Principal: "alice", Roles: []string{api.RoleAgent}}
	return s
}

// start opens the node on its folder, as a restart does.
func (s *simulation) start() {
	s.t.Helper()
	encoder, err := sharedEncoder()
	if err != nil {
		s.t.Fatal(err)
	}
	cfg := Config{Dir: s.dir, Encoder: encoder, EmbedDeadline: time.Minute, Logger: slog.New(slog.DiscardHandler), LLM: &s.opts}
	cfg.ensureDefaults()
	n := &Node{cfg: cfg, log: cfg.Logger, predictor: &gate.Predictor{}, encoder: encoder, embedded: encoder, proposer: s}
	if n.store, err = store.Open(filepath.Join(s.dir, "state"), n.log); err != nil {
		s.t.Fatal(err)
	}
	n.streams.client = "simulated"
	if err := n.openModels(); err != nil {
		s.t.Fatal(err)
	}
	n.models.now = s.clock
	n.metrics = newMetrics(n)
	n.index = newFollower(n.store, n.predictor, s.t.TempDir(), n.log)
	if err := n.index.rebuild(nil); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.run(func() { n.index.follow(ctx) })
	s.n, s.stop = n, func() {
		cancel()
		n.wg.Wait()
		n.index.close()
		n.models.client.Close()
		if err := n.store.Close(); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *simulation) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Propose applies a command at the present time.
func (s *simulation) Propose(_ context.Context, data []byte) (consensus.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	results, err := s.n.store.Apply(s.index, 1, []int64{s.now.UnixMilli()}, [][]byte{data})
	if err != nil {
		return consensus.Result{}, err
	}
	return consensus.Result{Index: s.index, Value: results[0]}, nil
}

// ProposeFreeing is Propose: the disk of a simulation is not full.
func (s *simulation) ProposeFreeing(ctx context.Context, data []byte) (consensus.Result, error) {
	return s.Propose(ctx, data)
}

func (s *simulation) must(kind store.Kind, ns string, body any) store.Result {
	s.t.Helper()
	res, err := s.n.propose(context.Background(), api.Caller{}, api.Write{}, kind, ns, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

// work runs what is due, then moves the time to the next job, and ends when that is later than the end or there is none.
func (s *simulation) work(end time.Time) {
	s.t.Helper()
	for {
		res := s.must(store.KindLeaseJobs, "", store.LeaseJobs{Node: "simulated", Max: leaseBatch, Lease: leaseMS})
		var got store.Leased
		if err := store.DecodeBody(res.Body, &got); err != nil {
			s.t.Fatal(err)
		}
		for _, job := range got.Jobs {
			s.n.runJob(context.Background(), job)
		}
		if len(got.Jobs) > 0 {
			continue
		}
		due, ok := s.nextDue()
		if !ok || due.After(end) {
			return
		}
		s.mu.Lock()
		s.now = due
		s.mu.Unlock()
	}
}

func (s *simulation) nextDue() (time.Time, bool) {
	s.t.Helper()
	v, err := s.n.store.View()
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	due, ok, err := v.NextDue()
	if err != nil {
		s.t.Fatal(err)
	}
	return time.UnixMilli(due), ok
}

func (s *simulation) jobs() (out []store.Job) {
	s.t.Helper()
	v, err := s.n.store.View()
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	if err := v.Jobs(nil, func(_ []byte, j *store.Job) bool {
		out = append(out, *j)
		return true
	}); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// TestAnHourWithoutModels records all through an hour in which no model answers, with a restart in the middle. No try is
// counted, nothing is given up and nothing is made by rule in its place; the models are asked at growing pauses only; and once
// they are back every group is distilled and judged by them.
func TestAnHourWithoutModels(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": "503", "verdict": goodMarks, "reward": "503"})
	opts := llm.DefaultOptions()
	opts.BaseURL, opts.CacheSize = o.URL+"/v1", -1
	opts.Namespace, opts.Agent = llm.Limit{PerMinute: -1, PerDay: -1}, llm.Limit{PerMinute: -1, PerDay: -1}
	for _, role := range []llm.Role{llm.RoleDistil, llm.RoleJudge, llm.RoleReward} {
		opts.Models[role] = llm.Model{Name: "scripted", Retries: -1}
	}
	s := newSimulation(t, opts, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	start := s.clock()
	var groups []string
	for minute := 0; minute < 60; minute += 5 {
		req := booking(fmt.Sprintf("book flight number %d from AMS to LIS", minute), true)
		req.TaskType = fmt.Sprintf("airline-%d", minute) // without history, so that the gate expects nothing
		if minute%10 == 5 {
			req.Attempts[0].Reward = nil // for the reward judge
		}
		rec, err := s.n.RecordTrajectory(context.Background(), s.agent, req, 0, api.Write{})
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, rec.Value.ID)
		end := start.Add(time.Duration(minute+5) * time.Minute)
		s.work(end)
		s.mu.Lock()
		s.now = end
		s.mu.Unlock()
		if minute == 30 {
			s.stop()
			s.start()
		}
	}
	waiting := 0
	for _, j := range s.jobs() {
		if j.Status == store.JobDead || j.Tries != 0 {
			t.Errorf("after the hour: %+v", j)
		}
		if j.Kind == store.JobDistil && j.Waits > 0 && strings.Contains(j.Error, "not available") {
			waiting++
		}
	}
	if waiting < len(groups)-1 { // the last one may not have been tried
		t.Errorf("%d jobs wait for %d groups", waiting, len(groups))
	}
	// Each of the two roles is asked once a pause of at most two minutes, whatever the number of jobs.
	if asked := o.count("experiences") + o.count("reward"); asked < 30 || asked > 100 {
		t.Errorf("asked %d times in an hour", asked)
	}
	for _, id := range groups {
		if tr, err := s.n.Trajectory(context.Background(), s.agent, id); err != nil || len(tr.Experiences) != 0 || tr.Status == "failed" {
			t.Errorf("during the outage: %+v, %v", tr, err)
		}
	}

	o.set("experiences", goodLesson)
	o.set("reward", `{"score":0,"reason":"nothing is booked"}`) // what nobody expects of these bookings, so that the gate keeps it
	back := s.clock()
	s.work(back.Add(10 * time.Minute))
	for _, id := range groups {
		tr, err := s.n.Trajectory(context.Background(), s.agent, id)
		if err != nil || len(tr.Experiences) == 0 {
			t.Fatalf("after the outage: %+v, %v", tr, err)
		}
		byModel := false
		for _, e := range tr.Experiences {
			x, err := s.n.Experience(context.Background(), s.agent, e)
			if err != nil {
				t.Fatal(err)
			}
			byModel = byModel || strings.HasPrefix(x.Lineage.Generator, "llm/scripted/distil")
		}
		if !byModel {
			t.Errorf("group %s has no lesson of the model", id)
		}
	}
	if left := s.jobs(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}
