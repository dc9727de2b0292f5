package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/screen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var sharedEncoder = sync.OnceValues(func() (*embed.Encoder, error) { return embed.New(embed.Options{}) })

// site is a node under test with its callers.
type site struct {
	t     *testing.T
	dir   string
	node  *Node
	admin api.Caller
	// encoder is another than the embedded one.
	encoder Encoder
	// screener is another than the rules.
	screener screen.Screener
	// config changes what a node starts with.
	config func(*Config)
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *site) start() {
	s.t.Helper()
	encoder := s.encoder
	if encoder == nil {
		shared, err := sharedEncoder()
		if err != nil {
			s.t.Fatal(err)
		}
		encoder = shared
	}
	cfg := Config{
		Dir: s.dir, PeerAddr: "127.0.0.1:0", PeerInsecure: true, Encoder: encoder, EmbedDeadline: time.Minute, Screener: s.screener,
		Logger: slog.New(slog.DiscardHandler),
	}
	if s.config != nil {
		s.config(&cfg)
	}
	n, err := Open(context.Background(), cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.node = n
	s.admin = s.caller(n.AdminKey())
}

func (s *site) stop() {
	s.t.Helper()
	if err := s.node.Close(); err != nil {
		s.t.Error(err)
	}
}

func (s *site) caller(key string) api.Caller {
	s.t.Helper()
	c, err := s.node.Authenticate(context.Background(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *site) agent(id, principal string) api.Caller {
	s.t.Helper()
	made, err := s.node.CreateAgent(context.Background(), s.admin, api.CreateAgent{ID: id, Principal: principal}, api.Write{})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.caller(*made.Value.Key)
}

// booking is a successful attempt at a booking task.
func booking(task string, success bool) api.RecordTrajectory {
	reward := 0.0
	steps := []api.Step{
		{Tool: "search_flights", Args: map[string]any{"from": "AMS", "to": "LIS"}, Observation: "error: not logged in"},
	}
	if success {
		reward = 1
		steps = []api.Step{
			{Tool: "login", Args: map[string]any{"user": "kim"}, Observation: "ok"},
			{Tool: "search_flights", Args: map[string]any{"from": "AMS", "to": "LIS"}, Observation: "3 flights"},
			{Tool: "book", Args: map[string]any{"flight": "F1", "class": "economy"}, Observation: "booked"},
		}
	}
	return api.RecordTrajectory{
		Task: task, TaskType: "airline", Complete: true, Attempts: []api.Attempt{{Steps: steps, Reward: &reward}},
	}
}

func (s *site) record(c api.Caller, req api.RecordTrajectory) api.RecordedTrajectory {
	s.t.Helper()
	out, err := s.node.RecordTrajectory(context.Background(), c, req, 20*time.Second, api.Write{})
	if err != nil {
		s.t.Fatal(err)
	}
	if out.Status != 200 {
		s.t.Fatalf("record: status %d, want 200 after the wait", out.Status)
	}
	return out.Value
}

func (s *site) recall(c api.Caller, task string) api.RecallAnswer {
	s.t.Helper()
	out, err := s.node.Recall(context.Background(), c, api.RecallRequest{Task: task, TaskType: "airline"})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *site) report(c api.Caller, a api.RecallAnswer, success bool, used ...string) api.OutcomeAnswer {
	s.t.Helper()
	used = append([]string{}, used...)
	out, err := s.node.Outcome(context.Background(), c, a.Receipt,
		api.OutcomeRequest{Success: &success, Evidence: "verified", Used: &used}, api.Write{})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.node.index.wait(context.Background(), out.Index); err != nil {
		s.t.Fatal(err)
	}
	return out.Value
}

const task = "book the cheapest flight from AMS to LIS for kim"

func TestRecordedSuccessIsRecalled(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	rec := s.record(ann, booking(task, true))
	if len(rec.Experiences) == 0 || len(rec.Gate) != 1 || rec.Gate[0].Route != "long_term" {
		t.Fatalf("recorded %+v, want an experience by the long-term route", rec)
	}
	got := s.recall(ann, "book a cheap flight from AMS to LIS")
	if len(got.Experiences) == 0 || got.Receipt == "" || got.Guidance == "" {
		t.Fatalf("recall gave %+v", got)
	}
	if e := got.Experiences[0].Experience; e.Author.Agent != "ann-1" || e.Status != "active" || e.Trust != nil {
		t.Errorf("recalled %+v, want ann's own active item", e)
	}
	if nonsense := s.recall(ann, "violet harmonica gravel opera sandwich"); len(nonsense.Experiences) != 0 || nonsense.WhyEmpty != "floor" {
		t.Errorf("a nonsense query gave %d items, why %q", len(nonsense.Experiences), nonsense.WhyEmpty)
	}
}

func TestPoolsArePrivate(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	rec := s.record(ann, booking(task, true))
	if got := s.recall(bob, task); len(got.Experiences) != 0 {
		t.Fatalf("bob recalled %d of ann's private items", len(got.Experiences))
	}
	id := rec.Experiences[0].ID
	ctx := context.Background()
	for name, err := range map[string]error{
		"get":        second(s.node.Experience(ctx, bob, id)),
		"trust":      second(s.node.Trust(ctx, bob, id)),
		"patch":      second(s.node.PatchExperience(ctx, bob, id, 1, api.PatchExperience{}, api.Write{})),
		"erase":      second(s.node.EraseExperience(ctx, bob, id, 1, api.Write{})),
		"trajectory": second(s.node.Trajectory(ctx, bob, rec.ID)),
	} {
		if code := codeOf(err); code != api.CodeNotFound {
			t.Errorf("%s of a foreign item: %v, want not_found", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func codeOf(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// TestOthersEvidencePromotes walks the whole loop: an author's own record nominates, jurors of other principals try the
// candidate, and their outcomes promote it to where everybody sees it.
func TestOthersEvidencePromotes(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	bob, cid := s.agent("bob-1", "bob"), s.agent("cid-1", "cid")
	rec := s.record(ann, booking(task, true))
	own := rec.Experiences[0].ID
	for i := range 12 {
		a := s.recall(ann, task)
		if len(a.Experiences) == 0 {
			t.Fatalf("recall %d of the author is empty", i)
		}
		// Failures without help keep the expectation down, so that success with the item is a lift.
		s.record(ann, failing(i))
		s.report(ann, a, true, own)
		if e, err := s.node.Experience(context.Background(), ann, own); err == nil && e.CandidateID != "" {
			break
		}
	}
	e := s.eventually(ann, own, func(e api.Experience) bool { return e.CandidateID != "" })
	candidate := e.CandidateID
	s.eventually(s.admin, candidate, func(e api.Experience) bool { return e.Status == "candidate" })
	for i := range 24 {
		juror := []api.Caller{bob, cid}[i%2]
		s.record(juror, failing(100+i))
		a, err := s.node.Recall(context.Background(), juror, api.RecallRequest{
			Task: task, TaskType: "airline", GroupKey: fmt.Sprintf("trip-%d", i),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Experiences {
			if x.Experience.ID != candidate {
				continue
			}
			if x.Exploratory == (x.Experience.Status == "promoted") || len(x.Experience.Lineage.DerivedFrom) > 0 || len(x.Experience.Lineage.Trajectories) > 0 {
				t.Fatalf("a juror was shown %+v", x)
			}
			s.report(juror, a, true, candidate)
		}
		if e, err := s.node.Experience(context.Background(), s.admin, candidate); err == nil && e.Status == "promoted" {
			break
		}
	}
	promoted := s.eventually(s.admin, candidate, func(e api.Experience) bool { return e.Status == "promoted" })
	if promoted.Trust.Value < .48 || promoted.Trust.Trials < 5 {
		t.Errorf("promoted with trust %+v", promoted.Trust)
	}
	dan := s.agent("dan-1", "dan")
	if a := s.recall(dan, task); len(a.Experiences) == 0 || a.Experiences[0].Experience.ID != candidate {
		t.Errorf("a newcomer recalled %+v, want the promoted item", a.Experiences)
	}
	list, err := s.node.Promotions(context.Background(), s.admin, "", api.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("promotions: %+v, %v", list, err)
	}
	replay, err := s.node.ReplayPromotion(context.Background(), s.admin, list.Items[0].ID)
	if err != nil || !replay.Same {
		t.Errorf("replay %+v, %v", replay, err)
	}
	graph, err := s.node.Provenance(context.Background(), s.admin, candidate)
	if err != nil || len(graph.Edges) < 6 {
		t.Errorf("provenance %+v, %v", graph, err)
	}
}

func failing(i int) api.RecordTrajectory {
	req := booking(fmt.Sprintf("%s, variant %d", task, i), false)
	return req
}

// eventually waits for the state to show what a job brings about.
func (s *site) eventually(c api.Caller, id string, ok func(api.Experience) bool) api.Experience {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		changed := s.node.store.Changed()
		e, err := s.node.Experience(ctx, c, id)
		if err != nil {
			s.t.Fatal(err)
		}
		if ok(e) {
			at, _ := s.node.store.Applied()
			if err := s.node.index.wait(ctx, at); err != nil {
				s.t.Fatal(err)
			}
			return e
		}
		select {
		case <-changed:
		case <-ctx.Done():
			detail, _ := s.node.Trust(context.Background(), s.admin, id)
			s.t.Fatalf("waited for a change of %+v\ntrust %+v", e, detail)
		}
	}
}

func TestRecordingAgainChangesNothing(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	first := s.record(ann, booking(task, true))
	again := s.record(ann, booking(task, true))
	if len(s.own(ann)) != len(first.Experiences) {
		t.Errorf("%d experiences after the second recording, want %d", len(s.own(ann)), len(first.Experiences))
	}
	for i, e := range again.Experiences {
		if e.ID != first.Experiences[i].ID || e.Support != first.Experiences[i].Support {
			t.Errorf("recorded again: %s with support %+v, want %s with %+v", e.ID, e.Support, first.Experiences[i].ID, first.Experiences[i].Support)
		}
	}
}
