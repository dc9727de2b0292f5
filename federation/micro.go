package federation

import "math"

// Micro is a quantity in millionths: 1_000_000 is one. Scores, rewards, masses and sums of them use it.
type Micro = int64

// One is 1.0 in [Micro].
const One Micro = 1_000_000

const half = One / 2

// unit returns m as a float64 in units of one.
func unit(m Micro) float64 { return float64(m) / float64(One) }

// store rounds x to the nearest Micro, halves up. Values outside the range of int64 are clamped and NaN is 0,
// because Go leaves such conversions to the platform.
func store(x float64) Micro {
	scaled := math.Floor(float64(x*float64(One)) + .5)
	switch {
	case scaled != scaled:
		return 0
	case scaled >= math.MaxInt64:
		return math.MaxInt64
	case scaled <= math.MinInt64:
		return math.MinInt64
	}
	return Micro(scaled)
}

// product returns a*b, both in units of one.
func product(a, b Micro) Micro { return store(float64(unit(a) * unit(b))) }

func clamp(m, low, high Micro) Micro { return max(low, min(high, m)) }

func abs(m Micro) Micro {
	if m < 0 {
		return -m
	}
	return m
}
