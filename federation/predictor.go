package federation

import (
	"cmp"
	"slices"
)

// PredictorNeighbours is how many similar past outcomes the expected reward looks at.
const PredictorNeighbours = 5

// Neighbour is a past outcome of the agent on a similar task. Similarity is the cosine above the embedder's
// floor, above 0; the caller leaves out attempts of the same group.
type Neighbour struct {
	Similarity Micro
	Reward     Micro // [0, 1]
}

// ExpectedReward is the gate's expectation of an attempt: (sum s_i r_i + m mu) / (sum s_i + m), where mu is the
// mean of the task type shrunk to the agent's and that to the namespace's mean, each prior worth 4 outcomes,
// and m = sum s_i, so that neighbours and mean weigh the same. Without neighbours it is mu, without any history .5.
func ExpectedReward(neighbours []Neighbour, taskType, agent, namespace Tally) Micro {
	return ExpectedRewardShrunk(neighbours, taskType, agent, namespace, One)
}

// ExpectedRewardShrunk is [ExpectedReward] with m = shrink * sum s_i: 0 trusts the neighbours alone. A negative
// shrink is taken as 0.
func ExpectedRewardShrunk(neighbours []Neighbour, taskType, agent, namespace Tally, shrink Micro) Micro {
	mu := taskType.shrunk(agent.shrunk(namespace.shrunk(.5)))
	var weight, sum float64
	for _, neighbour := range sortedNeighbours(neighbours) {
		s := unit(neighbour.Similarity)
		weight += s
		sum += float64(s * unit(clamp(neighbour.Reward, 0, One)))
	}
	if weight == 0 {
		return clamp(store(mu), 0, One)
	}
	m := float64(unit(max(shrink, 0)) * weight)
	return clamp(store((sum+float64(m*mu))/(weight+m)), 0, One)
}

// sortedNeighbours drops those without similarity and orders the rest by value, so that the order in which an
// index found them does not change the sum.
func sortedNeighbours(neighbours []Neighbour) []Neighbour {
	sorted := make([]Neighbour, 0, len(neighbours))
	for _, neighbour := range neighbours {
		if neighbour.Similarity > 0 {
			sorted = append(sorted, neighbour)
		}
	}
	slices.SortFunc(sorted, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.Reward, b.Reward))
	})
	return sorted
}
