package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	maxRewriteSteps = 10
	maxStepText     = 600 // characters
)

// RewrittenStep is a step for the task with the experiences it comes from.
type RewrittenStep struct {
	Text    string   `json:"text"`
	Sources []string `json:"sources"`
}

// Conflict names two experiences that contradict each other, and which was followed.
type Conflict struct {
	Kept    string `json:"kept"`
	Dropped string `json:"dropped"`
	Reason  string `json:"reason"`
}

// Rewritten is guidance for one task. Every step has a source, and every id was sent.
type Rewritten struct {
	Steps     []RewrittenStep
	Conflicts []Conflict
	Generator string
}

var rewriteSchema = schema{"guidance", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["steps","conflicts"],"properties":{"steps":{"type":"array","maxItems":10,"items":{"type":"object","additionalProperties":false,"required":["text","sources"],"properties":{"text":{"type":"string","maxLength":600},"sources":{"type":"array","maxItems":10,"items":{"type":"string","maxLength":64}}}}},"conflicts":{"type":"array","maxItems":10,"items":{"type":"object","additionalProperties":false,"required":["kept","dropped","reason"],"properties":{"kept":{"type":"string","maxLength":64},"dropped":{"type":"string","maxLength":64},"reason":{"type":"string","maxLength":300}}}}}}`)}

// Rewrite turns items into steps for the task. Where it fails the caller renders the items plainly.
func (c *Client) Rewrite(ctx context.Context, who Caller, in RecallInput) (Rewritten, error) {
	language := languageOf(in.Task)
	var out Rewritten
	err := c.ask(ctx, question{
		who: who, role: RoleRewrite, schema: rewriteSchema,
		prompt: func(maxChars int) (string, string, error) { return render(RoleRewrite, language, in.data(maxChars)) },
		read: func(answer string) (err error) {
			out, err = in.readRewrite(answer)
			return err
		},
	})
	if err != nil {
		return Rewritten{}, fmt.Errorf("rewrite: %w", err)
	}
	out.Generator = c.generator(RoleRewrite, language)
	return out, nil
}

func (in RecallInput) readRewrite(answer string) (Rewritten, error) {
	var raw struct {
		Steps     []RewrittenStep `json:"steps"`
		Conflicts []Conflict      `json:"conflicts"`
	}
	if err := parse(answer, &raw); err != nil {
		return Rewritten{}, err
	}
	if len(raw.Steps) == 0 || len(raw.Steps) > maxRewriteSteps {
		return Rewritten{}, fmt.Errorf("there are %d steps, want 1 to %d", len(raw.Steps), maxRewriteSteps)
	}
	for i := range raw.Steps {
		s := &raw.Steps[i]
		if s.Text = strings.TrimSpace(s.Text); s.Text == "" || len([]rune(s.Text)) > maxStepText {
			return Rewritten{}, errors.New("a step is empty or too long")
		}
		if s.Sources = distinct(s.Sources); len(s.Sources) == 0 {
			return Rewritten{}, errors.New("a step has no source")
		}
		for _, id := range s.Sources {
			if !in.has(id) {
				return Rewritten{}, errors.New("a source is not in the list")
			}
		}
	}
	for i := range raw.Conflicts {
		x := &raw.Conflicts[i]
		if !in.has(x.Kept) || !in.has(x.Dropped) || x.Kept == x.Dropped {
			return Rewritten{}, errors.New("a conflict names an id that is not in the list, or one twice")
		}
		x.Reason = clip(x.Reason, 300)
	}
	return Rewritten{Steps: raw.Steps, Conflicts: raw.Conflicts}, nil
}
