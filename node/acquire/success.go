package acquire

import "cairn/federation"

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
		last := plan[len(plan)-1]
		d.State = s.binder.generalise(cut(collapse(last.before), maxExcerpt))
		d.Action = last.String()
		d.Result = s.binder.generalise(cut(collapse(last.observation), maxExcerpt))
	}
	return []source{{s.draft(d, same, plan...), same}}
}
