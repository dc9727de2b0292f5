package node

import (
	"context"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/gate"
)

// PredictorStats compares the expected rewards of attempts with those that came.
func (n *Node) PredictorStats(_ context.Context, c api.Caller) (api.PredictorStats, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.PredictorStats{}, err
	}
	defer v.Close()
	counters, err := v.Counters(ns)
	if err != nil {
		return api.PredictorStats{}, err
	}
	out := api.PredictorStats{Index: v.Index(), Attempts: int(counters["predictor/n"]), Sources: []api.PredictorSource{}}
	out.MSE = known(tally(counters).ratios(), "predictor_mse")
	seen := int64(0)
	for _, source := range []string{gate.FromCaller, gate.FromRule, gate.FromNeighbours, gate.FromMean, gate.FromNothing} {
		count := counters["predictor/n/"+source]
		if count == 0 {
			continue
		}
		seen += count
		out.Sources = append(out.Sources, api.PredictorSource{
			Source: source, Attempts: int(count), MSE: score(counters["predictor/square/"+source]) / float64(count),
		})
	}
	out.Constant = variance(counters["predictor/reward"], counters["predictor/reward/square"], seen)
	recent, _, err := windows(v, ns)
	out.Recent = known(recent.ratios(), "predictor_mse")
	return out, err
}

// variance of n values of which sum and sum of squares are known, in micro-units; nil without any.
func variance(sum, squares federation.Micro, n int64) *float64 {
	if n == 0 {
		return nil
	}
	mean := score(sum) / float64(n)
	out := max(0, score(squares)/float64(n)-mean*mean)
	return &out
}
