package federation

import (
	"cmp"
	"math"
	"slices"
)

// RuleVersion names the trust rule of this package. A stored decision carries it, and a replay under another
// version is reported as such.
const RuleVersion = "trust.v1"

const (
	priorMean = .5 // of the lift
	priorMass = 1.0
)

// Juror is what one seat of a jury knows: its evidence about the item, and about everything foreign it reported
// on, the item included. The zero value is a juror that has not reported.
type Juror struct {
	Acc   Accumulator `cbor:"1,keyasint,omitempty"`
	Rater Rater       `cbor:"2,keyasint,omitempty"`
}

// JurorTerm is one juror's part of a [Score]. W, S, V, LW, LS and Citations repeat the input, so that a stored
// score can be computed again from its own terms.
type JurorTerm struct {
	W         Micro `cbor:"1,keyasint,omitempty"`
	S         Micro `cbor:"2,keyasint,omitempty"`
	V         Micro `cbor:"3,keyasint,omitempty"`
	LW        Micro `cbor:"4,keyasint,omitempty"`
	LS        Micro `cbor:"5,keyasint,omitempty"`
	Citations int64 `cbor:"6,keyasint,omitempty"`
	Leniency  Micro `cbor:"7,keyasint,omitempty"` // b, what the juror gives everything beyond .5
	Lift      Micro `cbor:"8,keyasint,omitempty"` // r_P = S/W - b
	Cap       Micro `cbor:"9,keyasint,omitempty"` // n_P, the mass that counts
	Heard     bool  `cbor:"10,keyasint,omitempty"`
}

// Juror returns the input the term was made from.
func (t JurorTerm) Juror() Juror {
	return Juror{
		Acc:   Accumulator{W: t.W, S: t.S, V: t.V, Citations: t.Citations},
		Rater: Rater{LW: t.LW, LS: t.LS},
	}
}

// Score is the trust of one version of an experience with all its terms.
type Score struct {
	N         Micro       `cbor:"1,keyasint,omitempty"` // capped mass of all jurors
	Mu        Micro       `cbor:"2,keyasint,omitempty"` // shrunk mean lift; .5 is no effect
	Half      Micro       `cbor:"3,keyasint,omitempty"` // half width of the interval
	Trust     Micro       `cbor:"4,keyasint,omitempty"` // max(0, mu - half): what is decided on
	Upper     Micro       `cbor:"5,keyasint,omitempty"` // min(1, mu + half)
	Heard     int         `cbor:"6,keyasint,omitempty"` // jurors with enough mass
	Quorum    int         `cbor:"7,keyasint,omitempty"` // jurors that must be heard
	Jury      int         `cbor:"8,keyasint,omitempty"` // J, the seats left
	Citations int64       `cbor:"9,keyasint,omitempty"`
	Terms     []JurorTerm `cbor:"10,keyasint,omitempty"` // in the order the jurors were given, silent ones included
	Rule      string      `cbor:"11,keyasint,omitempty"` // [RuleVersion]
}

// Trust computes the score of an item from its jurors. jury is J, the number of seats left, silent ones
// included. With r_P = S/W - b and n_P = min(W, max(1.5, 18/J)):
//
//	mu = (sum n_P r_P + .5) / (n + 1)
//	h  = z sqrt((sum n_P V_P/W_P + .06) / (n+1) / (n+1))
//
// The order of jurors does not matter: sums run over the jurors sorted by their values.
func Trust(jurors []Juror, jury int, p Profile) Score {
	score := Score{Jury: jury, Quorum: quorum(jury, p.QuorumShare), Rule: RuleVersion}
	weight := capOf(jury, p)
	score.Terms = slices.Grow(score.Terms, len(jurors))
	for _, juror := range jurors {
		term := termOf(juror, weight, p)
		score.Citations += term.Citations
		if term.Heard {
			score.Heard++
		}
		score.Terms = append(score.Terms, term)
	}
	var n, lift, variance float64
	for _, juror := range sortedJurors(jurors) {
		w := unit(juror.Acc.W)
		capped := min(w, weight)
		n += capped
		lift += float64(capped * liftOf(juror, p))
		variance += float64(capped * unit(juror.Acc.V) / w)
	}
	mu := (lift + float64(priorMean*priorMass)) / (n + priorMass)
	spread := (variance + unit(p.PriorVariance)) / (n + priorMass) / (n + priorMass)
	h := float64(unit(p.Z) * math.Sqrt(max(spread, 0)))
	score.N, score.Mu, score.Half = store(n), store(mu), store(h)
	score.Trust, score.Upper = max(0, store(mu-h)), min(One, store(mu+h))
	return score
}

// quorum is ceil(share * jury).
func quorum(jury int, share Micro) int {
	return int((int64(max(jury, 0))*share + One - 1) / One)
}

// capOf is the largest mass one juror may bring: max(1.5, 18/J).
func capOf(jury int, p Profile) float64 {
	return max(unit(p.CapMin), unit(p.CapTotal)/float64(max(jury, 1)))
}

func termOf(j Juror, weight float64, p Profile) JurorTerm {
	term := JurorTerm{
		W: j.Acc.W, S: j.Acc.S, V: j.Acc.V, Citations: j.Acc.Citations,
		LW: j.Rater.LW, LS: j.Rater.LS,
		Leniency: store(leniency(j, p)),
	}
	if j.Acc.W <= 0 {
		return term
	}
	term.Lift = store(liftOf(j, p))
	term.Cap = store(min(unit(j.Acc.W), weight))
	term.Heard = j.Acc.W >= p.HeardMass
	return term
}

// liftOf is r_P, the mean lift a juror reports on the item less what it gives everything. W must be above 0.
func liftOf(j Juror, p Profile) float64 {
	return unit(j.Acc.S)/unit(j.Acc.W) - leniency(j, p)
}

// leniency is b = ((LS-S) - .5 (LW-W)) / ((LW-W) + K) over all else the juror reported on. Without other
// reports it is 0.
func leniency(j Juror, p Profile) float64 {
	mass := j.Rater.LW - j.Acc.W
	if mass <= 0 {
		return 0
	}
	sum := unit(j.Rater.LS - j.Acc.S)
	return (sum - float64(.5*unit(mass))) / (unit(mass) + unit(p.LeniencyK))
}

// sortedJurors returns the jurors with evidence in an order that depends on their values alone.
func sortedJurors(jurors []Juror) []Juror {
	sorted := make([]Juror, 0, len(jurors))
	for _, juror := range jurors {
		if juror.Acc.W > 0 {
			sorted = append(sorted, juror)
		}
	}
	slices.SortFunc(sorted, func(a, b Juror) int {
		return cmp.Or(
			cmp.Compare(a.Acc.W, b.Acc.W), cmp.Compare(a.Acc.S, b.Acc.S), cmp.Compare(a.Acc.V, b.Acc.V),
			cmp.Compare(a.Rater.LW, b.Rater.LW), cmp.Compare(a.Rater.LS, b.Rater.LS))
	})
	return sorted
}
