package acquire

import "math"

// DefaultThreshold is the score from which an attempt counts as a success.
const DefaultThreshold = 1.0

// Normalise maps a reward on scale [lo, hi] to a score in [0,1], (r - lo) / (hi - lo), and says whether it reaches
// threshold (section 1.1 of the rules of memory). A threshold that is not in (0,1] means DefaultThreshold. A scale without
// extent, or with a bound that is not a number, is taken as [0,1]; a reward that is not a number scores 0; one outside the
// scale is clamped. Scores within 1e-9 of the threshold reach it, so that 0.1+0.2 of 0.3 is a success.
func Normalise(reward float64, scale [2]float64, threshold float64) (score float64, success bool) {
	lo, hi := scale[0], scale[1]
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		lo, hi = 0, 1
	}
	if !(threshold > 0 && threshold <= 1) {
		threshold = DefaultThreshold
	}
	if math.IsNaN(reward) {
		return 0, false
	}
	score = min(1, max(0, (reward-lo)/(hi-lo)))
	return score, score >= threshold-1e-9
}
