package store

import (
	"cairn/federation"
)

// Flags of a receipt's item.
const (
	FlagExploratory = 1 << 0
	FlagBuffered    = 1 << 1
	FlagUnproven    = 1 << 2
)

// ReceiptItem is one experience that was given. Rank counts from 0.
type ReceiptItem struct {
	ID      ID       `cbor:"1,keyasint"`
	Version int      `cbor:"2,keyasint"`
	Flags   int      `cbor:"3,keyasint,omitempty"`
	Hash    [32]byte `cbor:"4,keyasint"`
}

// Receipt is the stored note of a recall.
type Receipt struct {
	Recall   ID            `cbor:"1,keyasint"`
	Agent    string        `cbor:"2,keyasint"`
	TaskType string        `cbor:"3,keyasint,omitempty"`
	Group    [32]byte      `cbor:"4,keyasint"`
	At       int64         `cbor:"5,keyasint"`
	Items    []ReceiptItem `cbor:"6,keyasint,omitempty"`
	Reported bool          `cbor:"7,keyasint,omitempty"`
	Reward   int64         `cbor:"8,keyasint,omitempty"` // micro, once reported
	Success  bool          `cbor:"9,keyasint,omitempty"`
	Evidence string        `cbor:"10,keyasint,omitempty"`
	Note     string        `cbor:"11,keyasint,omitempty"`
	// Withdrawn lists what this recall said was revoked since it was given.
	Withdrawn []ID `cbor:"12,keyasint,omitempty"`
	// Task is the hash of the normalised task where the caller chose the group; else Group is it.
	Task [32]byte `cbor:"13,keyasint"`
	// Actions are what a verified outcome was about, for the reader's ledger.
	Actions [][32]byte `cbor:"14,keyasint,omitempty"`
}

// Seat is one place of a jury: a principal, or an agent where the namespace has one principal.
type Seat struct {
	Juror  string `cbor:"1,keyasint"`
	Since  int64  `cbor:"2,keyasint"`
	Struck bool   `cbor:"3,keyasint,omitempty"` // for good, with its evidence
}

// Jury judges one shared item. Size is J of the rule.
type Jury struct {
	Unit  string `cbor:"1,keyasint,omitempty"`
	Size  int    `cbor:"2,keyasint"`
	Seats []Seat `cbor:"3,keyasint"`
}

// Sits reports whether a juror holds a seat that was not struck.
func (j *Jury) Sits(juror string) bool {
	for _, s := range j.Seats {
		if s.Juror == juror && !s.Struck {
			return true
		}
	}
	return false
}

// vacant is the number of seats whose juror was struck and that nobody took yet.
func (j *Jury) vacant() int {
	sitting := 0
	for _, s := range j.Seats {
		if !s.Struck {
			sitting++
		}
	}
	return j.Size - sitting
}

// Evidence is one citation, kept for audit and recomputation.
type Evidence struct {
	Citation  ID                      `cbor:"1,keyasint"`
	Version   int                     `cbor:"2,keyasint"`
	Agent     string                  `cbor:"3,keyasint"`
	Principal string                  `cbor:"4,keyasint"`
	Juror     string                  `cbor:"5,keyasint"`
	Kind      federation.EvidenceKind `cbor:"6,keyasint"`
	Reward    federation.Micro        `cbor:"7,keyasint"`
	Expected  federation.Micro        `cbor:"8,keyasint"`
	Lift      federation.Micro        `cbor:"9,keyasint"`
	Variance  federation.Micro        `cbor:"10,keyasint"`
	Mass      federation.Micro        `cbor:"11,keyasint"`
	Recall    ID                      `cbor:"12,keyasint"`
	At        int64                   `cbor:"13,keyasint"`
	TaskType  string                  `cbor:"14,keyasint,omitempty"`
}

// Decision is a promotion or demotion with all its inputs: Jurors[i] belongs to Score.Terms[i].
type Decision struct {
	ID         ID                    `cbor:"1,keyasint"`
	Experience ID                    `cbor:"2,keyasint"`
	Version    int                   `cbor:"3,keyasint"`
	Action     string                `cbor:"4,keyasint"` // promote, demote
	Status     string                `cbor:"5,keyasint"` // automatic, rejected
	Verdict    federation.Verdict    `cbor:"6,keyasint"`
	Before     bool                  `cbor:"7,keyasint,omitempty"` // it was promoted before
	Profile    federation.Profile    `cbor:"8,keyasint"`
	Score      federation.Score      `cbor:"9,keyasint"`
	Jurors     []string              `cbor:"10,keyasint,omitempty"`
	Quota      federation.QuotaInput `cbor:"11,keyasint"`
	FusedWith  ID                    `cbor:"12,keyasint"`
	Reasons    []string              `cbor:"13,keyasint,omitempty"`
	Agent      string                `cbor:"14,keyasint"`
	Principal  string                `cbor:"15,keyasint"`
	At         int64                 `cbor:"16,keyasint"`
	Index      uint64                `cbor:"17,keyasint"`
	By         string                `cbor:"18,keyasint,omitempty"` // curator that answered
	Note       string                `cbor:"19,keyasint,omitempty"`
}

// AgentTally is an agent's record in one task type.
type AgentTally struct {
	Tally  federation.Tally  `cbor:"1,keyasint"`
	Recent federation.Recent `cbor:"2,keyasint"`
}

// JurorOf is the identity by which a caller's evidence is grouped for an item judged by unit.
func JurorOf(unit, principal, agent string) string {
	if unit == UnitAgent {
		return "agent:" + agent
	}
	return "principal:" + principal
}

// UnitAgent marks items that are judged by agents of one owner, in a namespace with one principal.
const UnitAgent = "agent"
