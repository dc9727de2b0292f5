package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// promptReflect names the prompt of Reflect, which asks the model of RoleDistil: what it has to see is the same.
const promptReflect Role = "reflect"

const (
	maxHypothesis = 2000 // characters
	maxBefore     = 3    // hypotheses that failed already
)

// ReflectInput is a failed attempt beside what is known of a success.
type ReflectInput struct {
	TaskType string
	Task     string
	Failed   []Step
	PastTask string // task of Past
	Past     []Step // a success; may be empty
	Lesson   string // or a lesson from a similar task
	Rule     string // what rules make of it
	Before   []string
}

// Hypothesis is what a model proposes to change. It calls no tool and gives no argument that was not sent.
type Hypothesis struct {
	Text      string // 8..2,000 characters
	Generator string
}

var reflectSchema = schema{"hypothesis", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["hypothesis"],"properties":{"hypothesis":{"type":"string","maxLength":900}}}`)}

// Reflect proposes what to do differently after a failure. Where it fails the caller gives what the rules say.
func (c *Client) Reflect(ctx context.Context, who Caller, in ReflectInput) (Hypothesis, error) {
	language := languageOf(in.Task + " " + in.TaskType)
	var out Hypothesis
	err := c.ask(ctx, question{
		who: who, role: RoleDistil, schema: reflectSchema,
		prompt: func(maxChars int) (string, string, error) { return render(promptReflect, language, in.data(maxChars)) },
		read: func(answer string) (err error) {
			out, err = in.read(answer)
			return err
		},
	})
	if err != nil {
		return Hypothesis{}, fmt.Errorf("reflect: %w", err)
	}
	out.Generator = c.named(RoleDistil, promptReflect, language)
	return out, nil
}

func (in ReflectInput) data(maxChars int) any {
	steps := fitSteps([][]Step{in.Failed, in.Past}, maxChars*5/8)
	before := make([]string, 0, maxBefore)
	for _, b := range in.Before[max(0, len(in.Before)-maxBefore):] {
		before = append(before, shorten(b, max(fewestChars, maxChars/24)))
	}
	return map[string]any{
		"TaskType": in.TaskType, "Task": shorten(in.Task, max(fewestChars, maxChars/8)), "Failed": steps[0], "Past": steps[1],
		"PastTask": shorten(in.PastTask, max(fewestChars, maxChars/16)), "SameTask": in.PastTask == in.Task,
		"Lesson": shorten(in.Lesson, max(fewestChars, maxChars/16)), "Rule": shorten(in.Rule, max(fewestChars, maxChars/12)), "Before": before,
	}
}

var namedText = regexp.MustCompile("`([A-Za-z_][\\w.-]*)`")

// foreignName reports a name in backticks that is no tool and no argument and stands nowhere in what was sent.
func (k *knownNames) foreignName(text string) bool {
	for _, m := range namedText.FindAllStringSubmatch(text, -1) {
		if !k.tools[m[1]] && !k.args[m[1]] && !strings.Contains(k.text, m[1]) {
			return true
		}
	}
	return false
}

func (in ReflectInput) read(answer string) (Hypothesis, error) {
	var raw struct {
		Hypothesis string `json:"hypothesis"`
	}
	if err := parse(answer, &raw); err != nil {
		return Hypothesis{}, err
	}
	text := strings.TrimSpace(raw.Hypothesis)
	known := namesIn([]Attempt{{Steps: in.Failed}, {Steps: in.Past}})
	known.text += in.Lesson + "\n" + in.Rule + "\n" + in.Task
	switch n := len([]rune(text)); {
	case n < minContent || n > maxHypothesis:
		return Hypothesis{}, errors.New("the hypothesis is too short or too long")
	case leftover.MatchString(text):
		return Hypothesis{}, errors.New("words of a template are left in it")
	case known.foreignCall(text) || known.foreignName(text):
		return Hypothesis{}, errors.New("it calls a tool or gives an argument that is not in the data")
	}
	for _, b := range in.Before {
		if text == b {
			return Hypothesis{}, errors.New("it repeats a hypothesis that failed")
		}
	}
	return Hypothesis{Text: text}, nil
}
