package acquire

import (
	"cmp"
	"fmt"
	"slices"

	"cairn/federation"
)

// longestShown is how long a call may be, in characters, to be quoted inside a sentence.
const longestShown = 240

// failure finds the first wrong step. In a group with a success it is that of the failure most like the best success, and
// the plan says what to do instead; in a group without one it is a caution about the error met first.
func (s *scene) failure() []source {
	if s.best == nil {
		return s.caution()
	}
	nearest, ok := s.nearestFailure()
	if !ok {
		return nil
	}
	wrong, ok := s.firstWrong(nearest)
	if !ok {
		return nil
	}
	content, used, ok := s.correction(nearest, wrong)
	if !ok {
		return nil
	}
	d := Draft{Lens: LensFailure, Feature: "first_wrong_step", Kind: federation.KindFailure, Content: content}
	d.Success, d.Failure = s.support(wrong)
	d.State = s.binder.generalise(cut(collapse(wrong.before), maxExcerpt))
	d.Action = wrong.String()
	d.Result = s.binder.generalise(cut(collapse(wrong.observation), maxExcerpt))
	sources := []trail{nearest, *s.best}
	return []source{{s.draft(d, sources, used...), sources}}
}

// nearestFailure shares most steps with the best plan.
func (s *scene) nearestFailure() (trail, bool) {
	if len(s.failures) == 0 {
		return trail{}, false
	}
	return slices.MaxFunc(s.failures, func(a, b trail) int {
		return cmp.Or(cmp.Compare(len(common(s.best.plan, a.calls)), len(common(s.best.plan, b.calls))),
			cmp.Compare(b.attempt.Number, a.attempt.Number))
	}), true
}

// firstWrong is the first call that failed and did not succeed later, else the first one that the plan does not have.
func (s *scene) firstWrong(t trail) (call, bool) {
	for i, c := range t.calls {
		text := c.String()
		if c.failed && !slices.ContainsFunc(t.calls[i+1:], func(l call) bool { return !l.failed && l.String() == text }) {
			return c, true
		}
	}
	for _, c := range t.calls {
		if !inPlan(s.best.plan, c) {
			return c, true
		}
	}
	return call{}, false
}

func inPlan(plan []call, c call) bool {
	text := c.String()
	return slices.ContainsFunc(plan, func(p call) bool { return p.String() == text })
}

// correction says what was wrong and, from the plan, what to do instead.
func (s *scene) correction(t trail, wrong call) (content string, used []call, ok bool) {
	if !s.say.fits(wrong) {
		return "", nil, false
	}
	remedy, right, found := s.remedy(t, wrong)
	if !wrong.failed {
		if _, command := wrong.command(); command || !found || right.tool != wrong.tool {
			return "", nil, false
		}
		return fmt.Sprintf(s.say.diverged, s.say.phrase(wrong), s.say.phrase(right)), []call{wrong, right}, true
	}
	content = fmt.Sprintf(s.say.wrong, s.say.phrase(wrong), s.generalError(wrong))
	if !found {
		return content, []call{wrong}, true
	}
	return content + fmt.Sprintf(s.say.instead, remedy), []call{wrong, right}, true
}

// remedy is the step of the plan that answers a wrong one: the same tool with other arguments or, when the plan has the
// very same call, the step before it that the failure left out.
func (s *scene) remedy(t trail, wrong call) (text string, with call, ok bool) {
	plan := s.best.plan
	if !inPlan(plan, wrong) {
		for _, p := range plan {
			if p.tool == wrong.tool && s.say.fits(p) {
				return s.say.phrase(p), p, true
			}
		}
		return "", call{}, false
	}
	for _, p := range plan {
		if p.String() == wrong.String() {
			break
		}
		if !doneBefore(t.calls, wrong.index, p) && s.say.fits(p) {
			return fmt.Sprintf(s.say.again, s.say.phrase(p), "`"+wrong.tool+"`"), p, true
		}
	}
	return "", call{}, false
}

func doneBefore(calls []call, index int, p call) bool {
	text := p.String()
	return slices.ContainsFunc(calls, func(c call) bool { return c.index < index && !c.failed && c.String() == text })
}

// support counts the attempts that made a call with this result.
func (s *scene) support(wrong call) (success, failure int) {
	text := wrong.String()
	made := func(t trail) bool {
		return slices.ContainsFunc(t.calls, func(c call) bool { return c.failed == wrong.failed && c.String() == text })
	}
	for _, t := range s.successes {
		if made(t) {
			success++
		}
	}
	for _, t := range s.failures {
		if made(t) {
			failure++
		}
	}
	return success, failure
}

// caution is about the first call that failed, in the way most attempts met it.
func (s *scene) caution() []source {
	var found []call
	for _, t := range s.failures {
		if i := slices.IndexFunc(t.calls, func(c call) bool { return c.failed }); i >= 0 {
			found = append(found, t.calls[i])
		}
	}
	if len(found) == 0 {
		return nil
	}
	wrong := slices.MaxFunc(found, func(a, b call) int { // the first of equals
		return cmp.Compare(count(found, a), count(found, b))
	})
	var sources []trail
	for _, t := range s.failures {
		if slices.ContainsFunc(t.calls, func(c call) bool { return c.failed && c.String() == wrong.String() }) {
			sources = append(sources, t)
		}
	}
	d := Draft{
		Lens: LensFailure, Feature: "first_error", Kind: federation.KindCaution,
		Content: fmt.Sprintf(s.say.caution, s.say.brief(wrong), s.generalError(wrong)),
		Failure: len(sources), Action: wrong.String(), Result: s.binder.generalise(excerpt(wrong.observation)),
		State: s.binder.generalise(cut(collapse(wrong.before), maxExcerpt)),
	}
	return []source{{s.draft(d, sources, wrong), sources}}
}

func count(calls []call, c call) int {
	n := 0
	for _, other := range calls {
		if other.String() == c.String() {
			n++
		}
	}
	return n
}
