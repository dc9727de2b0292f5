package acquire

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cairn/federation"
)

// lesson is something learnt about a tool, with the attempts that show it.
type lesson struct {
	feature string
	content string
	used    []call
	sources []trail
	success int
	failure int
}

// toolUse collects what the attempts show about single tools: ways out of an error, what has to be called first, and
// argument values that work where others fail. Nothing is learnt where nothing succeeded.
func (s *scene) toolUse() []source {
	if s.best == nil {
		return nil
	}
	lessons := append(s.recoveries(), s.prerequisites()...)
	lessons = append(lessons, s.values()...)
	var out []source
	for _, l := range lessons {
		d := Draft{Lens: LensToolUse, Feature: l.feature, Kind: federation.KindToolUse, Content: l.content, Success: l.success, Failure: l.failure}
		out = append(out, source{s.draft(d, l.sources, l.used...), l.sources})
	}
	return out
}

// recoveries are errors after which the same tool worked in an attempt that succeeded, those seen most often first.
func (s *scene) recoveries() []lesson {
	found := make(map[string]*lesson)
	var order []string
	for _, t := range append(slices.Clone(s.successes), s.failures...) {
		for i := range t.calls {
			l, ok := s.recovery(t, i)
			if !ok {
				continue
			}
			if found[l.feature] == nil {
				found[l.feature] = &l
				order = append(order, l.feature)
			}
			found[l.feature].add(t)
		}
	}
	lessons := make([]lesson, 0, len(order))
	for _, key := range order {
		if found[key].success > 0 {
			lessons = append(lessons, *found[key])
		}
	}
	slices.SortStableFunc(lessons, func(a, b lesson) int { return cmp.Compare(b.success, a.success) })
	most := 2
	if s.commands() {
		most = 1
	}
	return lessons[:min(len(lessons), most)]
}

func (l *lesson) add(t trail) {
	if slices.ContainsFunc(l.sources, func(o trail) bool { return o.attempt.Number == t.attempt.Number }) {
		return
	}
	l.sources = append(l.sources, t)
	if t.attempt.Success {
		l.success++
	} else {
		l.failure++
	}
}

// recovery looks at the i-th call: it failed, and the same tool worked later.
func (s *scene) recovery(t trail, i int) (lesson, bool) {
	c := t.calls[i]
	if !c.failed {
		return lesson{}, false
	}
	next := slices.IndexFunc(t.calls[i+1:], func(l call) bool { return l.tool == c.tool && !l.failed })
	if next < 0 {
		return lesson{}, false
	}
	later, between := t.calls[i+1+next], worked(t.calls[i+1:i+1+next])
	remedy, used, ok := s.wayOut(c, later, between)
	if !ok {
		return lesson{}, false
	}
	return lesson{
		feature: "recovery:" + c.tool + ":" + errorClass(c.observation),
		content: fmt.Sprintf(s.say.recover, c.tool, s.generalError(c), remedy),
		used:    append([]call{later}, used...),
	}, true
}

func worked(calls []call) []call {
	return slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.failed })
}

const maxBetween = 2

func (s *scene) wayOut(failed, later call, between []call) (remedy string, used []call, ok bool) {
	if failed.String() != later.String() {
		changed := difference(failed, later)
		if len(changed.names) == 0 || !s.say.fits(changed) {
			return "", nil, false
		}
		return fmt.Sprintf(s.say.change, s.say.phrase(changed)), nil, true
	}
	if len(between) == 0 || len(between) > maxBetween {
		return "", nil, false
	}
	steps := make([]string, len(between))
	for i, c := range between {
		steps[i] = s.say.phrase(c)
	}
	text := strings.Join(steps, s.say.join)
	if len([]rune(text)) > longestShown {
		return "", nil, false
	}
	if isPassing(failed.observation) {
		return fmt.Sprintf(s.say.retry, text), between, true
	}
	return fmt.Sprintf(s.say.again, text, "`"+failed.tool+"`"), between, true
}

// difference is the later call with only the arguments that were changed or added.
func difference(failed, later call) call {
	out := call{tool: later.tool, shown: later.shown}
	for _, name := range later.names {
		if failed.shown[name] != later.shown[name] {
			out.names = append(out.names, name)
		}
	}
	return out
}

