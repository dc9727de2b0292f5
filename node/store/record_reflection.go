package store

// States of a reflection.
const (
	ReflectionOpen      = "open"      // a retry is under way
	ReflectionSolved    = "solved"    // a retry succeeded
	ReflectionExhausted = "exhausted" // every retry failed
)

// Limits of reflections.
const (
	MaxRetries      = 3    // hypotheses that one recall may lead to
	MaxHypothesis   = 2000 // characters
	maxBasedOn      = 4    // ids that one hypothesis names
	reflectionsKept = 1000 // of an agent; the oldest give way
)

// Reflection is what an agent makes of a failure after a recall: hypotheses for retries, and what became of them. It goes
// with its agent, after the time for which attempts are kept, and with anything that a hypothesis was made from.
type Reflection struct {
	ID         ID      `cbor:"1,keyasint"`
	Agent      string  `cbor:"2,keyasint"`
	Owner      uint32  `cbor:"3,keyasint"`
	Recall     ID      `cbor:"4,keyasint"` // receipt under which the failure happened
	RecalledAt int64   `cbor:"5,keyasint"` // its time: no retry is reported once the receipt expired
	Trajectory ID      `cbor:"6,keyasint"` // group of the failure and of all retries
	Status     string  `cbor:"7,keyasint"`
	Tries      []Retry `cbor:"8,keyasint"`
	// Failures are the numbers of the attempts that failed, in order; Success that of the one that did not, -1 while there
	// is none or none was recorded.
	Failures  []int    `cbor:"9,keyasint,omitempty"`
	Success   int      `cbor:"10,keyasint"`
	Seen      [32]byte `cbor:"11,keyasint"` // content of the last failure: the same one again is not another retry
	CreatedAt int64    `cbor:"12,keyasint"`
	UpdatedAt int64    `cbor:"13,keyasint"`
}

// Left is how many more retries there may be after the one under way.
func (r *Reflection) Left() int { return max(0, MaxRetries-len(r.Tries)) }

// Retry is one hypothesis and what came of it. An empty Hypothesis says that there was nothing to compare with.
type Retry struct {
	Hypothesis string `cbor:"1,keyasint,omitempty"`
	BasedOn    []ID   `cbor:"2,keyasint,omitempty"` // experiences and trajectories that it was made from
	Generator  string `cbor:"3,keyasint,omitempty"`
	Reported   bool   `cbor:"4,keyasint,omitempty"`
	Success    bool   `cbor:"5,keyasint,omitempty"`
	At         int64  `cbor:"6,keyasint"`
}
