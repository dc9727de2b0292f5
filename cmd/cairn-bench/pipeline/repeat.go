package pipeline

import (
	"fmt"
	"strings"

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

// feedback lets one agent learn from some tasks, asks for guidance on others, puts the guidance into their trajectories
// in every place where agents put it, and counts experiences that repeat it. A second agent records the same trajectories
// without it: what it learns too is no echo.
func (r *runner) feedback() error {
	return r.with(func(s *site) error {
		echoes, fed := 0, 0
		for _, domain := range domains {
			groups, err := r.groups(domain)
			if err != nil {
				return err
			}
			groups = r.few(groups, perDomain)
			fed += len(groups) / 2
			n, err := s.echoes(domain, groups)
			if err != nil {
				return err
			}
			echoes += n
		}
		r.add("feedback_distilled", float64(echoes))
		r.note("feedback: guidance put into the attempts at %d tasks", fed)
		return nil
	})
}

func (s *site) echoes(domain string, groups []taskGroup) (int, error) {
	listener, err := s.agent("fed-" + domain)
	if err != nil {
		return 0, err
	}
	control, err := s.agent("control-" + domain)
	if err != nil {
		return 0, err
	}
	learn, told := groups[:len(groups)/2], groups[len(groups)/2:]
	for _, g := range learn {
		if err := s.record(listener, g, g.rows, true); err != nil {
			return 0, err
		}
	}
	if err := s.settle(); err != nil {
		return 0, err
	}
	known, err := s.live(listener.Agent)
	if err != nil {
		return 0, err
	}
	var guidance []string
	for i, g := range told {
		text, receipt, err := s.guidance(listener, g.task)
		if err != nil {
			return 0, err
		}
		if text != "" {
			guidance = append(guidance, text)
		}
		if err := s.record(control, g, g.rows, true); err != nil {
			return 0, err
		}
		if err := s.recordFed(listener, g, text, receipt, i); err != nil {
			return 0, err
		}
	}
	if err := s.settle(); err != nil {
		return 0, err
	}
	own, err := s.live(control.Agent)
	if err != nil {
		return 0, err
	}
	now, err := s.live(listener.Agent)
	if err != nil {
		return 0, err
	}
	return countEchoes(now, known, own, guidance, told), nil
}

func (s *site) guidance(c api.Caller, task string) (text, receipt string, err error) {
	got, err := s.node.Recall(s.ctx, c, api.RecallRequest{Task: clip(task, 8000)})
	if err != nil {
		return "", "", fmt.Errorf("recall: %w", err)
	}
	return got.Guidance, got.Receipt, nil
}

// recordFed records a group with guidance in its trajectories. Every second group names the receipt; the others leave it
// to the marks of the text.
func (s *site) recordFed(c api.Caller, g taskGroup, guidance, receipt string, nth int) error {
	req := recording(g, g.rows[:min(len(g.rows), 16)], true)
	if guidance == "" {
		_, err := s.node.RecordTrajectory(s.ctx, c, req, 0, api.Write{})
		return err
	}
	for i := range req.Attempts {
		a := &req.Attempts[i]
		if nth%2 == 0 {
			a.Receipt = receipt
		}
		first := api.Step{Tool: "recall_memory", Args: map[string]any{"query": clip(g.task, 200)}, Observation: guidance}
		switch {
		case i%3 == 0 || len(a.Steps) == 0:
			a.Steps = append([]api.Step{first}, a.Steps...)
		case i%3 == 1:
			a.Steps[0].Observation = guidance + "\n" + a.Steps[0].Observation
		default:
			a.Steps[0].Thought = guidance + "\n" + a.Steps[0].Thought
			last := &a.Steps[len(a.Steps)-1]
			last.Observation += "\nError: this was tried before.\n" + guidance
		}
	}
	_, err := s.node.RecordTrajectory(s.ctx, c, req, 0, api.Write{})
	return err
}

// countEchoes counts experiences that are new to the listener, that the control did not learn, and that repeat runWords
// words in a row of some guidance which neither the recorded tasks nor what the control learned contain.
func countEchoes(now, known, control map[string]api.Experience, guidance []string, told []taskGroup) int {
	natural, learned := map[string]bool{}, map[string]bool{}
	for _, e := range control {
		learned[e.Content] = true
		addRuns(natural, e.Scenario+"\n"+e.Content)
	}
	for _, g := range told {
		addRuns(natural, g.task)
		for _, row := range g.rows {
			for _, s := range row.Steps {
				addRuns(natural, fmt.Sprint(s.Observation, "\n", s.Args))
			}
		}
	}
	echoed := map[string]bool{}
	for _, text := range guidance {
		addRuns(echoed, text)
	}
	n := 0
	for id, e := range now {
		if known[id].ID == "" && !learned[e.Content] && repeats(e.Scenario+"\n"+e.Content, echoed, natural) {
			n++
		}
	}
	return n
}

func addRuns(set map[string]bool, text string) {
	for run := range runs(text) {
		set[run] = true
	}
}

func repeats(text string, echoed, natural map[string]bool) bool {
	for run := range runs(text) {
		if echoed[run] && !natural[run] {
			return true
		}
	}
	return false
}

const runWords = 8

// runs yields every sequence of runWords words of a text, quotation marks left out.
func runs(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		words := strings.Fields(strings.NewReplacer(">", " ", "`", " ", `"`, " ").Replace(strings.ToLower(text)))
		for i := 0; i+runWords <= len(words); i++ {
			if !yield(strings.Join(words[i:i+runWords], " ")) {
				return
			}
		}
	}
}
