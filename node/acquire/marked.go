package acquire

import (
	"encoding/json"
	"regexp"
	"strings"
)

// guidanceMark opens the text in which a recall renders experiences. What follows it, up to the first line that is not
// of that form, was given to the agent and is no observation.
const guidanceMark = "Recalled experiences. The lines that start with "

var guidanceLine = regexp.MustCompile(`^\s*(?:>.*|\[\d+\] id=.*|Steps:\s*|When:\s*|Lesson:\s*|)$`)

// withoutMarked takes recalled guidance out of a text, also where it stands escaped inside a JSON string, and drops the
// text altogether when it is a recall's whole answer.
func withoutMarked(text string) string {
	if !strings.Contains(text, guidanceMark) {
		return text
	}
	if isRecallAnswer(text) {
		return ""
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, guidanceMark)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text = afterGuidance(after)
	}
}

// isRecallAnswer recognises the JSON of a recall by its fields.
func isRecallAnswer(text string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &fields) != nil {
		return false
	}
	return fields["guidance"] != nil && fields["experiences"] != nil
}

// afterGuidance gives what follows the guidance whose mark was just read.
func afterGuidance(rest string) string {
	if escaped := strings.Index(rest, `\n`); escaped >= 0 {
		if line := strings.IndexByte(rest, '\n'); line < 0 || escaped < line {
			return rest[jsonEnd(rest):]
		}
	}
	_, rest, _ = strings.Cut(rest, "\n") // the rest of the opening line
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		if !guidanceLine.MatchString(strings.TrimRight(line, "\r")) {
			return rest
		}
		rest = after
	}
	return ""
}

// jsonEnd is the place of the quotation mark that ends a JSON string of which the start was read.
func jsonEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}

// withoutRecalled takes out of the texts of a step what a recall gave the agent. recall is true when the step asked the
// memory and nothing else came back: it did nothing for the task.
func withoutRecalled(s Step, given []string) (out Step, recall bool) {
	asked := strings.Contains(s.Observation, guidanceMark) || isRecallAnswer(s.Observation) || namesMemory.MatchString(s.Tool)
	before := strings.TrimSpace(s.Observation)
	s.Observation = withoutGiven(withoutMarked(s.Observation), given)
	for name, value := range s.Args {
		if text, ok := value.(string); ok && strings.Contains(text, guidanceMark) {
			s.Args = withArg(s.Args, name, withoutMarked(text))
		}
	}
	return s, asked && before != "" && strings.TrimSpace(s.Observation) == ""
}

var namesMemory = regexp.MustCompile(`(?i)recall|memory|memories|experience`)

// withArg is a copy of args with one value replaced.
func withArg(args map[string]any, name string, value any) map[string]any {
	out := make(map[string]any, len(args))
	for k, v := range args {
		out[k] = v
	}
	out[name] = value
	return out
}
