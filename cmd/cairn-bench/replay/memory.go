package replay

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"cairn/federation"
	"cairn/node/store"
)

// Weights of a claim by how its task relates to the task at hand.
const (
	sameTask   = 20
	nearTask   = 1
	farTask    = .5
	nearPlaces = 20
	pseudo     = 5 // counts a unit of weight is worth
)

// claim is an experience: an arm worked or failed at a task.
type claim struct {
	author  int
	task    int
	arm     int
	success bool // what it claims
	private store.ID
	shared  store.ID // zero until nominated
	status  federation.Status
	version int
	jury    *store.Jury
	trust   federation.Micro // mu
	order   int              // of recording
}

// condition is a rule of sharing.
type condition struct {
	name    string
	shared  bool // others' experiences are seen at all
	gated   bool // by Cairn's rule; else everything counts fully
	setting federation.Probation
	strict  bool
}

var (
	isolated = condition{name: "isolated"}
	ungated  = condition{name: "ungated", shared: true}
	ledger   = condition{name: "ledger", shared: true, gated: true, setting: federation.ProbationLedger}
	off      = condition{name: "off", shared: true, gated: true, setting: federation.ProbationOff}
	strict   = condition{name: "strict", shared: true, gated: true, setting: federation.ProbationLedger, strict: true}
)

// weight is what a reader makes of a claim by who made it.
func (r *run) weight(reader int, c *claim) float64 {
	switch {
	case c.author == reader:
		return 1
	case !r.cond.shared:
		return 0
	case !r.cond.gated:
		return 1
	case c.status == federation.StatusPromoted:
		return 1
	case c.status != federation.StatusCandidate:
		return 0
	}
	proof := r.ledgers[reader][c.author].Proof()
	return float64(federation.ProbationWeight(proof, r.cond.setting, r.cond.strict)) / float64(federation.One)
}

// unproven reports whether a reader sees a claim in one of the few extra places only.
func (r *run) unproven(reader int, c *claim) bool {
	return r.cond.gated && c.author != reader && c.status == federation.StatusCandidate &&
		r.ledgers[reader][c.author].Proof() == federation.Unproven
}

// pick chooses an attempt at a task: Thompson sampling over what the visible claims say about each arm.
func (r *run) pick(reader, t int, rng *rand.Rand) attempt {
	type seen struct {
		*claim
		w    float64
		near federation.Micro
	}
	var visible []seen
	for _, c := range r.claims {
		if w := r.weight(reader, c); w > 0 {
			visible = append(visible, seen{c, w, r.domain.tasks[t].near[c.task]})
		}
	}
	slices.SortStableFunc(visible, func(a, b seen) int { return cmp.Compare(b.near, a.near) })
	n, s := make([]float64, len(r.domain.arms)), make([]float64, len(r.domain.arms))
	others, unproven := 0, 0
	for _, v := range visible {
		w := v.w
		if r.unproven(reader, v.claim) {
			if unproven++; unproven > federation.UnprovenPlaces {
				continue
			}
		}
		switch {
		case v.task == t:
			w *= sameTask
		case others < nearPlaces:
			others, w = others+1, w*nearTask
		default:
			w *= farTask
		}
		n[v.arm] += w
		if v.success {
			s[v.arm] += w
		}
	}
	best, top := attempt{}, math.Inf(-1)
	for _, a := range r.domain.tasks[t].attempts {
		theta := beta(1+pseudo*s[a.arm], 1+pseudo*(n[a.arm]-s[a.arm]), rng)
		if theta > top {
			best, top = a, theta
		}
	}
	return best
}

// beta draws from a beta distribution with both parameters of at least 1.
func beta(a, b float64, rng *rand.Rand) float64 {
	x, y := gamma(a, rng), gamma(b, rng)
	return x / (x + y)
}

// gamma draws from a gamma distribution of shape k >= 1 and scale 1 (Marsaglia and Tsang 2000).
func gamma(k float64, rng *rand.Rand) float64 {
	d := k - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(rng.Float64()) < .5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
