package acquire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Longest rendered value of an argument, in characters. A longer one is cut and marked; commands are kept longer, since
// half a command is of no use.
const (
	maxValue   = 300
	maxCommand = 2000
)

// call is a step that acts on the environment, with its arguments in a settled order and their values rendered.
type call struct {
	tool        string
	names       []string          // argument names, sorted
	shown       map[string]string // argument -> rendered value: a placeholder, a quoted string, a number...
	raw         map[string]string // argument -> scalar value as text; absent for lists and maps
	observation string
	before      string // observation of the step before
	failed      bool
	reward      *float64
	index       int    // of the step in its attempt
	text        string // what String returns; empty for a part of a call
}

// signature is what two calls must share to be the same kind of step: tool and argument names.
func (c call) signature() string { return c.tool + "\x00" + strings.Join(c.names, "\x00") }

// String renders the call as tool(arg="value", other=<placeholder>).
func (c call) String() string {
	if c.text != "" {
		return c.text
	}
	parts := make([]string, len(c.names))
	for i, name := range c.names {
		parts[i] = name + "=" + c.shown[name]
	}
	return c.tool + "(" + strings.Join(parts, ", ") + ")"
}

// phrase renders a call in words, so that nobody takes it for a plan: `tool` with arg="value", other=<placeholder>.
func (p phrases) phrase(c call) string {
	if len(c.names) == 0 {
		return "`" + c.tool + "`"
	}
	parts := make([]string, len(c.names))
	for i, name := range c.names {
		parts[i] = name + "=" + c.shown[name]
	}
	return fmt.Sprintf(p.with, c.tool, strings.Join(parts, ", "))
}

// fits reports whether the phrase of a call is short enough for a sentence.
func (p phrases) fits(c call) bool { return len([]rune(p.phrase(c))) <= longestShown }

// brief is the phrase without arguments that are long or have parts, when the whole of it is too long for a sentence.
func (p phrases) brief(c call) string {
	if p.fits(c) {
		return p.phrase(c)
	}
	short := call{tool: c.tool, shown: c.shown}
	for _, name := range c.names {
		if _, ok := c.raw[name]; ok && len([]rune(c.shown[name])) <= 60 {
			short.names = append(short.names, name)
		}
	}
	if !p.fits(short) {
		short.names = nil
	}
	return p.phrase(short)
}

// command reports the value of a tool that takes one text: a shell command, a query, code.
func (c call) command() (string, bool) {
	if len(c.names) != 1 {
		return "", false
	}
	text, ok := c.raw[c.names[0]]
	if !ok || !commandNames[strings.ToLower(c.names[0])] {
		return "", false
	}
	return text, true
}

var commandNames = map[string]bool{
	"command": true, "cmd": true, "sql": true, "code": true, "script": true, "statement": true, "query_string": true, "bash": true,
	"shell": true, "program": true,
}

// freeText are arguments that take what the agent made of the task in its own words; a name of the task in them is no value
// to be filled in.
var freeText = map[string]bool{"input": true, "thought": true, "prompt": true}

// silentTools do not act: they are turns of a conversation or the agent's own notes.
var silentTools = map[string]bool{
	"": true, "user": true, "none": true, "think": true, "thought": true, "reflect": true, "respond": true, "reply": true, "raw": true,
}

// reader turns steps into calls; it binds values that come from the task.
type reader struct{ binder *binder }

// calls renders the acting steps of an attempt, or of those in only when it is not nil. Text that the agent was given by
// recall is not kept as an observation.
func (r reader) calls(a Attempt, only map[int]bool) []call {
	var out []call
	var seen strings.Builder
	previous := ""
	for i, step := range a.Steps {
		step, recall := withoutRecalled(step, a.Given)
		observation := step.Observation
		if !recall && acts(step) && (only == nil || only[i]) {
			c := r.call(step, func(value string) bool { return observed(seen.String(), value) })
			c.observation, c.before, c.failed, c.index = observation, previous, isError(observation), i
			out = append(out, c)
		}
		if seen.Len() < 64<<10 {
			seen.WriteString(headOf(observation, 16<<10))
			seen.WriteByte('\n')
		}
		previous = observation
	}
	return out
}

func acts(s Step) bool {
	tool := strings.ToLower(s.Tool)
	return !silentTools[tool] && (closingTools[tool] || !blankCall(s))
}

// blankCall reports a call whose arguments are all empty though it has some: an answer that could not be parsed.
func blankCall(s Step) bool {
	for _, v := range s.Args {
		if text, ok := v.(string); !ok || strings.TrimSpace(text) != "" {
			return false
		}
	}
	return len(s.Args) > 0
}

// observed reports whether value stands in a text as a whole word.
func observed(text, value string) bool { return value != "" && containsWord(text, value) }

func (r reader) call(s Step, observed func(string) bool) call {
	c := call{tool: collapse(s.Tool), shown: make(map[string]string), raw: make(map[string]string), reward: s.Reward}
	for name, value := range s.Args {
		if value != "" || !closingTools[strings.ToLower(s.Tool)] {
			c.names = append(c.names, name)
		}
	}
	slices.Sort(c.names)
	limit := maxValue
	if len(c.names) == 1 && commandNames[strings.ToLower(c.names[0])] {
		limit = maxCommand
	}
	for _, name := range c.names {
		if text, ok := scalar(s.Args[name]); ok {
			c.raw[name] = text
		}
		v := valueReader{r.binder, c.tool, observed, limit}
		c.shown[name] = v.render(name, s.Args[name], 0)
	}
	c.text = c.String()
	return c
}

// valueReader renders the values of one call.
type valueReader struct {
	binder   *binder
	tool     string
	observed func(string) bool
	limit    int
}

const maxDepth = 6

// render writes a value in the way of JSON, with the parts that come from the task as placeholders.
func (v valueReader) render(name string, value any, depth int) string {
	if text, ok := scalar(value); ok {
		return v.leaf(name, value, text)
	}
	if depth >= maxDepth {
		return `"…"`
	}
	switch value := value.(type) {
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = v.render(name, item, depth+1)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		names := make([]string, 0, len(value))
		for key := range value {
			names = append(names, key)
		}
		slices.Sort(names)
		for i, key := range names {
			names[i] = quoteText(key) + ": " + v.render(key, value[key], depth+1)
		}
		return "{" + strings.Join(names, ", ") + "}"
	}
	return quoteText(cut(collapse(fmt.Sprint(value)), v.limit))
}

func (v valueReader) leaf(name string, value any, text string) string {
	if _, isString := value.(string); !isString {
		if _, isBool := value.(bool); isBool || value == nil {
			return text
		}
	}
	if freeText[strings.ToLower(name)] {
		return quoteText(cut(text, v.limit))
	}
	if placeholder, ok := v.binder.bind(v.tool, name, text, v.observed); ok {
		return placeholder
	}
	if _, isString := value.(string); isString {
		return quoteText(cut(text, v.limit))
	}
	return text
}

// scalar gives the text of a string, number, boolean or null.
func scalar(value any) (string, bool) {
	switch value := value.(type) {
	case nil:
		return "null", true
	case string:
		return strings.ToValidUTF8(value, "\uFFFD"), true
	case bool:
		return strconv.FormatBool(value), true
	case float64:
		return number(value), true
	case float32:
		return number(float64(value)), true
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(value), true
	case json.Number:
		return value.String(), true
	}
	return "", false
}

func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// quoteText writes a string as JSON does, without escaping <, > and &.
func quoteText(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
