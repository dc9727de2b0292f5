package pipeline

import (
	"encoding/json"
	"regexp"

	"cairn/node/acquire"
)

// failedRun is a line of failure-attribution.jsonl: a dialogue of agents that failed, with who made the first mistake where.
type failedRun struct {
	Agent   string      `json:"mistake_agent"`
	Step    json.Number `json:"mistake_step"`
	History []struct {
		Step    json.Number `json:"step"`
		Agent   string      `json:"agent"`
		Content string      `json:"content"`
	} `json:"history"`
}

var speakerNote = regexp.MustCompile(` ?\(.*`)

// wrongStep compares where the rules see the first mistake with where people saw it.
func (r *runner) wrongStep() error {
	runs, err := readLines[failedRun](r.opts.Data, "failure-attribution.jsonl")
	if err != nil {
		return err
	}
	agents, steps := 0, 0
	var byAgent, byStep float64
	for _, run := range runs {
		var turns []acquire.Turn
		speakers := map[string]bool{}
		for _, h := range run.History {
			turns = append(turns, acquire.Turn{Speaker: h.Agent, Text: h.Content})
			speakers[h.Agent] = true
		}
		if len(turns) == 0 {
			continue
		}
		byAgent += 1 / float64(len(speakers))
		byStep += 1 / float64(len(turns))
		at, ok := acquire.FirstWrongTurn(turns)
		if !ok {
			continue
		}
		if speakerNote.ReplaceAllString(run.History[at].Agent, "") == speakerNote.ReplaceAllString(run.Agent, "") {
			agents++
		}
		if run.History[at].Step == run.Step {
			steps++
		}
	}
	n := len(runs)
	for _, x := range []struct {
		row  string
		hits int
		rand float64
	}{{"wrong_step_agent_gain", agents, byAgent}, {"wrong_step_step_gain", steps, byStep}} {
		value, low, high := wilson(x.hits, n)
		by := x.rand / float64(max(1, n))
		r.addRange(x.row, value-by, low-by, high-by)
	}
	r.note("wrong step: %d failed runs; agent %.3f (at random %.3f), step %.3f (at random %.3f)", n,
		float64(agents)/float64(max(1, n)), byAgent/float64(max(1, n)), float64(steps)/float64(max(1, n)), byStep/float64(max(1, n)))
	return nil
}
