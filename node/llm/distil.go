package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what Distil returns.
const (
	MaxPerLens  = 3
	maxScenario = 1000
	maxContent  = 8000
	minContent  = 8
	maxKeywords = 5
)

// Lenses are the names a lesson may carry.
var Lenses = []string{"success_pattern", "contrast", "failure", "tool_use"}

// DistilInput is a group of attempts at one task.
type DistilInput struct {
	TaskType string
	Task     string
	Attempts []Attempt // with a reward, in order of number
	Pairs    []Pair    // shown when the lens of contrast is wanted
	Lenses   []string  // wanted; empty means all
}

// Pair is a segment of a success beside one of a failure that was after the same end.
type Pair struct{ Success, Failure Segment }

// Segment is a run of steps of an attempt.
type Segment struct {
	Attempt int // its number
	Steps   []Step
}

// Lesson is a valid proposal: its lens was wanted, its attempts exist, and every tool it lists or names occurs in them.
type Lesson struct {
	Lens       string   `json:"lens"`
	Scenario   string   `json:"scenario"`
	Content    string   `json:"content"`
	Keywords   []string `json:"keywords"`
	Tools      []string `json:"tools"`
	Attempts   []int    `json:"attempts"`
	Confidence float64  `json:"confidence"` // the model's own claim in [0,1]; shown, never trusted
}

// Rejected is a proposal that failed a check.
type Rejected struct {
	Lens   string
	Reason string
}

// Distilled is what a model made of a group. No lesson and no rejection means that it saw nothing to learn.
type Distilled struct {
	Lessons   []Lesson
	Rejected  []Rejected
	Generator string // for the lineage
}

