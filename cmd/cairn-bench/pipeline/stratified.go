package pipeline

import (
	"math"
	"slices"
)

// stratum counts successes and attempts of those that follow advice and those that do not.
type stratum struct{ followed, followedN, other, otherN float64 }

func (s *stratum) count(follows, success bool) {
	won := 0.0
	if success {
		won = 1
	}
	if follows {
		s.followed += won
		s.followedN++
	} else {
		s.other += won
		s.otherN++
	}
}

func (s *stratum) add(o stratum) {
	s.followed += o.followed
	s.followedN += o.followedN
	s.other += o.other
	s.otherN += o.otherN
}

// riskDifference is the risk difference of Mantel and Haenszel over strata. Strata without attempts on both sides weigh
// nothing; ok is false when all are so.
func riskDifference(strata []*stratum) (d float64, ok bool) {
	var sum, weight float64
	for _, s := range strata {
		n := s.followedN + s.otherN
		if s.followedN == 0 || s.otherN == 0 {
			continue
		}
		sum += (s.followed*s.otherN - s.other*s.followedN) / n
		weight += s.followedN * s.otherN / n
	}
	if weight == 0 {
		return 0, false
	}
	return sum / weight, true
}

// quantile is the value that a share q of the values does not exceed, by the nearest-rank rule; 0 for none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	at := int(math.Ceil(q*float64(len(s)))) - 1
	return s[min(max(at, 0), len(s)-1)]
}
