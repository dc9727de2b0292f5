package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Generator names the rules of this package and their version in the lineage of what they make.
const Generator = "rule/compact/1"

const (
	maxSteps    = 12
	maxText     = 1200 // characters of a strategy
	maxKeywords = 5
)

// Source is an experience that a strategy is made of.
type Source struct {
	Scenario string
	Content  string // a plan in call syntax, as the success lens writes it
	Keywords []string
}

// Text is what a strategy says. Tools are those that it names, in order.
type Text struct {
	Scenario string
	Content  string
	Keywords []string
	Tools    []string
}

// Write makes a strategy of successes by rule: the steps that every plan has, in order, what was the same in all of them, and
// what goes with the task. The first source gives the scenario: it is the centre of its cluster. Calls are named in words, so
// that nobody carries them out as a plan. ok is false when the sources are no plans or have too little in common: steps
// without any value, fewer than two of them or than half of the shortest plan.
func Write(sources []Source) (out Text, ok bool) {
	var plans [][]call
	shortest := 0
	for _, s := range sources {
		plan, ok := parsePlan(s.Content)
		if !ok {
			return Text{}, false
		}
		if shortest == 0 || len(plan) < shortest {
			shortest = len(plan)
		}
		plans = append(plans, plan)
	}
	if len(plans) == 0 {
		return Text{}, false
	}
	steps := common(plans)
	says := slices.ContainsFunc(steps, func(s shared) bool { return len(s.fixed)+len(s.words) > 0 })
	if len(steps) == 0 || len(steps) > maxSteps || !says && len(steps) < 2 || 2*len(steps) < shortest {
		return Text{}, false
	}
	out = Text{Scenario: sources[0].Scenario, Content: render(steps, han(sources[0].Scenario)), Keywords: frequent(sources)}
	for _, s := range steps {
		if !slices.Contains(out.Tools, s.tool) {
			out.Tools = append(out.Tools, s.tool)
		}
	}
	slices.Sort(out.Tools)
	return out, len([]rune(out.Content)) <= maxText
}

// words are what is written around the steps, in one language.
type words struct{ start, then, with, has, own, and, end, open, close string }

var english = words{
	start: "Every success of this kind had these steps, in this order: ", then: ", then ", with: " with %s", has: " made of %s",
	own: "%s as the task needs", and: ", ", end: ".", open: " (", close: ")",
}

var chinese = words{
	start: "此类任务的每次成功都按顺序包含这些步骤：", then: "，再 ", with: " 使用 %s", has: " 包含 %s",
	own: "%s 随任务而变", and: "、", end: "。", open: "（", close: "）",
}

func render(steps []shared, inHan bool) string {
	w := english
	if inHan {
		w = chinese
	}
	parts := make([]string, len(steps))
	for i, s := range steps {
		parts[i] = "`" + s.tool + "`"
		if len(s.fixed) > 0 {
			parts[i] += fmt.Sprintf(w.with, strings.Join(s.fixed, w.and))
		}
		if len(s.words) > 0 {
			parts[i] += fmt.Sprintf(w.has, "`"+strings.Join(s.words, "`"+w.and+"`")+"`")
		}
		if len(s.varied) > 0 {
			parts[i] += w.open + fmt.Sprintf(w.own, strings.Join(s.varied, w.and)) + w.close
		}
	}
	return w.start + strings.Join(parts, w.then) + w.end
}

func han(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// frequent are the keywords that most sources have, at most five.
func frequent(sources []Source) []string {
	count := map[string]int{}
	for _, s := range sources {
		for _, k := range s.Keywords {
			count[k]++
		}
	}
	out := make([]string, 0, len(count))
	for k := range count {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b)) })
	return out[:min(len(out), maxKeywords)]
}
