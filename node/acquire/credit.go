package acquire

import (
	"cmp"
	"math"
	"slices"
)

// StepDiscount is the factor by which an attempt's score fades for each step before the last.
const StepDiscount = .95

// StepCredits divides an attempt's end over its steps: the rewards that the environment gave the steps where it gave any
// (a step without one gets 0), else the score discounted backwards, score * StepDiscount^(steps after it). A step whose
// observation is an error gets none of a discounted score. The success lens weighs these credits by contrast and names the
// step with the largest one as the action of its draft.
func StepCredits(a Attempt) []float64 {
	credits := make([]float64, len(a.Steps))
	if slices.ContainsFunc(a.Steps, func(s Step) bool { return s.Reward != nil }) {
		for i, s := range a.Steps {
			if s.Reward != nil && !math.IsNaN(*s.Reward) {
				credits[i] = *s.Reward
			}
		}
		return credits
	}
	share := a.Score
	for i := len(a.Steps) - 1; i >= 0; i-- {
		if !isError(a.Steps[i].Observation) {
			credits[i] = share
		}
		share *= StepDiscount
	}
	return credits
}

// Composite combines the named parts of a reward (resolved, turns, sentiment...), each on [0,1], with the weights of the
// task type into one reward on [0,1]: the weighted mean over the parts that have a weight above 0. Without weights all
// parts weigh the same. ok is false when no part counts; parts that are not numbers are left out.
func Composite(parts, weights map[string]float64) (reward float64, ok bool) {
	names := make([]string, 0, len(parts))
	for name := range parts {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string]) // one order of addition, one result
	var sum, total float64
	for _, name := range names {
		weight := 1.0
		if len(weights) > 0 {
			weight = weights[name]
		}
		if value := parts[name]; weight > 0 && !math.IsInf(weight, 0) && !math.IsNaN(value) {
			sum += weight * min(1, max(0, value))
			total += weight
		}
	}
	if total == 0 {
		return 0, false
	}
	return sum / total, true
}
