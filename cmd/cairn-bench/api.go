package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"cairn/cmd/cairn/site"
	"cairn/node"
	"cairn/node/api"
	"cairn/web/client"
)

type apiCmd struct{}

// apiRows are the rows of `cairn-bench api`.
var apiRows = []rowSpec{
	figure("write_p50_ms", "ms", "POST /experiences with new text of about 30 words, until it is durable; one client, median of a round"),
	figure("write_p99_ms", "ms", "the same, 99th percentile of a round"),
	figure("trajectory_p50_ms", "ms", "POST /trajectories with one attempt of four steps, until it is durable, distilling not awaited"),
	figure("recall_p50_ms", "ms", "POST /recall with a task that was never asked, k = 5"),
	figure("recall_again_p50_ms", "ms", "POST /recall with a task asked before, whose vector is known"),
	figure("outcome_p50_ms", "ms", "POST /recalls/{receipt}/outcome"),
	figure("read_p50_ms", "ms", "GET /experiences/{id}"),
	figure("writes_8_per_s", "1/s", "POST /experiences by eight clients at once"),
	atMost("import_lost", "rows", 0, "rows of all trajectory files that were neither recorded nor reported with a reason"),
	atMost("import_again", "rows", 0, "rows that a second import of the same files recorded"),
	figure("import_rows_per_s", "1/s", "rows imported, distilling included"),
}

// load is how much is done in a round.
type load struct{ rounds, calls int }

// Run measures on a site of its own in a temporary folder.
func (apiCmd) Run(a *app) error {
	r := newReport("api", a.options, apiRows)
	l := load{rounds: 5, calls: 200}
	if a.options.Quick {
		l = load{rounds: 3, calls: 60}
	}
	err := withSite(a.ctx, func(url, adminKey string) error {
		if err := measureCalls(a, r, l, url, adminKey); err != nil {
			return err
		}
		return measureImport(a, r, url, adminKey)
	})
	if err != nil {
		return err
	}
	r.note("One process holds server and client; %d rounds of %d calls; value = median over the rounds, low and high = their range.", l.rounds, l.calls)
	return r.finish(a)
}

// withSite runs f against a one-node site and removes everything afterwards.
func withSite(ctx context.Context, f func(url, adminKey string) error) (err error) {
	dir, err := os.MkdirTemp("", "cairn-bench-*")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	n, err := node.Open(ctx, node.Config{Dir: dir, PeerAddr: "127.0.0.1:0", BootstrapExpect: 1, PeerInsecure: true, Logger: log})
	if err != nil {
		return fmt.Errorf("open node: %w", err)
	}
	s, err := site.Start(n, site.Options{API: "127.0.0.1:0", Logger: log})
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, s.Close(end))
	}()
	if err := s.AwaitReady(ctx); err != nil {
		return err
	}
	return f(s.URL(), n.AdminKey())
}

// enrol makes an agent and a client of it.
func enrol(ctx context.Context, url, adminKey, id string) (*client.Client, error) {
	admin, err := client.New(url, adminKey)
	if err != nil {
		return nil, err
	}
	made, err := admin.CreateAgent(ctx, api.CreateAgent{ID: id})
	if err != nil {
		return nil, fmt.Errorf("enrol %s: %w", id, err)
	}
	if made.Value.Key == nil {
		return nil, fmt.Errorf("enrol %s: no key", id)
	}
	return client.New(url, *made.Value.Key, client.WithHTTPClient(manyConnections))
}

