package federation

import "slices"

const (
	ringSize       = 256
	warmUntil      = 100
	recomputeEvery = 50
	longPercentile = 750_000
	bufPercentile  = 400_000
	minThreshold   = 50_000
	maxThreshold   = 900_000
	warmOutcomes   = 10

	// WarmLong and WarmBuffer are the gate's thresholds until 100 observations.
	WarmLong   Micro = 300_000
	WarmBuffer Micro = 100_000
)

// DeltaRing holds the sizes of the last 256 reward prediction errors of one (agent, task type), and the
// thresholds made from them. The zero value is empty.
type DeltaRing struct {
	Deltas []Micro `cbor:"1,keyasint,omitempty"` // |delta|, at most 256
	Next   int     `cbor:"2,keyasint,omitempty"` // where the next one goes once the ring is full
	Count  int64   `cbor:"3,keyasint,omitempty"` // observations ever
	Long   Micro   `cbor:"4,keyasint,omitempty"` // as last computed; 0 before
	Buffer Micro   `cbor:"5,keyasint,omitempty"`
}

// Observe adds one delta in [-1, 1] and computes the thresholds again at 100 observations and every 50 after.
func (r *DeltaRing) Observe(delta Micro) {
	size := min(abs(clamp(delta, -One, One)), One)
	if len(r.Deltas) < ringSize {
		r.Deltas = append(r.Deltas, size)
	} else {
		at := ((r.Next % ringSize) + ringSize) % ringSize
		r.Deltas[at] = size
		r.Next = (at + 1) % ringSize
	}
	r.Count++
	if r.Count >= warmUntil && r.Count%recomputeEvery == 0 {
		r.Long, r.Buffer = compute(r.Deltas)
	}
}

// Thresholds returns the gate's two thresholds after count observations: .3 and .1 until 100, then what the
// ring last computed, the 75th and 40th percentile of |delta| clamped to [.05, .9].
func Thresholds(ring DeltaRing, count int64) (long, buffer Micro) {
	switch {
	case count < warmUntil || len(ring.Deltas) == 0:
		return WarmLong, WarmBuffer
	case ring.Long == 0:
		return compute(ring.Deltas)
	}
	return ring.Long, ring.Buffer
}

// WarmUp reports whether an agent with this many earlier outcomes is still in its warm-up, the first 10.
func WarmUp(outcomes int64) bool { return outcomes < warmOutcomes }

func compute(deltas []Micro) (long, buffer Micro) {
	sorted := slices.Clone(deltas)
	slices.Sort(sorted)
	return percentile(sorted, longPercentile), percentile(sorted, bufPercentile)
}

// percentile returns the smallest value whose mid-rank (the share below it plus half the share equal to it) is
// at least p, and just above the largest when there is none: of many equal values, as binary rewards give them,
// then none passes instead of all.
func percentile(sorted []Micro, p Micro) Micro {
	n := int64(len(sorted))
	for i := 0; i < len(sorted); {
		end := i
		for end < len(sorted) && sorted[end] == sorted[i] {
			end++
		}
		if int64(i+end)*One >= 2*p*n {
			return clamp(sorted[i], minThreshold, maxThreshold)
		}
		i = end
	}
	return clamp(sorted[len(sorted)-1]+1, minThreshold, maxThreshold)
}
