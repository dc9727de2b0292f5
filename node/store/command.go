package store

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// CommandVersion is the newest command layout this version applies.
const CommandVersion = 1

// Kind says which rule applies a command. Numbers are part of the log's format and are never reused.
type Kind uint16

// The commands of the state machine.
const (
	KindBootstrap       Kind = 1
	KindCreateNamespace Kind = 2
	KindSettings        Kind = 3
	KindCreatePrincipal Kind = 4
	KindUpdatePrincipal Kind = 5
	KindCreateAgent     Kind = 6
	KindUpdateAgent     Kind = 7
	KindRemoveAgent     Kind = 8
	KindCreateKey       Kind = 9
	KindRemoveKey       Kind = 10
	KindBumpEpoch       Kind = 11
	KindFill            Kind = 12

	KindRecordTrajectory Kind = 20
	KindDistilled        Kind = 21
	KindAddExperience    Kind = 22
	KindPatchExperience  Kind = 23
	KindErase            Kind = 24
	KindRestore          Kind = 25
	KindSetVectors       Kind = 26
	KindPurge            Kind = 27
	KindJudged           Kind = 28
	KindReembed          Kind = 29

	KindReceipts Kind = 30
	KindOutcome  Kind = 31
	KindReflect  Kind = 32
	KindRetried  Kind = 33

	KindRequestNomination Kind = 40
	KindNominate          Kind = 41
	KindPromote           Kind = 42
	KindReplaceJuror      Kind = 43
	KindCurate            Kind = 44
	KindFollowUp          Kind = 45
	KindDecidePromotion   Kind = 46
	KindSample            Kind = 47
	KindSharedStrategy    Kind = 48

	KindLeaseJobs Kind = 50
	KindFinishJob Kind = 51
	KindRetryJob  Kind = 52
	KindTick      Kind = 53
	KindRenewJobs Kind = 54
	KindSpend     Kind = 55
	KindAlerts    Kind = 56

	KindUndoMerge Kind = 60
	KindCompacted Kind = 61
)

// Command is one entry of the log. Exactly-once comes from (Client, Seq), which the proposing node draws, or from Idem,
// which the caller chose.
type Command struct {
	Version   uint8           `cbor:"1,keyasint"`
	Kind      Kind            `cbor:"2,keyasint"`
	Namespace string          `cbor:"3,keyasint,omitempty"`
	Actor     string          `cbor:"4,keyasint,omitempty"` // agent that asked; empty for the node's own work
	KeyID     string          `cbor:"5,keyasint,omitempty"`
	Client    string          `cbor:"6,keyasint,omitempty"`
	Seq       uint64          `cbor:"7,keyasint,omitempty"`
	Idem      *Idempotency    `cbor:"8,keyasint,omitempty"`
	Body      cbor.RawMessage `cbor:"9,keyasint"`
}

// Idempotency is a caller's key with the hash of its request.
type Idempotency struct {
	Key  string   `cbor:"1,keyasint"`
	Hash [32]byte `cbor:"2,keyasint"`
}

// NewCommand encodes body into a command of this version.
func NewCommand(kind Kind, namespace string, body any) (Command, error) {
	data, err := marshal(body)
	if err != nil {
		return Command{}, fmt.Errorf("encode command %d: %w", kind, err)
	}
	return Command{Version: CommandVersion, Kind: kind, Namespace: namespace, Body: data}, nil
}

// Encode gives the bytes that go into the log.
func (c Command) Encode() ([]byte, error) {
	data, err := marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode command %d: %w", c.Kind, err)
	}
	return data, nil
}

// Reject is a refusal of a command: it had no effect. Code and Location are those of the wire contract.
type Reject struct {
	Code     string `cbor:"1,keyasint"`
	Location string `cbor:"2,keyasint,omitempty"`
	Detail   string `cbor:"3,keyasint"`
}

// Error implements error.
func (r *Reject) Error() string { return r.Code + ": " + r.Detail }

func reject(code, detail string) *Reject { return &Reject{Code: code, Detail: detail} }

func rejectField(location, detail string) *Reject {
	return &Reject{Code: "invalid", Location: location, Detail: detail}
}

// Result is what applying a command gave. Index is the entry that had the effect, also for a replay.
type Result struct {
	Reject   *Reject         `cbor:"1,keyasint,omitempty"`
	Replayed bool            `cbor:"2,keyasint,omitempty"`
	Index    uint64          `cbor:"3,keyasint"`
	Body     cbor.RawMessage `cbor:"4,keyasint,omitempty"`
}

// DecodeResult reads what Apply returned for one command.
func DecodeResult(data []byte) (Result, error) {
	var r Result
	if err := unmarshal(data, &r); err != nil {
		return Result{}, fmt.Errorf("decode result: %w", err)
	}
	return r, nil
}

// DecodeBody reads a body or a result's body.
func DecodeBody(data []byte, v any) error {
	if err := unmarshal(data, v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
