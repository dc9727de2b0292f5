package acquire

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cairn/federation"
)

// segmentFeature begins the feature of a lesson of a pair.
const segmentFeature = "segment:"

// maxTold is how many steps of a segment a lesson tells at most.
const maxTold = 3

// segmentContrast tells of each pair of segments the step to which the failure owes its end and the steps of the success
// that serve the same. What the lens of failures says already is left out, as are commands: the whole of one is no advice
// for another task, and what differs inside them is told piece by piece.
func (s *scene) segmentContrast() []source {
	if s.group.Alike == nil {
		return nil
	}
	said, won := s.failure(), s.inAny(s.successes)
	useful := func(win, loss segment) bool {
		_, ok := s.pairLesson(win, loss, won, said)
		return ok
	}
	var out []source
	seen := make(map[string]bool)
	for _, p := range s.pairs(useful) {
		l, ok := s.pairLesson(p.win, p.loss, won, said)
		if ok && !seen[l.feature()] {
			seen[l.feature()] = true
			out = append(out, s.segmentSource(l))
		}
	}
	return out
}

// pairLesson is what a pair of segments tells: the wrong step, and the steps up to the right one.
type pairLesson struct {
	wrong call
	told  []call // the last is the right one
}

func (l pairLesson) right() call { return l.told[len(l.told)-1] }

// feature tells lessons of one group apart that a later distillation replaces.
func (l pairLesson) feature() string { return segmentFeature + l.wrong.tool + ">" + l.right().tool }

func (s *scene) pairLesson(win, loss segment, won map[done]bool, said []source) (pairLesson, bool) {
	wrong, ok := s.wrongStep(loss, won)
	if !ok || !s.say.fits(wrong) {
		return pairLesson{}, false
	}
	right, ok := s.rightStep(win, s.did(loss.trail))
	if !ok || s.alreadySaid(said, wrong, right) {
		return pairLesson{}, false
	}
	told := s.told(win, right)
	return pairLesson{wrong, told}, len(told) > 0
}

func (s *scene) segmentSource(l pairLesson) source {
	steps := make([]string, len(l.told))
	for i, c := range l.told {
		steps[i] = s.say.phrase(c)
	}
	way := strings.Join(steps, s.say.then)
	content := fmt.Sprintf(s.say.diverged, s.say.phrase(l.wrong), way)
	if l.wrong.failed {
		content = fmt.Sprintf(s.say.wrong, s.say.phrase(l.wrong), s.generalError(l.wrong)) + fmt.Sprintf(s.say.instead, way)
	}
	d := Draft{Lens: LensContrast, Feature: l.feature(), Kind: federation.KindContrast, Content: content}
	var sources []trail
	for _, t := range s.successes {
		if s.made(t, l.right()) {
			d.Success++
			sources = append(sources, t)
		}
	}
	for _, t := range s.failures {
		if s.made(t, l.right()) {
			d.Failure++
		}
		if s.made(t, l.wrong) {
			sources = append(sources, t)
		}
	}
	return source{s.draft(d, sources, append(slices.Clone(l.told), l.wrong)...), sources}
}

// made reports a call with the same result.
func (s *scene) made(t trail, c call) bool { return s.did(t)[done{c.String(), c.failed}] }

// rightStep is the step of a successful segment to which its attempt owes most, among those that the failure did not do: its
// credit, weighted by contrast, as for the step that a plan names. Where contrast does not speak for it there is none.
func (s *scene) rightStep(g segment, lost map[done]bool) (right call, ok bool) {
	credits := s.credits(g.trail)
	most := math.Inf(-1)
	for _, c := range g.calls {
		if _, command := c.command(); command || c.failed || lost[done{c.String(), false}] {
			continue
		}
		weight := s.weight(c)
		if credit := credits[c.index] * weight; weight > .5 && credit >= most {
			right, most, ok = c, credit, true
		}
	}
	return right, ok
}

// wrongStep is the step of a segment to which its failure owes its end, among those that no success has with that result:
// the first that met an error, else the one that contrast speaks against most.
func (s *scene) wrongStep(g segment, won map[done]bool) (wrong call, ok bool) {
	least := .5
	for _, c := range g.calls {
		if _, command := c.command(); command || won[done{c.String(), c.failed}] {
			continue
		}
		if c.failed {
			return c, true
		}
		if weight := s.weight(c); weight < least {
			wrong, least, ok = c, weight, true
		}
	}
	return wrong, ok
}

func (s *scene) credits(t trail) []float64 {
	if known := s.memo.credits[&t.calls[0]]; known != nil {
		return known
	}
	if s.memo.credits == nil {
		s.memo.credits = make(map[*call][]float64)
	}
	credits := StepCredits(t.attempt)
	s.memo.credits[&t.calls[0]] = credits
	return credits
}

func (s *scene) weight(c call) float64 {
	if s.memo.weights == nil {
		s.memo.weights = s.contrastWeights()
	}
	return s.memo.weights(c)
}

// alreadySaid reports that the lens of failures names the same wrong step with the same remedy.
func (s *scene) alreadySaid(said []source, wrong, right call) bool {
	return slices.ContainsFunc(said, func(o source) bool {
		return o.draft.Action == wrong.String() && strings.Contains(o.draft.Content, s.say.phrase(right))
	})
}

// told are the steps of a segment that led to the right one, and that one: at most maxTold that fit a sentence together.
func (s *scene) told(g segment, right call) []call {
	var out []call
	for _, c := range g.calls {
		if c.index == right.index {
			break
		}
		again := func(o call) bool { return o.String() == c.String() }
		if !c.failed && !again(right) && !slices.ContainsFunc(out, again) {
			out = append(out, c)
		}
	}
	out = append(out, right)
	out = out[max(0, len(out)-maxTold):]
	for len(out) > 0 && s.length(out) > longestShown {
		out = out[1:]
	}
	return out
}

func (s *scene) length(calls []call) int {
	n := 0
	for _, c := range calls {
		n += len([]rune(s.say.phrase(c))) + len([]rune(s.say.then))
	}
	return n - len([]rune(s.say.then))
}
