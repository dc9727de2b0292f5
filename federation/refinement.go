package federation

// Frequency says how often tasks of a type come.
type Frequency string

// The frequencies.
const (
	FrequencyHigh   Frequency = "high"
	FrequencyMiddle Frequency = "middle"
	FrequencyLow    Frequency = "low"
)

// Alpha is the number of recalls before utility may delete: 3, 5 or 10 for task types of high, middle and low
// frequency; 5 for anything else.
func Alpha(f Frequency) int {
	switch f {
	case FrequencyHigh:
		return 3
	case FrequencyLow:
		return 10
	}
	return 5
}

// Beta is the utility below which an experience of a pool of this size may be archived: .3 below 100
// experiences, .5 below 300, else .6. Small pools keep more.
func Beta(poolSize int) Micro {
	switch {
	case poolSize < 100:
		return 300_000
	case poolSize < 300:
		return 500_000
	}
	return 600_000
}

// Utility is u/f, the share of recalls that helped. f and u are in Micro and may be weighted by credit. It is 0
// without recalls.
func Utility(f, u Micro) Micro {
	if f <= 0 {
		return 0
	}
	return store(unit(u) / unit(f))
}

// UtilityDelete reports whether an experience is archived: recalled f >= alpha times and u/f below
// min(beta, base), where base is the success rate of the agent in the task type. Without any base outcome beta
// alone decides. (With beta alone a task type of low base success would lose most of its memory.)
func UtilityDelete(f, u Micro, poolSize int, base Tally, alpha int) bool {
	if f <= 0 || unit(f) < float64(alpha) {
		return false
	}
	beta := Beta(poolSize)
	return Utility(f, u) < min(beta, base.Mean(beta))
}

// Confidence of an experience after f recalls of which u helped: (u + 2 judge) / (f + 2), the judge's score at
// first.
func Confidence(judge, u, f Micro) Micro {
	return clamp(store((unit(max(u, 0))+float64(2*unit(judge)))/(unit(max(f, 0))+2)), 0, One)
}

// OwnTrust stands in for trust when an agent ranks its own items: (u + 1) / (f + 2).
func OwnTrust(u, f Micro) Micro {
	return clamp(store((unit(max(u, 0))+1)/(unit(max(f, 0))+2)), 0, One)
}

// StrengthPrior is the factor by which strength changes a recall score: .8 + .4 strength, [.8, 1.2].
func StrengthPrior(strength Micro) Micro { return prior(strength) }

// TrustPrior is the factor by which trust changes a recall score: .8 + .4 trust, [.8, 1.2].
func TrustPrior(trust Micro) Micro { return prior(trust) }

func prior(x Micro) Micro { return store(.8 + float64(.4*unit(clamp(x, 0, One)))) }