var distilSchema = schema{"experiences", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["experiences"],"properties":{"experiences":{"type":"array","maxItems":12,"items":{"type":"object","additionalProperties":false,"required":["lens","scenario","content","keywords","tools","attempts","confidence"],"properties":{"lens":{"type":"string","enum":["success_pattern","contrast","failure","tool_use"]},"scenario":{"type":"string","maxLength":300},"content":{"type":"string","maxLength":800},"keywords":{"type":"array","maxItems":5,"items":{"type":"string","maxLength":40}},"tools":{"type":"array","maxItems":12,"items":{"type":"string","maxLength":128}},"attempts":{"type":"array","maxItems":16,"items":{"type":"integer"}},"confidence":{"type":"number","minimum":0,"maximum":1}}}}}}`)}

// Distil proposes lessons from a group. Lessons that fail a check are left out and named; an answer in which none of
// several lessons is valid is repaired once and then ErrUnreadable.
func (c *Client) Distil(ctx context.Context, who Caller, in DistilInput) (Distilled, error) {
	if len(in.Lenses) == 0 {
		in.Lenses = Lenses
	}
	language := languageOf(in.Task + " " + in.TaskType)
	var out Distilled
	err := c.ask(ctx, question{
		who: who, role: RoleDistil, schema: distilSchema,
		prompt: func(maxChars int) (string, string, error) { return render(RoleDistil, language, in.data(maxChars)) },
		read: func(answer string) (err error) {
			out, err = in.read(answer)
			return err
		},
	})
	if err != nil {
		return Distilled{}, fmt.Errorf("distil: %w", err)
	}
	out.Generator = c.generator(RoleDistil, language)
	return out, nil
}

// shownAttempt is an attempt as its prompt shows it.
type shownAttempt struct {
	Number  int
	Success bool
	Score   float64
	Steps   []Step
}

func (in DistilInput) data(maxChars int) any {
	steps := make([][]Step, len(in.Attempts))
	for i, a := range in.Attempts {
		steps[i] = a.Steps
	}
	pairs := in.shownPairs(maxChars / 8)
	share := maxChars * 3 / 4
	if len(pairs) > 0 {
		share = maxChars * 5 / 8
	}
	steps = fitSteps(steps, share)
	shown := make([]shownAttempt, len(in.Attempts))
	for i, a := range in.Attempts {
		shown[i] = shownAttempt{a.Number, a.Success, a.Score, steps[i]}
	}
	return map[string]any{
		"Lenses": in.Lenses, "TaskType": in.TaskType, "Task": limitText(in.Task, maxChars), "Attempts": shown, "MaxPerLens": MaxPerLens,
		"Pairs": pairs,
	}
}

// shownPairs are the pairs cut to about maxChars characters.
func (in DistilInput) shownPairs(maxChars int) []Pair {
	if !slices.Contains(in.Lenses, "contrast") {
		return nil
	}
	steps := make([][]Step, 0, 2*len(in.Pairs))
	for _, p := range in.Pairs {
		steps = append(steps, p.Success.Steps, p.Failure.Steps)
	}
	steps = fitSteps(steps, maxChars)
	out := slices.Clone(in.Pairs)
	for i := range out {
		out[i].Success.Steps, out[i].Failure.Steps = steps[2*i], steps[2*i+1]
	}
	return out
}

func (in DistilInput) read(answer string) (Distilled, error) {
	var raw struct {
		Experiences *[]Lesson `json:"experiences"`
	}
	if err := parse(answer, &raw); err != nil {
		return Distilled{}, err
	}
	if raw.Experiences == nil {
		return Distilled{}, errors.New(`"experiences" is missing`)
	}
	var out Distilled
	perLens := map[string]int{}
	known := namesIn(in.Attempts)
	for _, l := range *raw.Experiences {
		l = l.tidy()
		reason := in.refuse(l, known)
		if reason == "" && perLens[l.Lens] == MaxPerLens {
			reason = "more than the most for its lens"
		}
		if reason != "" {
			out.Rejected = append(out.Rejected, Rejected{clip(l.Lens, 40), reason})
			continue
		}
		perLens[l.Lens]++
		out.Lessons = append(out.Lessons, l)
	}
	if len(out.Lessons) == 0 && len(out.Rejected) > 0 {
		return Distilled{}, fmt.Errorf("no lesson is valid: %s", out.Rejected[0].Reason)
	}
	return out, nil
}

// tidy trims texts and drops empty and repeated keywords, tools and attempts.
func (l Lesson) tidy() Lesson {
	l.Lens, l.Scenario, l.Content = strings.TrimSpace(l.Lens), strings.TrimSpace(l.Scenario), strings.TrimSpace(l.Content)
	l.Keywords = distinct(l.Keywords)
	l.Keywords = l.Keywords[:min(len(l.Keywords), maxKeywords)]
	l.Tools = distinct(l.Tools)
	slices.Sort(l.Tools)
	slices.Sort(l.Attempts)
	l.Attempts = slices.Compact(l.Attempts)
	return l
}

func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && len([]rune(s)) <= 128 && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var leftover = regexp.MustCompile(`\{\{|\}\}|\bTODO\b|\bTBD\b|lorem ipsum|^…$`)

// refuse says why a lesson is not valid; empty when it is.
func (in DistilInput) refuse(l Lesson, known *knownNames) string {
	content, scenario := len([]rune(l.Content)), len([]rune(l.Scenario))
	switch {
	case !slices.Contains(in.Lenses, l.Lens):
		return "its lens was not wanted"
	case scenario == 0 || scenario > maxScenario:
		return "the scenario is empty or too long"
	case content < minContent || content > maxContent:
		return "the content is too short or too long"
	case leftover.MatchString(l.Content) || leftover.MatchString(l.Scenario):
		return "words of a template are left in it"
	case !unitRange(l.Confidence):
		return "confidence is not between 0 and 1"
	case len(l.Attempts) == 0:
		return "it names no attempt"
	}
	for _, n := range l.Attempts {
		if !slices.ContainsFunc(in.Attempts, func(a Attempt) bool { return a.Number == n }) {
			return "it names an attempt that does not exist"
		}
	}
	for _, tool := range l.Tools {
		if !known.tools[tool] {
			return "it lists a tool that no attempt has"
		}
	}
	if known.foreignCall(l.Content) {
		return "its text calls a tool or gives an argument that no attempt has"
	}
	return ""
}

// knownNames are the tools and arguments of attempts, and all text in which a name may stand that is neither.
type knownNames struct {
	tools, args map[string]bool
	text        string
}

// maxKnownText bounds the text that is searched for names, in bytes.
const maxKnownText = 1 << 20

func namesIn(attempts []Attempt) *knownNames {
	k := &knownNames{tools: map[string]bool{}, args: map[string]bool{}}
	var text strings.Builder
	for _, a := range attempts {
		for _, s := range a.Steps {
			k.tools[strings.TrimSpace(s.Tool)] = true
			for name, value := range s.Args {
				k.args[name] = true
				if text.Len() < maxKnownText {
					fmt.Fprintln(&text, value)
				}
			}
			if text.Len() < maxKnownText {
				text.WriteString(s.Observation + "\n")
			}
		}
	}
	k.text = text.String()
	return k
}

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
	callText = regexp.MustCompile(`(?:^|[^\pL\pN_.])([A-Za-z_][\w.-]*)\(([^()]*)\)`)
	argText  = regexp.MustCompile(`(?:^|[\s,])([A-Za-z_][\w.-]*)\s*=`)
)

// foreignCall reports a call in a text, name(arg=...), whose name is no tool and stands in no step either (COUNT(*) of a
// query does), or an argument of a tool's call that nobody gave.
func (k *knownNames) foreignCall(text string) bool {
	for _, m := range callText.FindAllStringSubmatch(quoted.ReplaceAllString(text, `""`), -1) {
		if !k.tools[m[1]] {
			if !strings.Contains(k.text, m[1]) {
				return true
			}
			continue
		}
		for _, a := range argText.FindAllStringSubmatch(m[2], -1) {
			if !k.args[a[1]] {
				return true
			}
		}
	}
	return false
}
