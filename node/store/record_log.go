package store

// Job kinds.
const (
	JobDistil   = "distil"
	JobNominate = "nominate"
	JobPromote  = "promote"
	JobEmbed    = "embed"
	JobReplace  = "replace-juror"
	JobPurge    = "purge"
	JobCurate   = "curate"
	JobCompact  = "compact"
)

// Job states.
const (
	JobQueued = "queued"
	JobLeased = "leased"
	JobDone   = "done"
	JobDead   = "dead"
)

// Job is a durable unit of derived work. Subject is what it works on; a queued job per (kind, subject) is enough, since a
// job reads what stands when it runs.
type Job struct {
	ID        ID     `cbor:"1,keyasint"`
	Namespace string `cbor:"2,keyasint"`
	Kind      string `cbor:"3,keyasint"`
	Subject   ID     `cbor:"4,keyasint"`
	Owner     uint32 `cbor:"5,keyasint,omitempty"`
	Extra     string `cbor:"6,keyasint,omitempty"`
	Status    string `cbor:"7,keyasint"`
	Tries     int    `cbor:"8,keyasint,omitempty"`
	Error     string `cbor:"9,keyasint,omitempty"`
	Due       int64  `cbor:"10,keyasint"`
	Node      string `cbor:"11,keyasint,omitempty"` // lease holder
	Lease     uint64 `cbor:"12,keyasint,omitempty"` // index of the lease: a result names it
	Again     bool   `cbor:"13,keyasint,omitempty"` // asked for once more while it ran
	CreatedAt int64  `cbor:"14,keyasint"`
	Waits     int    `cbor:"15,keyasint,omitempty"` // times it was put back since what it needs was out of reach
}

// Event is one record of the feed: ids and numbers, never content.
type Event struct {
	Type       string            `cbor:"1,keyasint"`
	Time       int64             `cbor:"2,keyasint"`
	Experience ID                `cbor:"3,keyasint"`
	Agent      string            `cbor:"4,keyasint,omitempty"` // author
	Principal  string            `cbor:"5,keyasint,omitempty"`
	Pool       string            `cbor:"6,keyasint,omitempty"` // agent:<id>, candidates, meta
	TaskType   string            `cbor:"7,keyasint,omitempty"`
	Data       map[string]string `cbor:"8,keyasint,omitempty"`
	Unit       string            `cbor:"9,keyasint,omitempty"`
}

// Change names a record that an index derived from the state must look at again.
type Change struct {
	Kind      byte   `cbor:"1,keyasint"` // ChangeExperience, ChangeTrajectory
	Namespace uint32 `cbor:"2,keyasint"`
	Owner     uint32 `cbor:"3,keyasint,omitempty"`
	ID        ID     `cbor:"4,keyasint"`
}

// Kinds of change.
const (
	ChangeExperience byte = 1
	ChangeTrajectory byte = 2
)

type clientResult struct {
	Seq    uint64 `cbor:"1,keyasint"`
	Result []byte `cbor:"2,keyasint"`
	At     int64  `cbor:"3,keyasint"`
}

type idemResult struct {
	Hash   [32]byte `cbor:"1,keyasint"`
	Index  uint64   `cbor:"2,keyasint"`
	Body   []byte   `cbor:"3,keyasint"`
	At     int64    `cbor:"4,keyasint"`
	KindOf Kind     `cbor:"5,keyasint"`
}
