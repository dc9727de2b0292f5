package federation

// Probation says whether a reader's ledger decides about candidates outside the exploratory slot. The empty value means
// ledger.
type Probation string

// The settings of a namespace.
const (
	ProbationLedger Probation = "ledger"
	ProbationStrict Probation = "strict" // as ledger, but candidates of unproven authors are hidden
	ProbationOff    Probation = "off"    // the exploratory slot alone shows candidates
)

// Valid reports whether p is a known setting; the empty value is valid and means ledger.
func (p Probation) Valid() bool {
	return p == "" || p == ProbationLedger || p == ProbationStrict || p == ProbationOff
}

// UnprovenPlaces is how many candidates of unproven authors one recall may add after its ordinary places, the
// exploratory candidate included.
const UnprovenPlaces = 3

// unprovenWeight multiplies the recall score of a candidate of an unproven author.
const unprovenWeight Micro = 200_000

// Proof is what a reader's own experience says about an author.
type Proof string

// The values, by the two sums of a [Ledger].
const (
	Proven    Proof = "proven"    // agreed > contradicted
	Unproven  Proof = "unproven"  // equal, as at the start
	Disproved Proof = "disproved" // contradicted > agreed
)

// Ledger is what a reader principal's own verified outcomes say about the candidates of one author principal. It decides
// about that reader's recalls alone and promotes nothing. The zero value is empty.
type Ledger struct {
	Agreed       int64 `cbor:"1,keyasint,omitempty"`
	Contradicted int64 `cbor:"2,keyasint,omitempty"`
}

// Add counts one pair of an outcome and a candidate that speak of the same deed.
func (l *Ledger) Add(agreed bool) {
	if agreed {
		l.Agreed++
	} else {
		l.Contradicted++
	}
}

// Proof compares the two sums.
func (l Ledger) Proof() Proof {
	switch {
	case l.Agreed > l.Contradicted:
		return Proven
	case l.Contradicted > l.Agreed:
		return Disproved
	}
	return Unproven
}

// ProbationWeight is what the recall score of an author's candidates is multiplied by: 1 for a proven author, .2 for an
// unproven one, 0 for a disproved one, where 0 means not shown at all. strict hides unproven authors, and with probation
// off nobody's candidates are shown outside the exploratory slot.
func ProbationWeight(p Proof, setting Probation, strict bool) Micro {
	switch {
	case !setting.Valid() || setting == ProbationOff: // an unknown setting shows nothing
		return 0
	case p == Proven:
		return One
	case p == Unproven && !strict && setting != ProbationStrict:
		return unprovenWeight
	}
	return 0
}

// Deed is one action at one task and whether it worked: what a candidate claims, or what a reader saw. Hashes are zero
// where a side does not know them; a zero hash is equal to nothing.
type Deed struct {
	Group   [32]byte `cbor:"1,keyasint"` // task group
	Task    [32]byte `cbor:"2,keyasint"` // normalised task text
	Action  [32]byte `cbor:"3,keyasint"` // first differing tool call, or the normalised action of a lesson
	Success bool     `cbor:"4,keyasint,omitempty"`
}

// Bears reports whether an outcome of the reader says anything about a claim: the same task, by group or by text, and the
// same action. It does so whichever of the two came first.
func (d Deed) Bears(claim Deed) bool {
	return same(d.Action, claim.Action) && (same(d.Group, claim.Group) || same(d.Task, claim.Task))
}

func same(a, b [32]byte) bool { return a == b && a != [32]byte{} }

// Judge adds what a reader's outcome says about a candidate's claim and reports whether it said anything. Only verified
// outcomes count. The caller sees to it that each pair of an outcome and a candidate is judged once, that the candidate
// is live, and that reader and author are different principals.
func (l *Ledger) Judge(outcome, claim Deed, kind EvidenceKind) bool {
	if kind != EvidenceVerified || !outcome.Bears(claim) {
		return false
	}
	l.Add(outcome.Success == claim.Success)
	return true
}
