package trusteval

import (
	"cairn/federation"
)

// figures is what one run gave. A share of nothing is NaN and left out of means.
type figures struct {
	good, goodEver float64 // of the honest good experiences: in the meta-pool at the end, ever promoted
	nominated      float64 // of the honest good experiences
	precision      float64 // good ones among the honest ones in the pool
	harmful        float64 // harmful ones among the honest ones in the pool
	hostile        float64 // of the attackers' experiences: in the pool at the end
	hostileEver    float64 // ever promoted
	success        float64 // of honest agents
	silenceDemoted float64 // of the pool, after days of silence
	namedHonest    float64 // of the honest principals, by a sign of collusion
	namedHostile   float64 // of the attacking principals
	commands       int64
	state          [32]byte // hash of the state over all commands
}

// measure reads the figures from the state as it stands.
func (s *simulation) measure() figures {
	var good, goodIn, goodEver, nominated, in, harmfulIn, bad, badIn, badEver int
	for _, it := range s.memory.items {
		pooled, ever := it.pooled(), it.promoted()
		switch {
		case it.trained:
		case it.hostile:
			bad, badIn, badEver = bad+1, badIn+one(pooled), badEver+one(ever)
		default:
			in, harmfulIn = in+one(pooled), harmfulIn+one(pooled && it.effect < 0)
			if it.effect > 0 {
				good, goodIn, goodEver = good+1, goodIn+one(pooled), goodEver+one(ever)
				nominated += one(it.shared != nil)
			}
		}
	}
	return figures{
		good: ratio(goodIn, good), goodEver: ratio(goodEver, good), nominated: ratio(nominated, good), precision: ratio(goodIn, in),
		harmful: ratio(harmfulIn, in), hostile: ratio(badIn, bad), hostileEver: ratio(badEver, bad),
		success: ratio(s.successes, s.attempts), commands: s.site.Applied(), state: s.site.Hash(),
	}
}

// pool lists what is in the meta-pool.
func (s *simulation) pool() []*item {
	var out []*item
	for _, it := range s.memory.items {
		if it.pooled() {
			out = append(out, it)
		}
	}
	return out
}

// pooled reports whether an experience is in the meta-pool.
func (it *item) pooled() bool {
	return it.promoted() && (it.shared.exp.Status == federation.StatusPromoted || it.shared.exp.Status == federation.StatusDormant)
}

// promoted reports whether an experience was ever in the meta-pool.
func (it *item) promoted() bool {
	return it.shared != nil && it.shared.exp != nil && it.shared.exp.PromotedAt != 0
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func ratio(a, b int) float64 { return float64(a) / float64(b) }
