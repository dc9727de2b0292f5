package acquire

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxHypothesis = 2000 // characters
	maxLeftOut    = 3    // steps of the success that a hypothesis names
	maxPlanShown  = 900  // characters of a plan or lesson inside a hypothesis
)

// Compared is a failed attempt beside what is known of a success: attempts at the same or a similar task, or a lesson.
type Compared struct {
	TaskType string
	Task     string
	Failed   Attempt
	PastTask string    // task of Past; equal to Task for attempts at the same one
	Past     []Attempt // successes; may be empty
	Lesson   string    // a lesson from a similar task, used where there are no attempts
}

// Hypothesis says what probably went wrong and what to try instead: the first wrong step, what the success did before it,
// what it did in its place, and how it went on as a whole. Values of another task become placeholders, those of the same
// one stay, since the retry needs them. It is empty when there is neither a success nor a failed call to speak of. The
// text has at most 2,000 characters, is in the language of the task and depends on nothing but its input.
func Hypothesis(in Compared) string {
	c := comparison{say: phrasesFor(in.Task + " " + in.TaskType), same: in.PastTask == in.Task}
	c.failed = newTrail(in.Failed, reader{newBinder("")}.calls(in.Failed, nil)).calls
	past := in.PastTask
	if c.same {
		past = ""
	}
	if best := bestOf(trails(newBinder(collapse(withoutMarked(past))), rewardedAttempts(in.Past), true)); best != nil {
		c.plan = best.plan
	}
	c.findWrong()
	parts := slices.DeleteFunc([]string{c.wrongStep(), c.leftOut(), c.instead(), c.way(in.Lesson)}, func(s string) bool { return s == "" })
	return cut(strings.Join(parts, c.say.space), maxHypothesis)
}

// comparison is a failed attempt beside the plan of a success.
type comparison struct {
	say    phrases
	same   bool // both are attempts at one task
	failed []call
	plan   []call
	wrong  int // of failed: the first wrong step, len(failed) without one
}

// findWrong finds the first call that failed and did not work later; without one, in attempts at one task, the first that
// the plan does not have.
func (c *comparison) findWrong() {
	for i, x := range c.failed {
		text := x.String()
		if x.failed && !slices.ContainsFunc(c.failed[i+1:], func(l call) bool { return !l.failed && l.String() == text }) {
			c.wrong = i
			return
		}
	}
	c.wrong = len(c.failed)
	if i := slices.IndexFunc(c.failed, func(x call) bool { return !inPlan(c.plan, x) }); c.same && len(c.plan) > 0 && i >= 0 {
		c.wrong = i
	}
}

// wrongStep names the first wrong step.
func (c *comparison) wrongStep() string {
	if c.wrong == len(c.failed) {
		return ""
	}
	x := c.failed[c.wrong]
	if x.failed {
		return fmt.Sprintf(c.say.hypoFailed, c.say.brief(x), quoteText(excerpt(x.observation)))
	}
	return fmt.Sprintf(c.say.hypoStray, c.say.brief(x))
}

// leftOut names steps of the success, up to the counterpart of the wrong one, that the failure had not done by then.
func (c *comparison) leftOut() string {
	var missing []string
	for _, p := range c.plan {
		if c.wrong < len(c.failed) && p.tool == c.failed[c.wrong].tool {
			break
		}
		if !c.did(p) && len(missing) < maxLeftOut {
			missing = append(missing, c.say.brief(p))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf(c.say.hypoLeftOut, strings.Join(missing, c.say.join))
}

// did reports that the failure made a call of this kind that worked, before its wrong step.
func (c *comparison) did(p call) bool {
	return slices.ContainsFunc(c.failed[:c.wrong], func(x call) bool { return !x.failed && x.signature() == p.signature() })
}

// instead is what the success called where the failure went wrong: the same tool in another way.
func (c *comparison) instead() string {
	if c.wrong == len(c.failed) || !c.same {
		return ""
	}
	x := c.failed[c.wrong]
	if inPlan(c.plan, x) {
		return ""
	}
	for _, p := range c.plan {
		if p.tool == x.tool && c.say.fits(p) {
			return fmt.Sprintf(c.say.hypoInstead, c.say.phrase(p))
		}
	}
	return ""
}

// way is the whole plan of the success, or the lesson.
func (c *comparison) way(lesson string) string {
	switch {
	case len(c.plan) > 0 && c.same:
		return fmt.Sprintf(c.say.hypoSame, cut(render(c.plan), maxPlanShown))
	case len(c.plan) > 0:
		return fmt.Sprintf(c.say.hypoSimilar, cut(render(c.plan), maxPlanShown))
	case lesson != "":
		return fmt.Sprintf(c.say.hypoLesson, quoteText(cut(collapse(lesson), maxPlanShown)))
	}
	return ""
}
