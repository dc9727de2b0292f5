package llm

import "sync/atomic"

// How far the endpoint is asked to hold its answer to a form.
const (
	formatNone   = int32(iota) // not at all: the prompt says it
	formatObject               // some JSON object
	formatSchema               // an object of the schema
)

// formatLevel is the most an endpoint is known to take. It only falls.
type formatLevel struct{ level atomic.Int32 }

func newFormatLevel(mode string) *formatLevel {
	f := &formatLevel{}
	if mode != SchemaOff {
		f.level.Store(formatSchema)
	}
	return f
}

func (f *formatLevel) get() int32 { return f.level.Load() }

// lower records that from was refused.
func (f *formatLevel) lower(from int32) { f.level.CompareAndSwap(from, from-1) }
