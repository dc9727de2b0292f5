package gate

import (
	"fmt"
	"hash/fnv"
	"math"

	"cairn/federation"
)

// Sources of an expectation, as Expected names them.
const (
	FromCaller     = "caller"     // the request carried expected_reward
	FromRule       = "rule"       // the task type has a fixed expectation
	FromNeighbours = "neighbours" // similar past outcomes, shrunk to the means
	FromMean       = "mean"       // no similar outcome: the shrunk mean
	FromNothing    = "none"       // no history at all: .5
)

// Inputs are what an expectation can be made from, strongest first.
type Inputs struct {
	Caller     *float64 // expected_reward of the request
	Rule       *float64 // expectation of the task type
	Neighbours []federation.Neighbour
	TaskType   federation.Tally // outcomes of (agent, task type)
	Agent      federation.Tally // all outcomes of the agent
	Namespace  federation.Tally // all outcomes of the namespace
}

// Expectation is a predicted reward in micro-units with its source and a reason that a person can read.
type Expectation struct {
	Value  federation.Micro
	Source string
	Reason string
}

// Expected predicts the reward of an attempt: the caller's own value when it is a number in [0,1], else the task type's
// rule, else the neighbours shrunk to the means, else the means alone, else one half.
func Expected(in Inputs) Expectation {
	if v, ok := valid(in.Caller); ok {
		return Expectation{v, FromCaller, "expected_reward given by the caller"}
	}
	if v, ok := valid(in.Rule); ok {
		return Expectation{v, FromRule, "fixed expectation of the task type"}
	}
	value := federation.ExpectedReward(in.Neighbours, in.TaskType, in.Agent, in.Namespace)
	switch {
	case len(in.Neighbours) > 0:
		return Expectation{value, FromNeighbours,
			fmt.Sprintf("%d similar outcomes, shrunk to the mean of %d", len(in.Neighbours), in.TaskType.N)}
	case in.TaskType.N+in.Agent.N+in.Namespace.N > 0:
		return Expectation{value, FromMean, fmt.Sprintf("mean of %d outcomes of the task type, %d of the agent, %d of the namespace",
			in.TaskType.N, in.Agent.N, in.Namespace.N)}
	}
	return Expectation{value, FromNothing, "no history"}
}

func valid(p *float64) (federation.Micro, bool) {
	if p == nil || math.IsNaN(*p) || *p < 0 || *p > 1 {
		return 0, false
	}
	return micro(*p), true
}

// RandomRoute is the gate of the ablation that replaces the judgement by chance: key (the id of what is routed) decides,
// so that a replay gives the same route. long and buffer are the shares in micro-units that go to long-term memory and
// to the buffer; the rest is discarded. Set them to the shares the real gate reached to compare at equal size.
func RandomRoute(key string, long, buffer federation.Micro) federation.Route {
	h := fnv.New64a()
	h.Write([]byte(key)) //nolint:errcheck // a hash never fails
	draw := federation.Micro(mix(h.Sum64()) % uint64(federation.One))
	switch {
	case draw < long:
		return federation.RouteLongTerm
	case draw < long+buffer:
		return federation.RouteBuffer
	}
	return federation.RouteDiscard
}

// mix spreads the hash over all bits (the finaliser of MurmurHash3), since FNV leaves similar keys close together.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
