package consensus

import "errors"

// Conditions that a caller can act on. Errors returned by this package wrap
// one of them wherever one applies.
var (
	// ErrTooLarge: the command is larger than MaxCommandBytes. Never retried.
	ErrTooLarge = errors.New("command is larger than 4 MiB")
	// ErrEmptyCommand: a command needs at least one byte; the empty one is
	// reserved for entries that only move the index.
	ErrEmptyCommand = errors.New("command is empty")
	// ErrNotLeader: only the leader can do this and it is another node.
	ErrNotLeader = errors.New("node is not the leader")
	// ErrNoLeader: no leader was known for as long as the call waited; there is
	// probably no quorum. Nothing was appended; retry later.
	ErrNoLeader = errors.New("no leader is known")
	// ErrOutcomeUnknown: the command was handed to a leader and the answer was
	// lost. It may be applied later. Retry with the same idempotency key.
	ErrOutcomeUnknown = errors.New("outcome of the command is unknown")
	// ErrStorageFull: the data disk is filled to StorageFullPercent. Reads go
	// on, and so do commands sent by ProposeFreeing.
	ErrStorageFull = errors.New("storage is full")
	// ErrHalted: the state machine of this node refused an entry or its state
	// differs from the other nodes'; nothing is applied any more until an
	// operator has acted and the node is started again.
	ErrHalted = errors.New("apply is halted on this node")
	// ErrRemoved: the site has removed this node, or its folder comes from
	// another site. It takes no part; to use the machine again, delete its data
	// folder and join anew.
	ErrRemoved = errors.New("node was removed from the site")
	// ErrClosed: the group is closed or closing.
	ErrClosed = errors.New("group is closed")
	// ErrCorrupt: stored or received data does not match its checksum.
	ErrCorrupt = errors.New("data is corrupt")
	// ErrNewerFormat: a backup or a peer's copy holds a state in a format that
	// this node's state machine is too old to read. Nothing was changed.
	ErrNewerFormat = errors.New("state has a newer format")
	// ErrStateBehind: the state machine is behind the point to which the log was
	// compacted, so the missing entries cannot be replayed.
	ErrStateBehind = errors.New("state is older than the compacted log")
	// ErrStateAhead: the state machine has applied entries that this node's log
	// does not know: the two folders do not belong together.
	ErrStateAhead = errors.New("state is ahead of the log")
)
