package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"cairn/index/embed"
	"cairn/node"
	"cairn/node/api"
)

// encoder is shared by the nodes of a run, as nodes of one process may.
var encoder = sync.OnceValues(func() (*embed.Encoder, error) { return embed.New(embed.Options{}) })

// site is a node of its own in a temporary folder.
type site struct {
	ctx   context.Context
	node  *node.Node
	admin api.Caller
	dir   string
}

func (r *runner) open() (*site, error) {
	enc, err := encoder()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.opts.Dir, "cairn-bench-")
	if err != nil {
		return nil, err
	}
	s := &site{ctx: r.ctx, dir: dir}
	s.node, err = node.Open(r.ctx, node.Config{
		Dir: dir, PeerAddr: "127.0.0.1:0", PeerInsecure: true, Encoder: enc, EmbedDeadline: time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if s.admin, err = s.node.Authenticate(r.ctx, s.node.AdminKey()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) close() error { return errors.Join(s.node.Close(), os.RemoveAll(s.dir)) }

// with runs a measurement on a new site.
func (r *runner) with(measure func(*site) error) error {
	s, err := r.open()
	if err != nil {
		return err
	}
	return errors.Join(measure(s), s.close())
}

// agent enrols an agent of a principal of its own.
func (s *site) agent(id string) (api.Caller, error) {
	made, err := s.node.CreateAgent(s.ctx, s.admin, api.CreateAgent{ID: id}, api.Write{})
	if err != nil {
		return api.Caller{}, fmt.Errorf("enrol %s: %w", id, err)
	}
	return s.node.Authenticate(s.ctx, *made.Value.Key)
}

// recording is a group as a request. The key keeps attempts at one task together.
func recording(g taskGroup, rows []attemptRow, external bool) api.RecordTrajectory {
	req := api.RecordTrajectory{Task: clip(g.task, 8000), TaskType: g.domain, GroupKey: clip(g.domain+"/"+g.id, 128), Complete: true}
	for _, row := range rows {
		a := api.Attempt{Reward: row.Reward}
		if external {
			a.ExternalID = fmt.Sprintf("%s/%s/%s/%d/%v", g.domain, g.id, row.Agent, row.Attempt, row.Trial)
		}
		for _, s := range row.Steps {
			if s.Tool == "" {
				s.Tool = "none"
			}
			a.Steps = append(a.Steps, api.Step{Tool: s.Tool, Args: s.Args, Observation: s.Observation, Thought: s.Thought, Reward: s.Reward})
		}
		req.Attempts = append(req.Attempts, a)
	}
	return req
}

func clip(s string, characters int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), characters)])
}

// record sends a group without waiting for what is distilled, sixteen attempts at a time.
func (s *site) record(c api.Caller, g taskGroup, rows []attemptRow, external bool) error {
	for len(rows) > 0 {
		n := min(len(rows), 16)
		if _, err := s.node.RecordTrajectory(s.ctx, c, recording(g, rows[:n], external), 0, api.Write{}); err != nil {
			return fmt.Errorf("record %s: %w", g.id, err)
		}
		rows = rows[n:]
	}
	return nil
}

// settle waits until no job is queued or under way and the index has seen what they did.
func (s *site) settle() error {
	for {
		stats, err := s.node.Stats(s.ctx, s.admin)
		if err != nil {
			return err
		}
		if stats.Jobs["queued"]+stats.Jobs["leased"] == 0 {
			if dead := stats.Jobs["dead"]; dead > 0 {
				return fmt.Errorf("%d jobs ended without a result", dead)
			}
			_, err = s.node.AwaitRead(s.ctx, api.Read{Consistency: "session", Index: stats.Index})
			return err
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// live lists what an agent's pool holds, by id.
func (s *site) live(agent string) (map[string]api.Experience, error) {
	out := map[string]api.Experience{}
	page := api.Page{Limit: 500}
	for {
		list, err := s.node.Experiences(s.ctx, s.admin, api.ListFilter{Pool: "agent:" + agent, Page: page})
		if err != nil {
			return nil, fmt.Errorf("list experiences: %w", err)
		}
		for _, e := range list.Items {
			if e.Status == "active" || e.Status == "buffered" {
				out[e.ID] = e
			}
		}
		if list.NextCursor == nil {
			return out, nil
		}
		page.Cursor = *list.NextCursor
	}
}

// search is a recall that is not counted.
func (s *site) search(c api.Caller, task string, k int) ([]api.Recalled, error) {
	got, err := s.node.Recall(s.ctx, c, api.RecallRequest{Task: clip(task, 8000), K: &k, Mode: "search"})
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	return got.Experiences, nil
}
