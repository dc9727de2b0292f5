package acquire

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
)

// scene is a group prepared for the lenses.
type scene struct {
	group      Group
	say        phrases
	binder     *binder
	scenario   string
	conditions map[string]string
	successes  []trail // by attempt number
	failures   []trail
	best       *trail // the success with the best plan; nil when nothing succeeded
	weighed    []contrasted
	memo       memo
}

// newScene renders all attempts with a reward. Values are bound in the order best plan, other successes, failures, so that
// a wrong value of a failure never takes the name of a right one; failures add nothing to the scenario of a group that
// has a success.
func newScene(g Group) *scene {
	g.Task = collapse(withoutMarked(g.Task))
	s := &scene{group: g, say: phrasesFor(g.Task + " " + g.TaskType), conditions: Conditions(g)}
	rewarded := rewardedAttempts(g.Attempts)
	first := bestOf(trails(newBinder(g.Task), rewarded, true))
	s.binder = newBinder(g.Task)
	if first != nil {
		reader{s.binder}.calls(first.attempt, stepsOf(first.plan))
		trails(s.binder, []Attempt{first.attempt}, true)
	}
	s.successes = trails(s.binder, rewarded, true)
	spans := len(s.binder.spans)
	s.failures = trails(s.binder, rewarded, false)
	if len(s.successes) > 0 {
		s.binder.spans = s.binder.spans[:spans]
	}
	s.best = bestOf(s.successes)
	s.scenario = s.describe()
	return s
}

func rewardedAttempts(attempts []Attempt) []Attempt {
	var out []Attempt
	for _, a := range attempts {
		if a.HasReward {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b Attempt) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// trails renders the attempts that ended with success, or those that did not, and leaves out those that never acted.
func trails(b *binder, attempts []Attempt, success bool) []trail {
	var out []trail
	for _, a := range attempts {
		if a.Success != success {
			continue
		}
		if calls := (reader{b}).calls(a, nil); len(calls) > 0 {
			out = append(out, newTrail(a, calls))
		}
	}
	return out
}

func bestOf(successes []trail) *trail {
	var chosen *trail
	for i, t := range successes {
		if len(t.plan) > 0 && (chosen == nil || best(t, *chosen) < 0) {
			chosen = &successes[i]
		}
	}
	return chosen
}

func stepsOf(plan []call) map[int]bool {
	set := make(map[int]bool, len(plan))
	for _, c := range plan {
		set[c.index] = true
	}
	return set
}

// describe is the task with the values that became placeholders, and other dates, addresses and ids, replaced.
func (s *scene) describe() string {
	text := s.binder.generalise(s.binder.task)
	if text == "" {
		text = s.group.TaskType
	}
	if !s.commands() {
		text = replaceOther(text)
	}
	return cut(text, MaxScenario)
}

// commands reports that the attempts work with a single text argument: its words come from the task in their own way, and
// what the task names has to stay readable.
func (s *scene) commands() bool {
	for _, list := range [][]trail{s.successes, s.failures} {
		for _, t := range list {
			for _, c := range t.calls {
				if _, ok := c.command(); ok {
					return true
				}
			}
		}
	}
	return false
}

var otherValues = []struct {
	re   *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`), "<email>"},
	{regexp.MustCompile(`\b\d{4}[-/]\d{1,2}[-/]\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b`), "<date>"},
	{regexp.MustCompile(`\b[A-Za-z]{1,12}[_-]?\d{3,}\w*\b|\b\d{5,}\b|#\d+\b`), "<id>"},
}

// replaceOther generalises values that no call used, outside the placeholders that are there already.
func replaceOther(text string) string {
	for _, v := range otherValues {
		text = v.re.ReplaceAllString(text, v.name)
	}
	return text
}

// draft fills in what all lenses have in common.
func (s *scene) draft(d Draft, sources []trail, used ...call) Draft {
	d.Scenario, d.Generator = s.scenario, Generator
	d.Preconditions = maps.Clone(s.conditions)
	var arguments []string
	for _, c := range used {
		if !slices.Contains(d.Tools, c.tool) {
			d.Tools = append(d.Tools, c.tool)
		}
		for _, name := range c.names {
			if !slices.Contains(arguments, name) {
				arguments = append(arguments, name)
			}
		}
	}
	d.Keywords = keywords(d.Scenario, s.group.TaskType, d.Tools, arguments)
	slices.Sort(d.Tools)
	for _, t := range sources {
		d.Attempts = append(d.Attempts, t.attempt.Number)
	}
	slices.Sort(d.Attempts)
	d.Attempts = slices.Compact(d.Attempts)
	return d
}

// generalError is the excerpt of an error observation, quoted, with the task's values as placeholders.
func (s *scene) generalError(c call) string {
	return quoteText(s.binder.generalise(excerpt(c.observation)))
}