func measureCalls(a *app, r *report, l load, url, adminKey string) error {
	c, err := enrol(a.ctx, url, adminKey, "bench")
	if err != nil {
		return err
	}
	m := &callBench{ctx: a.ctx, client: c, words: newWords(a.options.Seed), calls: l.calls, rounds: map[string][]float64{}}
	for range l.rounds {
		if err := m.round(); err != nil {
			return err
		}
	}
	for _, s := range apiRows {
		if rounds, ok := m.rounds[s.Name]; ok {
			if err := r.add(s.Name, rounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// callBench times calls, one kind after the other within a round.
type callBench struct {
	ctx    context.Context
	client *client.Client
	words  *words
	calls  int
	rounds map[string][]float64
}

func (m *callBench) round() error {
	var ids, tasks, receipts []string
	writes, err := m.each(func(int) error {
		done, err := m.client.AddExperience(m.ctx, m.experience())
		ids = append(ids, done.Value.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	m.record("write_p50_ms", quantile(writes, .5))
	m.record("write_p99_ms", quantile(writes, .99))
	if err := m.median("trajectory_p50_ms", func(int) error {
		_, err := m.client.RecordTrajectory(m.ctx, m.trajectory(), 0)
		return err
	}); err != nil {
		return err
	}
	if err := m.idle(); err != nil {
		return err
	}
	recall := func(task string) error {
		ans, err := m.client.Recall(m.ctx, api.RecallRequest{Task: task, TaskType: "bench"})
		receipts = append(receipts, ans.Receipt)
		return err
	}
	if err := m.median("recall_p50_ms", func(int) error {
		tasks = append(tasks, m.words.text(12))
		return recall(tasks[len(tasks)-1])
	}); err != nil {
		return err
	}
	if err := m.median("recall_again_p50_ms", func(i int) error { return recall(tasks[i]) }); err != nil {
		return err
	}
	if err := m.median("outcome_p50_ms", func(i int) error { return m.outcome(receipts[i]) }); err != nil {
		return err
	}
	if err := m.median("read_p50_ms", func(i int) error {
		_, err := m.client.Experience(m.ctx, ids[i])
		return err
	}); err != nil {
		return err
	}
	return m.together()
}

func (m *callBench) outcome(receipt string) error {
	if receipt == "" {
		return errors.New("a recall gave nothing: there is no outcome to time")
	}
	_, err := m.client.Outcome(m.ctx, receipt, api.OutcomeRequest{Success: new(true), Evidence: "verified", Used: &[]string{}})
	return err
}

// idle waits until distilling is done, so that it does not run beside the calls that are timed next.
func (m *callBench) idle() error {
	for {
		st, err := m.client.Stats(m.ctx)
		if err != nil {
			return fmt.Errorf("stats: %w", err)
		}
		if st.Jobs["queued"]+st.Jobs["leased"] == 0 {
			return nil
		}
		select {
		case <-m.ctx.Done():
			return m.ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// together writes from eight clients at once.
func (m *callBench) together() error {
	const clients = 8
	reqs := make(chan api.AddExperience, m.calls)
	for range m.calls {
		reqs <- m.experience()
	}
	close(reqs)
	errs := make(chan error, clients)
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for req := range reqs {
				if _, err := m.client.AddExperience(m.ctx, req); err != nil {
					errs <- fmt.Errorf("write: %w", err)
					return
				}
			}
		})
	}
	wg.Wait()
	m.record("writes_8_per_s", float64(m.calls)/time.Since(start).Seconds())
	close(errs)
	return <-errs
}

func (m *callBench) record(name string, v float64) { m.rounds[name] = append(m.rounds[name], v) }

func (m *callBench) median(name string, call func(i int) error) error {
	times, err := m.each(call)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	m.record(name, quantile(times, .5))
	return nil
}

// each makes the calls one after the other and returns how long each took, in milliseconds.
func (m *callBench) each(call func(i int) error) ([]float64, error) {
	times := make([]float64, m.calls)
	for i := range times {
		start := time.Now()
		if err := call(i); err != nil {
			return nil, err
		}
		times[i] = float64(time.Since(start).Microseconds()) / 1000
	}
	return times, nil
}

func (m *callBench) experience() api.AddExperience {
	return api.AddExperience{Scenario: m.words.text(12), Content: m.words.text(18), TaskType: "bench", Share: "never"}
}

func (m *callBench) trajectory() api.RecordTrajectory {
	at := api.Attempt{Reward: new(float64(m.words.r.IntN(2)))}
	for range 4 {
		at.Steps = append(at.Steps, api.Step{Tool: m.words.text(1), Args: map[string]any{"q": m.words.text(1)}, Observation: m.words.text(6)})
	}
	return api.RecordTrajectory{Task: m.words.text(12), TaskType: "bench", Complete: true, Share: "never", Attempts: []api.Attempt{at}}
}

// words draws texts that were not drawn before.
type words struct {
	r *rand.Rand
	n int
}

func newWords(seed uint64) *words { return &words{r: rand.New(rand.NewPCG(seed, 1))} }

var vocabulary = []string{
	"order", "ticket", "flight", "invoice", "server", "report", "customer", "address", "backup", "calendar", "refund", "search",
	"update", "delete", "login", "payment", "window", "garden", "river", "engine", "letter", "meeting", "project", "budget",
}

// text is n words; a text of several words ends in a number that makes it new.
func (w *words) text(n int) string {
	s := vocabulary[w.r.IntN(len(vocabulary))]
	for range n - 2 {
		s += " " + vocabulary[w.r.IntN(len(vocabulary))]
	}
	if n > 1 {
		w.n++
		s += fmt.Sprintf(" %d", w.n)
	}
	return s
}
