package pipeline

import (
	"fmt"
	"time"

	"cairn/node/api"
)

const groupSize = 8

// speed times groups of eight attempts from recording to stored experiences, and then recalls with new texts in the pool
// that has come about.
func (r *runner) speed() error {
	groups, err := r.eights()
	if err != nil {
		return err
	}
	return r.with(func(s *site) error {
		c, err := s.agent("fast")
		if err != nil {
			return err
		}
		start := time.Now()
		for _, g := range groups {
			if err := s.record(c, g, g.rows, true); err != nil {
				return err
			}
		}
		if err := s.settle(); err != nil {
			return err
		}
		took := time.Since(start)
		r.add("groups_per_minute", float64(len(groups))/took.Minutes())
		pool, err := s.live(c.Agent)
		if err != nil {
			return err
		}
		return r.recallTimes(s, c, groups, len(pool))
	})
}

// eights are the groups with at least eight attempts, cut to eight.
func (r *runner) eights() ([]taskGroup, error) {
	var out []taskGroup
	for _, domain := range []string{"bash", "hotpotqa"} {
		groups, err := r.groups(domain)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			if len(g.rows) >= groupSize {
				g.rows = g.rows[:groupSize]
				out = append(out, g)
			}
		}
	}
	return r.few(out, 60), nil
}

func (r *runner) recallTimes(s *site, c api.Caller, groups []taskGroup, pool int) error {
	n := 500
	if r.opts.Quick {
		n = 200
	}
	var ms []float64
	for i := range n {
		a, b := groups[i%len(groups)].task, groups[(i*7+3)%len(groups)].task
		text := fmt.Sprintf("%s, case %d; then %s", clip(a, 120), i, clip(b, 60))
		start := time.Now()
		if _, err := s.node.Recall(s.ctx, c, api.RecallRequest{Task: text}); err != nil {
			return fmt.Errorf("recall: %w", err)
		}
		ms = append(ms, float64(time.Since(start).Microseconds())/1000)
	}
	r.add("recall_p99_ms", quantile(ms, .99))
	r.note("speed: %d groups; %d recalls one after the other in a pool of %d experiences, median %.1f ms", len(groups), n, pool, quantile(ms, .5))
	return nil
}
