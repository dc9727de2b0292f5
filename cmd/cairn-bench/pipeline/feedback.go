package pipeline

import (
	"fmt"
	"strings"

	"cairn/node/api"
)

// feedback gives an agent lessons with words that stand nowhere else, lets it recall them for the tasks of each domain,
// puts the guidance into its trajectories in every place where agents put it, and counts experiences distilled from them
// that have one of those words, the recall's own step among them.
func (r *runner) feedback() error {
	return r.with(func(s *site) error {
		echoes, fed, told := 0, 0, 0
		for _, domain := range domains {
			groups, err := r.groups(domain)
			if err != nil {
				return err
			}
			groups = r.few(groups, perDomain/2)
			fed += len(groups)
			e, n, err := s.echoes(domain, groups)
			if err != nil {
				return err
			}
			echoes, told = echoes+e, told+n
		}
		r.add("feedback_distilled", float64(echoes))
		r.note("feedback: guidance put into the attempts at %d of %d tasks", told, fed)
		return nil
	})
}

// canary is part of a word in lessons that no task has.
const canary = "zq7canary"

// teach adds lessons about a task that are likely to be taken up when they come back: one looks like an error, one like a
// plan.
func (s *site) teach(c api.Caller, g taskGroup, nth int) error {
	for i, content := range []string{
		fmt.Sprintf("Error: %s_%d is required, call prepare_%s_%d first", canary, nth, canary, nth),
		fmt.Sprintf("Plan that worked: %s_open(mode=\"%s_%d\") -> %s_close(id=<id>)", canary, canary, nth, canary),
	} {
		_, err := s.node.AddExperience(s.ctx, c, api.AddExperience{
			Scenario: clip(g.task, 900), Content: content, TaskType: g.domain, GroupKey: fmt.Sprintf("%s-%d-%d", canary, nth, i),
		}, api.Write{})
		if err != nil {
			return fmt.Errorf("add lesson: %w", err)
		}
	}
	return nil
}

func (s *site) echoes(domain string, groups []taskGroup) (echoes, told int, err error) {
	c, err := s.agent("fed-" + domain)
	if err != nil {
		return 0, 0, err
	}
	for i, g := range groups {
		if err := s.teach(c, g, i); err != nil {
			return 0, 0, err
		}
	}
	if err := s.settle(); err != nil {
		return 0, 0, err
	}
	for i, g := range groups {
		got, err := s.node.Recall(s.ctx, c, api.RecallRequest{Task: clip(g.task, 8000)})
		if err != nil {
			return 0, 0, fmt.Errorf("recall: %w", err)
		}
		if strings.Contains(got.Guidance, canary) {
			told++
		}
		req := recording(g, g.rows[:min(len(g.rows), 16)], true)
		feed(&req, got, i)
		if _, err := s.node.RecordTrajectory(s.ctx, c, req, 0, api.Write{}); err != nil {
			return 0, 0, fmt.Errorf("record %s: %w", g.id, err)
		}
	}
	if err := s.settle(); err != nil {
		return 0, 0, err
	}
	now, err := s.live(c.Agent)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range now {
		if e.Kind != "direct" && repeats(e) {
			echoes++
		}
	}
	return echoes, told, nil
}

// recallTool is the tool by which the agent asks its memory.
const recallTool = "recall_" + canary

// feed puts guidance into attempts in the ways of agents: as the answer of a step of its own, before an observation, after
// an error, in a thought and in an argument. Every second group names the receipt; the others leave it to the marks.
func feed(req *api.RecordTrajectory, got api.RecallAnswer, nth int) {
	if got.Guidance == "" {
		return
	}
	for i := range req.Attempts {
		a := &req.Attempts[i]
		if nth%2 == 0 {
			a.Receipt = got.Receipt
		}
		own := api.Step{Tool: recallTool, Args: map[string]any{"query": clip(req.Task, 200)}, Observation: got.Guidance}
		switch {
		case (i+nth)%4 == 0 || len(a.Steps) == 0:
			a.Steps = append([]api.Step{own}, a.Steps...)
		case (i+nth)%4 == 1:
			a.Steps[0].Observation = got.Guidance + "\n" + a.Steps[0].Observation
		case (i+nth)%4 == 2:
			last := &a.Steps[len(a.Steps)-1]
			last.Observation += "\nError: nothing more to do.\n" + got.Guidance
		default:
			a.Steps[0].Thought = got.Guidance + "\n" + a.Steps[0].Thought
			a.Steps = append(a.Steps, api.Step{Tool: "think", Args: map[string]any{"thought": got.Guidance}})
		}
	}
}

func repeats(e api.Experience) bool {
	return strings.Contains(e.Scenario+e.Content+strings.Join(e.Keywords, " ")+strings.Join(e.Tools, " "), canary)
}
