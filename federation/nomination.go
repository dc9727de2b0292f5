package federation

// nominationCredit is the credit the author's own outcomes must reach.
const nominationCredit = 3 * One

// OwnRecord sums the author agent's own outcomes with one version of its experience: credit and credit * lift.
// Kind of evidence and mass play no part. The zero value is empty.
type OwnRecord struct {
	C  Micro `cbor:"1,keyasint,omitempty"`
	CR Micro `cbor:"2,keyasint,omitempty"`
}

// Add counts one outcome of credit c and lift r. A credit of 0 or less changes nothing.
func (o *OwnRecord) Add(c, r Micro) {
	if c <= 0 {
		return
	}
	o.C += c
	o.CR += product(c, r)
}

// NominateByRecord reports whether the author's own record nominates: credit of at least 3 and a mean lift
// above .5.
func NominateByRecord(o OwnRecord) bool {
	return o.C >= nominationCredit && o.better()
}

// better compares the mean lift CR/C with .5 in integers.
func (o OwnRecord) better() bool { return o.CR > o.C-o.CR }

// Screening is the answer of the screener about the text to be shown.
type Screening string

// The answers. The empty value means that nobody has looked, and nothing is shared.
const (
	ScreeningPass       Screening = "pass"
	ScreeningRedact     Screening = "redact" // clean once the marked spans are removed, as the frozen copy has it
	ScreeningQuarantine Screening = "quarantine"
)

// NominationInput is what [Nominate] looks at.
type NominationInput struct {
	Share     Share // from [CombineShare]
	Kind      Kind
	Status    Status // of the original
	Own       OwnRecord
	Screening Screening
	Outside   int  // outside principals in good standing (agents, when the namespace has one principal)
	Candidate bool // this version is or was on the shelf already
}

// Reasons of [Nominate]: the first two when it is nominated, the rest when it is not, in the order in which
// they are looked at.
const (
	ReasonByRecord        = "record"
	ReasonByAuthor        = "author"
	ReasonShareNever      = "share_never"
	ReasonKindCaution     = "kind_caution"
	ReasonStatus          = "status"
	ReasonAlreadyOnShelf  = "already_candidate"
	ReasonRecordShort     = "record_short"      // own credit below 3
	ReasonRecordNotBetter = "record_not_better" // own mean lift .5 or less
	ReasonNotScreened     = "not_screened"
	ReasonQuarantine      = "quarantine"
	ReasonNoOutsideJudge  = "no_outside_judge" // tried again at the next own outcome
)

// Nominate reports whether an experience becomes a candidate, and why or why not. Never and caution win over
// everything; the author's wish or its own record nominates; the text must be screened; somebody outside must
// be able to judge.
func Nominate(in NominationInput) (bool, string) {
	share := CombineShare(in.Share)
	switch {
	case share == ShareNever:
		return false, ReasonShareNever
	case in.Kind == KindCaution:
		return false, ReasonKindCaution
	case in.Status != StatusActive && in.Status != StatusDormant:
		return false, ReasonStatus
	case in.Candidate:
		return false, ReasonAlreadyOnShelf
	}
	reason := ReasonByAuthor
	if share != ShareCandidate {
		switch {
		case in.Own.C < nominationCredit:
			return false, ReasonRecordShort
		case !in.Own.better():
			return false, ReasonRecordNotBetter
		}
		reason = ReasonByRecord
	}
	switch {
	case in.Screening == ScreeningQuarantine:
		return false, ReasonQuarantine
	case in.Screening != ScreeningPass && in.Screening != ScreeningRedact:
		return false, ReasonNotScreened
	case JurySize(in.Outside) == 0:
		return false, ReasonNoOutsideJudge
	}
	return true, reason
}
