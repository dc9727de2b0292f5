package acquire

import (
	"math"

	"cairn/federation"
)

// success renders the best success as a plan. The plan is one attempt as it ran, not what several have in common: the
// longest common subsequence of two successes that reached the goal on different ways can lack a step that each of them
// needed. What is common decides the support: a success shows the plan when it has all of its kinds of step, in order.
func (s *scene) success() []source {
	if s.best == nil {
		return nil
	}
	plan := s.best.plan
	var same []trail
	d := Draft{Lens: LensSuccess, Feature: "plan", Kind: federation.KindSuccess, Content: s.say.plan + render(plan)}
	for _, t := range s.successes {
		if len(common(plan, t.calls)) == len(plan) {
			d.Success++
		}
		if t.text() == s.best.text() {
			same = append(same, t)
		}
	}
	for _, t := range s.failures {
		if t.shows(plan) {
			d.Failure++
		}
	}
	if len(same) == 1 {
		key := s.keyStep(plan, s.best.attempt)
		d.State = s.binder.generalise(cut(collapse(key.before), maxExcerpt))
		d.Action = key.String()
		d.Result = s.binder.generalise(cut(collapse(key.observation), maxExcerpt))
	}
	return []source{{s.draft(d, same, plan...), same}}
}

// keyStep is the step of a plan to which the attempt owes most: its credit, weighted by how much successes have it before
// failures; of equals the last.
func (s *scene) keyStep(plan []call, a Attempt) call {
	credits, weights := StepCredits(a), s.contrastWeights()
	key, most := plan[0], math.Inf(-1)
	for _, c := range plan {
		if credit := credits[c.index] * weights(c); credit >= most {
			key, most = c, credit
		}
	}
	return key
}

// contrastWeights gives the weight of a call in (0,1): one half where nothing tells successes from failures, more for what
// successes did, less for what failures did too. It is the logistic function of the strongest log-odds of its features.
func (s *scene) contrastWeights() func(call) float64 {
	odds := make(map[string]float64)
	if len(s.failures) > 0 {
		for _, f := range s.weigh() {
			odds[f.key] = f.odds
		}
	}
	return func(c call) float64 {
		strongest := 0.0
		for key := range featuresOf(trail{calls: []call{c}}) {
			if math.Abs(odds[key]) > math.Abs(strongest) || math.Abs(odds[key]) == math.Abs(strongest) && odds[key] > strongest {
				strongest = odds[key]
			}
		}
		return 1 / (1 + math.Exp(-strongest))
	}
}
