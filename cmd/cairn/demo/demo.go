package demo

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"cairn/cmd/cairn/world"
	"cairn/web/client"
)

// The namespaces of the two arms that have a memory.
const (
	privateNamespace = "demo-private"
	sharedNamespace  = "demo-shared"
)

// Config of a run.
type Config struct {
	// URL and AdminKey are the site and its admin key.
	URL, AdminKey string
	// Seed fixes the world, the tasks and what agents try at random. Ids and juries are drawn by the site.
	Seed uint64
	// Tasks is how many tasks the honest agents do together in an arm; the liar does its share on top.
	Tasks int
	// Done, if not nil, is called after every finished task.
	Done func()
}

// Episodes is how many tasks a run of all arms has, the liar's included.
func (c Config) Episodes() int {
	n := 0
	for _, tasks := range c.draw() {
		n += len(tasks)
	}
	return 3 * n
}

// draw makes the tasks of every agent.
func (c Config) draw() map[string][]world.Task {
	agents := world.Fleet()
	honest := 0
	for _, a := range agents {
		if !a.Liar {
			honest++
		}
	}
	tasks := world.Tasks(c.Seed, agents, (c.Tasks+honest-1)/honest)
	rest := c.Tasks % honest
	for i, a := range agents {
		if rest > 0 && i >= rest {
			tasks[a.ID] = tasks[a.ID][:c.Tasks/honest]
		}
	}
	return tasks
}

// Run makes the namespaces and agents, runs the arms and reports. The arms with a memory run at the same time.
func Run(ctx context.Context, c Config) (*Report, error) {
	start := time.Now()
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	defer transport.CloseIdleConnections()
	site := &siteClient{url: c.URL, http: &http.Client{Transport: transport}}
	private, shared, err := site.prepare(ctx, c.AdminKey)
	if err != nil {
		return nil, err
	}
	r := &Report{Seed: c.Seed, Tasks: c.Tasks, Arms: map[string]Arm{}, SharedKey: shared.key}
	if err := c.runArms(ctx, r, private, shared); err != nil {
		return nil, err
	}
	if err := shared.fill(ctx, r); err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	r.Seconds = float64(time.Since(start).Milliseconds()) / 1000
	return r, nil
}

func (c Config) runArms(ctx context.Context, r *Report, private, shared *namespace) error {
	type result struct {
		arm   string
		table world.Table
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result)
	run := func(arm string, m world.Memory) {
		table, err := c.arm(ctx, m)
		results <- result{arm, table, err}
	}
	go run("none", nil)
	go run("private", private)
	go run("shared", shared)
	var first error
	for range 3 {
		res := <-results
		if res.err != nil && first == nil {
			first = fmt.Errorf("arm %s: %w", res.arm, res.err)
			cancel()
		}
		r.Arms[res.arm] = newArm(res.table)
	}
	return first
}

func (c Config) arm(ctx context.Context, m world.Memory) (world.Table, error) {
	done := func(world.Episode) {}
	if c.Done != nil {
		done = func(world.Episode) { c.Done() }
	}
	episodes, err := world.Run(ctx, c.Seed, world.Fleet(), c.draw(), m, done)
	return world.Tabulate(episodes), err
}

// siteClient makes clients of one site.
type siteClient struct {
	url  string
	http *http.Client
}

func (s *siteClient) client(key string) (*client.Client, error) {
	return client.New(s.url, key, client.WithHTTPClient(s.http), client.WithSession(), client.WithUserAgent("cairn-demo"))
}
