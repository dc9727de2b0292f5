package trusteval

import (
	"fmt"
	"math/rand/v2"

	"cairn/federation"
)

// The constants of the world; doc.go says what they mean.
const (
	days        = 84
	recordUntil = 56
	recordShare = .02
	situations  = 10
	leastChance = .02
	mostChance  = .98

	earned       = 28 // days that attackers behave honestly, where they earn first
	attackEffect = -.2
)

// mix is how the effects of honest experiences are distributed; what is left of 1 adds .3.
type mix struct {
	harmful, neutral, helpful float64
}

var (
	usualMix = mix{harmful: .15, neutral: .40, helpful: .22}
	richMix  = mix{harmful: .15, neutral: .25, helpful: .30}
)

func (m mix) draw(rng *rand.Rand) float64 {
	switch x := rng.Float64(); {
	case x < m.harmful:
		return -.2
	case x < m.harmful+m.neutral:
		return 0
	case x < m.harmful+m.neutral+m.helpful:
		return .1
	}
	return .3
}

// world is one cell of the table.
type world struct {
	honest   int       // principals
	perDay   int       // tasks of the honest a day
	bases    []float64 // base success of each task type
	mix      mix
	strict   bool // trust profile
	isolated bool // nothing is shared
	attack   attack

	attackFrom int // day on which the attack begins
	attackers  int
	oneOwner   bool // the attackers' agents belong to one principal
	silence    int  // days after the end in which time passes and nobody reports
}

var usualBases = []float64{.1, .3, .6, .9}

// fleet is a usual world of some principals.
func fleet(honest int) world {
	w := world{honest: honest, perDay: 60, bases: usualBases, mix: usualMix}
	if honest >= 24 {
		w.perDay = 240
	}
	return w
}

func (w world) attacked(a attack, attackers int) world {
	w.attack, w.attackers, w.attackFrom = a, attackers, earned
	return w
}

// task is what an agent faces. exact makes one experience fit best, whatever the situation.
type task struct {
	kind      int
	situation int
	salt      uint64
	exact     *item
}

func typeName(kind int) string { return fmt.Sprintf("type-%d", kind) }

func (w *world) drawTask(rng *rand.Rand) task {
	return task{kind: rng.IntN(len(w.bases)), situation: rng.IntN(situations), salt: rng.Uint64()}
}

// chance is the probability of success at a task with the experiences that the agent uses.
func (w *world) chance(t task, used []*item) float64 {
	p := w.bases[t.kind]
	for _, it := range used {
		if it.holds(t) {
			p += it.effect
		}
	}
	return min(mostChance, max(leastChance, p))
}

// holds reports whether an experience has its effect in a task.
func (it *item) holds(t task) bool { return it.kind == t.kind && it.valid&(1<<t.situation) != 0 }

// similarity of a task and an experience of its type.
func (it *item) similarity(t task) float64 {
	if t.exact == it {
		return 1
	}
	return .5 + .4*float64(mixed(it.salt+t.salt)>>11)/(1<<53)
}

// mixed is the output function of SplitMix64 (Steele, Lea and Flood 2014).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// reporter is how an agent reports.
type reporter struct {
	kind  federation.EvidenceKind
	named bool // it says what it used
}

func drawReporter(rng *rand.Rand) reporter {
	r := reporter{kind: federation.EvidenceSelf}
	switch x := rng.Float64(); {
	case x < .5:
		r.kind = federation.EvidenceVerified
	case x < .8:
		r.kind = federation.EvidenceJudge
	}
	r.named = rng.Float64() < .5
	return r
}

// says is what the reporter makes of an outcome.
func (r reporter) says(success bool, rng *rand.Rand) bool {
	switch r.kind {
	case federation.EvidenceJudge:
		return success != (rng.Float64() < .12)
	case federation.EvidenceSelf:
		return success || rng.Float64() < .3
	}
	return success
}
