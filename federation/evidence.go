package federation

// EvidenceKind says how the reporter knows the outcome.
type EvidenceKind string

// The kinds of evidence.
const (
	EvidenceVerified EvidenceKind = "verified" // by a test, a tool or the environment
	EvidenceJudge    EvidenceKind = "judge"    // by a model or a person
	EvidenceSelf     EvidenceKind = "self"     // by the agent's own opinion
)

// Valid reports whether k is a known kind.
func (k EvidenceKind) Valid() bool { return Kappa(k) > 0 }

// Kappa is the weight of a kind of evidence: verified 1, judge .6, self .3; 0 for an unknown kind.
func Kappa(k EvidenceKind) Micro {
	switch k {
	case EvidenceVerified:
		return One
	case EvidenceJudge:
		return 600_000
	case EvidenceSelf:
		return 300_000
	}
	return 0
}

// Used says what a report tells about one item of the recall.
type Used uint8

// What a report tells.
const (
	UsedUnknown Used = iota // the report names no ids
	UsedYes                 // named as used
	UsedNo                  // not among those named
)

// Credit is the share of an outcome that an item gets: 1 when used, 0 when reported unused, and 1/(1+rank) when
// unknown, except that the item of the exploratory slot gets 1. rank counts from 0; a negative one is taken as 0.
func Credit(used Used, rank int, exploratory bool) Micro {
	switch {
	case used == UsedNo:
		return 0
	case used == UsedYes || exploratory:
		return One
	}
	return store(1 / (1 + float64(max(rank, 0))))
}

// Mass is the weight of one citation: credit * kappa. A report of mass 0 is no citation.
func Mass(credit, kappa Micro) Micro { return product(credit, kappa) }

// Accumulator sums the evidence of one principal about one version of an experience: mass, mass * lift,
// mass * null variance, and the number of citations. It never decays. The zero value is empty.
type Accumulator struct {
	W         Micro `cbor:"1,keyasint,omitempty"`
	S         Micro `cbor:"2,keyasint,omitempty"`
	V         Micro `cbor:"3,keyasint,omitempty"`
	Citations int64 `cbor:"4,keyasint,omitempty"`
}

// Add counts one report of mass m, lift r and null variance v. A mass of 0 or less changes nothing.
func (a *Accumulator) Add(m, r, v Micro) {
	if m <= 0 {
		return
	}
	a.W += m
	a.S += product(m, r)
	a.V += product(m, v)
	a.Citations++
}

// Rater sums the evidence of one principal about everything foreign it reports on: mass and mass * lift. The
// reports on an item are part of both its [Accumulator] and the Rater, so that the rest is their difference.
type Rater struct {
	LW Micro `cbor:"1,keyasint,omitempty"`
	LS Micro `cbor:"2,keyasint,omitempty"`
}

// Add counts one report of mass m and lift r. A mass of 0 or less changes nothing.
func (p *Rater) Add(m, r Micro) {
	if m <= 0 {
		return
	}
	p.LW += m
	p.LS += product(m, r)
}
