package acquire

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"cairn/federation"
)

const (
	minLogOdds  = 1.0 // smoothed; one success with and one failure without a feature have 2.2
	maxPositive = 3
	maxNegative = 2
)

// contrasted is a feature with how often successes and failures have it.
type contrasted struct {
	feature
	odds    float64
	success int
	failure int
	pattern string // which attempts have it
	place   int    // where the best success or the first failure has it, for ties
}

// contrast holds whole attempts against each other, then what they did for the same end.
func (s *scene) contrast() []source {
	if s.best == nil || len(s.failures) == 0 {
		return nil
	}
	return append(s.difference(), s.segmentContrast()...)
}

// difference finds what the successes did and the failures did not, and the other way round, by smoothed log-odds.
func (s *scene) difference() []source {
	positive, negative := s.differences()
	if schema, ok := s.schema(); ok {
		positive = append([]contrasted{schema}, withoutNames(positive)...)
		positive = positive[:min(len(positive), maxPositive)]
	}
	if len(positive)+len(negative) == 0 {
		return nil
	}
	d := Draft{Lens: LensContrast, Feature: "difference", Kind: federation.KindContrast, Content: s.advice(positive, negative)}
	if len(positive) > 0 {
		d.Success, d.Failure = positive[0].success, positive[0].failure
	} else {
		d.Success, d.Failure = len(s.successes)-negative[0].success, len(s.failures)-negative[0].failure
	}
	sources := append(slices.Clone(s.successes), s.failures...)
	d = s.draft(d, sources, s.namedCalls(append(slices.Clone(positive), negative...))...)
	return []source{{d, sources}}
}

// withoutNames drops what the names of a query say already.
func withoutNames(features []contrasted) []contrasted {
	return slices.DeleteFunc(features, func(f contrasted) bool { return f.class == className })
}

func (s *scene) advice(positive, negative []contrasted) string {
	var parts []string
	if len(positive) > 0 {
		parts = append(parts, fmt.Sprintf(s.say.do, s.list(positive, false))+s.say.stop)
	}
	if len(negative) > 0 {
		parts = append(parts, fmt.Sprintf(s.say.avoid, s.list(negative, true))+s.say.stop)
	}
	return strings.Join(parts, s.say.space)
}

func (s *scene) list(features []contrasted, avoid bool) string {
	parts := make([]string, len(features))
	for i, f := range features {
		parts[i] = s.say.feature(f.feature, avoid)
	}
	return strings.Join(parts, s.say.join)
}

// feature says a feature in words.
func (p phrases) feature(f feature, avoid bool) string {
	switch f.class {
	case classSchema:
		return fmt.Sprintf(p.names, f.shown, f.tool)
	case classValue:
		return fmt.Sprintf(p.value, f.shown, f.tool)
	case classWord, className:
		return fmt.Sprintf(p.word, f.shown, f.tool)
	case classFirst:
		return fmt.Sprintf(p.first, f.shown, f.tool)
	case classOrder:
		return fmt.Sprintf(p.before, f.tool, f.arg)
	case classArg:
		return fmt.Sprintf(p.withArg, f.arg, f.tool)
	}
	if avoid {
		return fmt.Sprintf(p.calling, f.tool)
	}
	return fmt.Sprintf(p.call, f.tool)
}

// differences weighs every feature and returns those worth saying, strongest first, redundant ones left out.
func (s *scene) differences() (positive, negative []contrasted) {
	all := s.weigh()
	for _, f := range all {
		// Smoothing alone makes a feature that all attempts have look one-sided in groups of unequal size.
		gap := f.success*len(s.failures) - f.failure*len(s.successes)
		switch {
		case f.odds >= minLogOdds && gap > 0 && 2*f.success >= len(s.successes):
			positive = append(positive, f)
		case f.odds <= -minLogOdds && gap < 0 && 3*f.failure >= len(s.failures):
			negative = append(negative, f)
		}
	}
	return distinctive(positive, maxPositive), distinctive(negative, maxNegative)
}

// weigh returns every feature with its log-odds, the most one-sided first. It counts once and remembers.
func (s *scene) weigh() []contrasted {
	if s.weighed == nil {
		s.weighed = s.count()
	}
	return s.weighed
}

func (s *scene) count() []contrasted {
	byKey := make(map[string]*contrasted)
	attempts := append(slices.Clone(s.successes), s.failures...)
	for i, t := range attempts {
		for key, f := range featuresOf(t) {
			if s.fromTask(f.feature) {
				continue
			}
			c := byKey[key]
			if c == nil {
				c = &contrasted{feature: f.feature, pattern: strings.Repeat("0", len(attempts)), place: f.place}
				byKey[key] = c
			}
			if i < len(s.successes) {
				c.success++
			} else {
				c.failure++
			}
			c.pattern = c.pattern[:i] + "1" + c.pattern[i+1:]
		}
	}
	out := make([]contrasted, 0, len(byKey))
	for _, c := range byKey {
		c.odds = logOdds(c.success, len(s.successes), c.failure, len(s.failures))
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b contrasted) int {
		return cmp.Or(cmp.Compare(math.Abs(b.odds), math.Abs(a.odds)), cmp.Compare(a.class, b.class),
			cmp.Compare(a.place, b.place), cmp.Compare(a.key, b.key))
	})
	return out
}

// logOdds is the difference of two log-odds, each count smoothed by one half.
func logOdds(s, successes, f, failures int) float64 {
	with := math.Log((float64(s) + .5) / (float64(successes-s) + .5))
	without := math.Log((float64(f) + .5) / (float64(failures-f) + .5))
	return with - without
}

// fromTask reports a piece of a command that is a value of the task: everyone who reads the task knows it.
func (s *scene) fromTask(f feature) bool {
	if f.class != classWord && f.class != classFirst && f.class != className {
		return false
	}
	value := strings.Trim(f.shown, `"'`)
	if plainWord(value) || value == "" {
		return false
	}
	return observed(s.binder.task, value)
}

// distinctive keeps the strongest features, for pieces of commands two, else one of each set of attempts: features that
// the same attempts share say the same.
func distinctive(features []contrasted, limit int) []contrasted {
	var out []contrasted
	patterns := make(map[string]int)
	shown := make(map[string]bool)
	for _, f := range features {
		text := f.tool + "\x00" + f.shown
		most := 1
		if f.class == classWord || f.class == classFirst || f.class == className {
			most = 2
			if shown[text] {
				continue
			}
		}
		if len(out) == limit || patterns[f.pattern] >= most {
			continue
		}
		patterns[f.pattern]++
		shown[text] = true
		out = append(out, f)
	}
	return out
}

// namedCalls are the tools and arguments that features name, as calls for the draft.
func (s *scene) namedCalls(features []contrasted) []call {
	var out []call
	for _, f := range features {
		c := call{tool: f.tool}
		switch f.class {
		case classValue, classArg:
			c.names = []string{f.arg}
		case classOrder:
			out = append(out, call{tool: f.arg})
		}
		out = append(out, c)
	}
	return out
}