var notLetters = regexp.MustCompile(`[^\pL]+`)

// errorClass names an error by its first words without numbers and values, or by its status code.
func errorClass(observation string) string {
	line := strings.ToLower(excerpt(observation))
	if code := statusCode.FindString(line); code != "" {
		return code
	}
	line = exact.ReplaceAllString(line, " ")
	fields := strings.Fields(notLetters.ReplaceAllString(line, " "))
	return cut(strings.Join(fields[:min(len(fields), 4)], "_"), 48)
}

var statusCode = regexp.MustCompile(`\b[45]\d\d\b`)

// prerequisites are tools that every success called before another one, where a failure called the other without it.
func (s *scene) prerequisites() []lesson {
	if len(s.successes) < 2 || s.commands() {
		return nil
	}
	var out []lesson
	for i, a := range s.best.plan {
		for _, b := range s.best.plan[i+1:] {
			if a.tool == b.tool || !s.say.fits(a) {
				continue
			}
			if l, ok := s.prerequisite(a, b); ok {
				return append(out, l)
			}
		}
	}
	return out
}

func (s *scene) prerequisite(a, b call) (lesson, bool) {
	l := lesson{
		feature: "prerequisite:" + a.tool + "<" + b.tool,
		content: fmt.Sprintf(s.say.need, s.say.phrase(a), b.tool),
		used:    []call{a, b},
	}
	for _, t := range s.successes {
		switch precedes(t.calls, a.tool, b.tool) {
		case 1:
			l.add(t)
		case -1:
			return lesson{}, false
		}
	}
	without := 0
	for _, t := range s.failures {
		if precedes(t.calls, a.tool, b.tool) == -1 {
			without++
			l.sources = append(l.sources, t)
		}
	}
	return l, l.success >= 2 && without > 0
}

// precedes is 1 when a worked before b was first called, -1 when b was called without that, 0 when b was not called.
func precedes(calls []call, a, b string) int {
	for _, c := range calls {
		switch {
		case c.tool == a && !c.failed:
			return 1
		case c.tool == b:
			return -1
		}
	}
	return 0
}

// values are literal argument values of the best plan where other attempts got an error with another one.
func (s *scene) values() []lesson {
	if s.commands() {
		return nil
	}
	var out []lesson
	for _, c := range s.best.plan {
		for _, name := range c.names {
			if strings.HasPrefix(c.shown[name], "<") || freeText[strings.ToLower(name)] {
				continue
			}
			if l, ok := s.value(c, name); ok {
				out = append(out, l)
			}
		}
	}
	return out
}

func (s *scene) value(right call, name string) (lesson, bool) {
	good := name + "=" + right.shown[name]
	l := lesson{feature: "value:" + right.tool + "." + name, used: []call{right}}
	for _, t := range s.successes {
		if slices.ContainsFunc(t.calls, func(c call) bool { return !c.failed && c.tool == right.tool && name+"="+c.shown[name] == good }) {
			l.add(t)
		}
	}
	for _, t := range s.failures {
		i := slices.IndexFunc(t.calls, func(c call) bool { return c.failed && onlyDiffers(c, right, name) && s.prepared(t, c, right) })
		if i < 0 {
			continue
		}
		if l.content == "" {
			wrong := t.calls[i]
			l.content = fmt.Sprintf(s.say.works, right.tool, "`"+good+"`", "`"+name+"="+wrong.shown[name]+"`", s.generalError(wrong))
		}
		l.sources = append(l.sources, t)
	}
	return l, l.content != "" && len([]rune(l.content)) <= 2*longestShown
}

// prepared reports that an attempt had done what the plan does before a step when it made its call, so that the error can
// only be about the call itself.
func (s *scene) prepared(t trail, made, right call) bool {
	for _, p := range s.best.plan {
		if p.String() == right.String() {
			break
		}
		if !doneBefore(t.calls, made.index, p) {
			return false
		}
	}
	return true
}

// onlyDiffers reports that two calls of one tool differ in one argument and nothing else.
func onlyDiffers(a, b call, name string) bool {
	if a.signature() != b.signature() || a.shown[name] == b.shown[name] {
		return false
	}
	return !slices.ContainsFunc(a.names, func(n string) bool { return n != name && a.shown[n] != b.shown[n] })
}
