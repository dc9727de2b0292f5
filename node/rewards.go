package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/federation"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/store"
)

const (
	maxParts  = 16   // of a composite reward
	maxWeight = 1000 // of one of them
)

// checkParts looks at a composite reward, which stands in the place of a plain one.
func checkParts(a api.Attempt, at string) error {
	switch {
	case a.RewardParts == nil:
		return nil
	case len(a.RewardParts) == 0 || len(a.RewardParts) > maxParts:
		return api.Invalid(at+"reward_parts", "must have 1..16 entries", len(a.RewardParts))
	case a.Reward != nil || a.RewardScale != nil:
		return api.Invalid(at+"reward_parts", "stands instead of reward, without a reward_scale: each part is 0..1", nil)
	}
	for _, name := range slices.Sorted(maps.Keys(a.RewardParts)) {
		if err := checkText(at+"reward_parts", name, maxWord, true); err != nil {
			return err
		}
		if value := a.RewardParts[name]; !inUnit(value) {
			return api.Invalid(at+"reward_parts."+clip(name), "must be 0..1", value)
		}
	}
	return nil
}

// combined gives an attempt with a composite reward the plain one that its task type makes of it.
func combined(ns *store.Namespace, taskType string, a api.Attempt, at string) (api.Attempt, error) {
	if len(a.RewardParts) == 0 {
		return a, nil
	}
	weights := scoresOf(ns.Settings.TaskTypes[taskType].Weights)
	reward, ok := acquire.Composite(a.RewardParts, weights)
	if !ok {
		return a, api.Invalid(at+"reward_parts",
			fmt.Sprintf("must have a part that the task type weighs: %s", strings.Join(slices.Sorted(maps.Keys(weights)), ", ")), nil)
	}
	a.Reward = &reward
	return a, nil
}

// checkWeights looks at the weights that settings give the parts of a reward.
func checkWeights(at string, weights map[string]float64) error {
	if len(weights) > maxParts {
		return api.Invalid(at, "must have at most 16 entries", len(weights))
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if err := checkText(at, name, maxWord, true); err != nil {
			return err
		}
		weight := weights[name]
		if !(weight >= 0 && weight <= maxWeight) {
			return api.Invalid(at+"."+clip(name), "must be 0..1000", weight)
		}
		sum += weight
	}
	if len(weights) > 0 && micro(sum) == 0 {
		return api.Invalid(at, "one weight must be above 0", nil)
	}
	return nil
}

func weightsOf(weights map[string]float64) map[string]federation.Micro {
	if len(weights) == 0 {
		return nil
	}
	out := make(map[string]federation.Micro, len(weights))
	for name, weight := range weights {
		out[name] = micro(weight)
	}
	return out
}

func scoresOf(weights map[string]federation.Micro) map[string]float64 {
	if len(weights) == 0 {
		return nil
	}
	out := make(map[string]float64, len(weights))
	for name, weight := range weights {
		out[name] = score(weight)
	}
	return out
}
