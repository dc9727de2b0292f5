package pipeline

import (
	"cairn/node/api"
)

// secondRecording records every attempt twice: once more under its own name, which is known, and once without one, as a
// client does that lost its answer.
func (r *runner) secondRecording() error {
	return r.with(func(s *site) error {
		total, made := 0, 0
		for _, domain := range domains {
			c, err := s.agent("replay-" + domain)
			if err != nil {
				return err
			}
			groups, err := r.groups(domain)
			if err != nil {
				return err
			}
			groups = r.few(groups, perDomain)
			var before map[string]api.Experience
			for _, external := range []bool{true, true, false} {
				for _, g := range groups {
					if err := s.record(c, g, g.rows, external); err != nil {
						return err
					}
				}
				if err := s.settle(); err != nil {
					return err
				}
				now, err := s.live(c.Agent)
				if err != nil {
					return err
				}
				if before != nil {
					made += fresh(before, now)
				} else {
					total += len(now)
				}
				before = now
			}
		}
		r.add("second_record_new", float64(made))
		r.note("second recording: %d experiences after the first", total)
		return nil
	})
}

// fresh counts texts that are there now and were not before.
func fresh(before, now map[string]api.Experience) int {
	texts := map[string]bool{}
	for _, e := range before {
		texts[e.Scenario+"\x00"+e.Content] = true
	}
	n := 0
	for _, e := range now {
		if !texts[e.Scenario+"\x00"+e.Content] {
			n++
		}
	}
	return n
}
