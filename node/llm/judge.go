package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// JudgeInput is a lesson with what it was made from.
type JudgeInput struct {
	TaskType  string
	Task      string
	Scenario  string
	Content   string
	Tools     []string // of the attempts
	Successes int      // attempts that show it
	Failures  int
	Neighbour string // content of the nearest lesson there is; empty for none
}

// Verdict is a model's opinion of a lesson: five dimensions and their mean, each in [0,1]. Whether it is admitted is the
// caller's rule.
type Verdict struct {
	Actionability float64
	Accuracy      float64
	Relevance     float64
	Clarity       float64
	Uniqueness    float64
	Score         float64
	Reason        string // at most 300 characters
	Generator     string
}

var judgeSchema = schema{"verdict", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["actionability","accuracy","relevance","clarity","uniqueness","reason"],"properties":{"actionability":{"type":"number","minimum":0,"maximum":1},"accuracy":{"type":"number","minimum":0,"maximum":1},"relevance":{"type":"number","minimum":0,"maximum":1},"clarity":{"type":"number","minimum":0,"maximum":1},"uniqueness":{"type":"number","minimum":0,"maximum":1},"reason":{"type":"string","maxLength":300}}}`)}

// Judge scores a lesson. A verdict that lacks a dimension or has one outside [0,1] is repaired once and then
// ErrUnreadable: never a pass.
func (c *Client) Judge(ctx context.Context, who Caller, in JudgeInput) (Verdict, error) {
	language := languageOf(in.Scenario + " " + in.Content)
	var out Verdict
	err := c.ask(ctx, question{
		who: who, role: RoleJudge, schema: judgeSchema,
		prompt: func(maxChars int) (string, string, error) {
			return render(RoleJudge, language, map[string]any{
				"TaskType": in.TaskType, "Task": limitText(in.Task, maxChars), "Scenario": limitText(in.Scenario, maxChars),
				"Content": limitText(in.Content, maxChars), "Tools": in.Tools[:min(len(in.Tools), 64)],
				"SuccessCount": in.Successes, "FailureCount": in.Failures, "Neighbour": limitText(in.Neighbour, maxChars/2),
			})
		},
		read: func(answer string) (err error) {
			out, err = readVerdict(answer)
			return err
		},
	})
	if err != nil {
		return Verdict{}, fmt.Errorf("judge: %w", err)
	}
	out.Generator = c.generator(RoleJudge, language)
	return out, nil
}

func readVerdict(answer string) (Verdict, error) {
	var raw struct {
		Actionability *float64 `json:"actionability"`
		Accuracy      *float64 `json:"accuracy"`
		Relevance     *float64 `json:"relevance"`
		Clarity       *float64 `json:"clarity"`
		Uniqueness    *float64 `json:"uniqueness"`
		Reason        string   `json:"reason"`
	}
	if err := parse(answer, &raw); err != nil {
		return Verdict{}, err
	}
	sum := 0.0
	for _, x := range []*float64{raw.Actionability, raw.Accuracy, raw.Relevance, raw.Clarity, raw.Uniqueness} {
		if x == nil {
			return Verdict{}, errors.New("a dimension is missing")
		}
		if !unitRange(*x) {
			return Verdict{}, errors.New("a dimension is not between 0 and 1")
		}
		sum += *x
	}
	return Verdict{
		Actionability: *raw.Actionability, Accuracy: *raw.Accuracy, Relevance: *raw.Relevance, Clarity: *raw.Clarity,
		Uniqueness: *raw.Uniqueness, Score: sum / 5, Reason: clip(raw.Reason, 300),
	}, nil
}
