package consensus

// StateMachine is what the log is applied to. Its methods use built-in types
// only, so that the implementation need not import this package.
//
// Apply, Install and Checkpoint are never called concurrently with each other;
// Applied and MakeDurable may be called at any time.
type StateMachine interface {
	// Apply applies commands[i], which has index firstIndex+i and was stamped
	// with times[i] by the leader that appended it, in Unix milliseconds. All
	// have the same term. firstIndex may be more than one above the applied
	// index: entries between carry no command. A nil command carries none
	// either and only moves the applied index. The applied index and term are
	// stored atomically with the effects. results has one element a command.
	// An error means that this node cannot apply the entry now or ever; apply
	// is halted for good.
	Apply(firstIndex, term uint64, times []int64, commands [][]byte) (results [][]byte, err error)
	// Applied is the index and term of the last entry applied, zeros at first.
	Applied() (index, term uint64)
	// MakeDurable returns when everything applied before the call is on disk.
	MakeDurable() error
	// Checkpoint writes a consistent and durable copy of the state into dir,
	// which does not exist. dir holds plain files and no folders.
	Checkpoint(dir string) error
	// Install replaces the state by the files of dir, durably and atomically:
	// after a crash either the old or the new state is found. The applied index
	// is then the one of the copy, which may be lower than before. dir is left
	// as it is, because after a crash Install is called with it again: tables
	// may be linked, files that a database writes to have to be copied.
	Install(dir string) error
}

// Flusher is a StateMachine that keeps what is new in memory and in a file that
// a copy has to carry. Flush writes that into files that are never written
// again, so that copies link them, and who installs one need not do that work
// while it waits. It is called before Checkpoint, at any time.
type Flusher interface {
	Flush() error
}

// StateFormatter is a StateMachine whose state has a version. A copy of a newer
// one, from a backup or a peer, is refused before anything changes.
type StateFormatter interface {
	// StateFormat is the version that the state machine writes and the newest
	// that Install takes, at least 1. It is constant.
	StateFormat() int
}

// Restorer is a StateMachine that carries something over from the state that a
// backup replaces.
type Restorer interface {
	// BeforeRestore is called at the index of a restore, before Install, on every
	// node with the same state. It returns the command to apply on the restored
	// state in place of the one that Restore was given, which may be nil. It
	// must be a function of the state and the command alone. An error halts
	// apply, like one of Apply. It is not called concurrently with Apply.
	BeforeRestore(command []byte) ([]byte, error)
}

// Result is what a proposed command brought.
type Result struct {
	// Index is the command's place in the log.
	Index uint64
	// Value is what the state machine returned.
	Value []byte

	// term is the command's term, 0 when it is not known.
	term uint64
}
