package compact

import (
	"slices"
	"strings"

	"cairn/node/acquire"
)

// call is one step of a plan: a tool with its arguments in the order in which they are written.
type call struct {
	tool   string
	names  []string
	values map[string]string // as written: JSON, or <placeholder>
}

// signature is what two steps have to have in common to be the same kind of step.
func (c call) signature() string { return c.tool + "(" + strings.Join(c.names, ",") + ")" }

const arrow = " -> "

// parsePlan reads tool(a=1, b="x") -> other(), after an introduction that ends with a colon; ok is false for any other text.
func parsePlan(text string) (plan []call, ok bool) {
	if at := strings.IndexAny(text, ":："); at >= 0 && at < strings.IndexByte(text+"(", '(') {
		text = strings.TrimLeft(text[at:], ":： ")
	}
	for {
		c, rest, ok := parseCall(strings.TrimSpace(text))
		if !ok {
			return nil, false
		}
		plan = append(plan, c)
		if rest == "" {
			return plan, true
		}
		if text, ok = strings.CutPrefix(rest, arrow); !ok {
			return nil, false
		}
	}
}

func parseCall(text string) (c call, rest string, ok bool) {
	tool, after, found := strings.Cut(text, "(")
	if !found || tool == "" || strings.ContainsAny(tool, " \n\t") {
		return c, "", false
	}
	args, rest, ok := closing(after)
	if !ok {
		return c, "", false
	}
	c = call{tool: tool, values: map[string]string{}}
	for _, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if name = strings.TrimSpace(name); !found || name == "" {
			return c, "", false
		}
		c.names = append(c.names, name)
		c.values[name] = value
	}
	return c, rest, true
}

// closing splits what stands before the parenthesis that ends a call at the commas between its arguments.
func closing(text string) (args []string, rest string, ok bool) {
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quoted && ch == '\\':
			i++
		case ch == '"':
			quoted = !quoted
		case quoted:
		case ch == '(' || ch == '[' || ch == '{':
			depth++
		case ch == ')' && depth == 0:
			if arg := strings.TrimSpace(text[start:i]); arg != "" {
				args = append(args, arg)
			}
			return args, text[i+1:], true
		case ch == ')' || ch == ']' || ch == '}':
			depth--
		case ch == ',' && depth == 0:
			args = append(args, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return nil, "", false
}

// shared is a step that all plans have, in the same order.
type shared struct {
	tool   string
	fixed  []string // name=value, the same in all
	varied []string // names of arguments whose value differs or comes from the task
	words  []string // of an argument that differs: what is in all of its values, in order
}

// common are the steps that all plans have, in order.
func common(plans [][]call) []shared {
	line := signatures(plans[0])
	for _, p := range plans[1:] {
		line = subsequence(line, signatures(p))
	}
	out := make([]shared, 0, len(line))
	at := make([]int, len(plans))
	for _, signature := range line {
		var steps []call
		for i, p := range plans {
			for p[at[i]].signature() != signature {
				at[i]++
			}
			steps = append(steps, p[at[i]])
			at[i]++
		}
		out = append(out, agree(steps))
	}
	return out
}

func signatures(plan []call) []string {
	out := make([]string, len(plan))
	for i, c := range plan {
		out[i] = c.signature()
	}
	return out
}

// subsequence is what two lists have in common, in order.
func subsequence(a, b []string) []string {
	at := acquire.Subsequence(a, b)
	out := make([]string, len(at))
	for i, k := range at {
		out[i] = a[k]
	}
	return out
}

// agree compares one step of all plans argument by argument.
func agree(steps []call) shared {
	out := shared{tool: steps[0].tool}
	for _, name := range steps[0].names {
		value := steps[0].values[name]
		same := !slices.ContainsFunc(steps, func(c call) bool { return c.values[name] != value })
		switch words := wordsOfAll(steps, name); {
		case same && !placeholder(value):
			out.fixed = append(out.fixed, name+"="+value)
		case !same && len(words) > 0:
			out.words = append(out.words, words...)
			out.varied = append(out.varied, name)
		default:
			out.varied = append(out.varied, name)
		}
	}
	return out
}

func placeholder(value string) bool {
	return strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">")
}

// wordsOfAll are the words that an argument has in all of the steps, in order: of commands and queries that differ.
func wordsOfAll(steps []call, name string) []string {
	words := strings.Fields(unquoted(steps[0].values[name]))
	for _, c := range steps[1:] {
		words = subsequence(words, strings.Fields(unquoted(c.values[name])))
	}
	return slices.DeleteFunc(words, func(w string) bool {
		return placeholder(w) || strings.ContainsAny(w, "<>`\"\\") || len([]rune(w)) < 2
	})
}

func unquoted(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`) }
