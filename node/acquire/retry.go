package acquire

import (
	"fmt"
	"slices"
	"strings"

	"cairn/federation"
)

// LensReflection is what a retry that succeeded after failures tells.
const LensReflection = "reflection"

const maxPathSteps = 6

// Retried makes the lesson of a retry that succeeded: what to do, then what had failed, then the way from the one to the
// other. failures are the numbers of the attempts that failed, in order, success that of the retry; feature tells lessons
// of one group apart. ok is false when an attempt is not in the group or nothing repeatable tells them apart.
func Retried(g Group, failures []int, success int, feature string) (d Draft, ok bool) {
	kept := g
	kept.Attempts = nil
	for _, a := range g.Attempts {
		if a.Number == success && a.Success || slices.Contains(failures, a.Number) && !a.Success {
			kept.Attempts = append(kept.Attempts, a)
		}
	}
	s := newScene(kept)
	if s.best == nil || len(s.failures) == 0 {
		return Draft{}, false
	}
	content, right, used, ok := s.turn(s.failures[len(s.failures)-1])
	if !ok {
		return Draft{}, false
	}
	d = Draft{
		Lens: LensReflection, Feature: feature, Kind: federation.KindReflection, Content: content + s.path(), Success: 1,
		Failure: len(s.failures), Action: right.String(),
		State:  s.binder.generalise(cut(collapse(right.before), maxExcerpt)),
		Result: s.binder.generalise(cut(collapse(right.observation), maxExcerpt)),
	}
	sources := append(slices.Clone(s.successes), s.failures...)
	d = s.draft(d, sources, append(used, s.best.plan...)...)
	return d, len([]rune(d.Content)) <= MaxContent && !recalled(d.Content, sources)
}

// turn says what to do and what had failed before.
func (s *scene) turn(t trail) (content string, right call, used []call, ok bool) {
	wrong, found := s.firstWrong(t)
	if !found {
		return "", call{}, nil, false
	}
	remedy, right, found := s.remedy(t, wrong)
	if !found {
		right, found = s.replacement(t, wrong)
		remedy = s.say.brief(right)
	}
	if !found {
		return "", call{}, nil, false
	}
	if wrong.failed {
		return fmt.Sprintf(s.say.turned, remedy, s.say.brief(wrong), s.generalError(wrong)), right, []call{wrong, right}, true
	}
	return fmt.Sprintf(s.say.swapped, remedy, s.say.brief(wrong)), right, []call{wrong, right}, true
}

// replacement is the first step of the plan that the failure had not done before its wrong step.
func (s *scene) replacement(t trail, wrong call) (call, bool) {
	for _, p := range s.best.plan {
		if !doneBefore(t.calls, wrong.index, p) {
			return p, true
		}
	}
	return call{}, false
}

// path tells the steps of the success in words; a single step has been told already.
func (s *scene) path() string {
	plan := s.best.plan
	if len(plan) < 2 || len(plan) > maxPathSteps {
		return ""
	}
	parts := make([]string, len(plan))
	for i, c := range plan {
		parts[i] = s.say.brief(c)
	}
	return s.say.space + fmt.Sprintf(s.say.path, strings.Join(parts, s.say.then))
}

// Covered reports that a lesson about a wrong step, of an attempt or of a pair of segments, says what the lesson of a retry
// says better: it was made from the same attempts and none besides.
func Covered(d, retry Draft) bool {
	aboutAStep := d.Lens == LensFailure && d.Kind != federation.KindCaution || d.Lens == LensContrast && strings.HasPrefix(d.Feature, segmentFeature)
	return aboutAStep && !slices.ContainsFunc(d.Attempts, func(n int) bool { return !slices.Contains(retry.Attempts, n) })
}
