package federation

// Constants of the expectation: how many outcomes each prior is worth, and its bounds.
const (
	priorOutcomes   = 4
	minExpectation  = 20_000
	maxExpectation  = 980_000
	nullVarianceMin = 5_000
	recentOutcomes  = 8
)

// Tally counts outcomes: the sum of their rewards, each in [0, 1], and their number. The zero value is empty.
type Tally struct {
	Sum Micro `cbor:"1,keyasint,omitempty"`
	N   int64 `cbor:"2,keyasint,omitempty"`
}

// Add counts one outcome of reward y, clamped to [0, 1].
func (t *Tally) Add(y Micro) {
	t.Sum += clamp(y, 0, One)
	t.N++
}

// Mean returns Sum/N, and fallback where nothing was counted.
func (t Tally) Mean(fallback Micro) Micro {
	if t.N <= 0 {
		return fallback
	}
	return store(unit(t.Sum) / float64(t.N))
}

// shrunk returns the mean of t pulled towards prior, which weighs as much as priorOutcomes outcomes.
func (t Tally) shrunk(prior float64) float64 {
	sum, n := unit(t.Sum), float64(max(t.N, 0))
	return (sum + float64(priorOutcomes*prior)) / (n + priorOutcomes)
}

// Recent holds the rewards of the last 8 outcomes in a ring. The zero value is empty.
type Recent struct {
	Rewards [recentOutcomes]Micro `cbor:"1,keyasint,omitempty"`
	Len     uint8                 `cbor:"2,keyasint,omitempty"` // 0..8, rewards held
	Next    uint8                 `cbor:"3,keyasint,omitempty"` // 0..7, where the next one goes
}

// Add puts reward y, clamped to [0, 1], in the place of the oldest of 8.
func (r *Recent) Add(y Micro) {
	at := r.Next % recentOutcomes
	r.Rewards[at] = clamp(y, 0, One)
	r.Next = (at + 1) % recentOutcomes
	r.Len = min(r.Len+1, recentOutcomes)
}

// Sum returns the sum of the rewards held.
func (r *Recent) Sum() Micro {
	var sum Micro
	for _, y := range r.Rewards[:r.N()] {
		sum += y
	}
	return sum
}

// N returns the number of rewards held, 0..8.
func (r *Recent) N() int64 { return int64(min(r.Len, recentOutcomes)) }

// Expectation is the reward an agent may expect in a task type before an outcome is added:
//
//	m = (Ya + 4 (Ys+2)/(Ns+4)) / (Na+4),  e = clamp((4m + Y8)/(4 + N8), .02, .98)
//
// site counts all outcomes of the task type in the namespace, agent those of the agent, recent its last 8.
// Without any history it is .5.
func Expectation(site, agent Tally, recent Recent) Micro {
	mean := agent.shrunk(site.shrunk(.5))
	last := Tally{Sum: recent.Sum(), N: recent.N()}
	return clamp(store(last.shrunk(mean)), minExpectation, maxExpectation)
}

// Lift is the reward y measured against the expectation e: .5 + .5 (y - e). It is .5 when the outcome is as
// expected, so that an easy task praises nothing and a hard one blames nothing. y is clamped to [0, 1].
func Lift(y, e Micro) Micro {
	return store(.5 + float64(.5*unit(clamp(y, 0, One)-e)))
}

// NullVariance is the variance of a lift whose item does nothing: e(1-e)/4 + .005.
func NullVariance(e Micro) Micro {
	return store(float64(unit(e)*unit(One-e))/4 + unit(nullVarianceMin))
}
