package store

// maxHot bounds the bytes of each of the two halves of hotValues.
const maxHot = 16 << 20

// hotValues keeps what apply read or wrote last, so that the records every command looks at (namespace, agents, counters,
// accumulators of a jury) are not searched for in the database each time. Apply is the only writer of the state, so a value
// here is the one that stands, with the batch under way on top; a batch that fails halts the store. It is no part of the
// state: nothing depends on what is in it. Two halves of bounded size take turns: what the older half holds and nobody asked
// for is dropped with it.
type hotValues struct {
	young, old map[string][]byte // nil: there is no such key
	bytes      int               // of young
}

func newHotValues() *hotValues { return &hotValues{young: map[string][]byte{}} }

func (h *hotValues) get(k []byte) (v []byte, ok bool) {
	if v, ok = h.young[string(k)]; ok {
		return v, true
	}
	if v, ok = h.old[string(k)]; ok {
		h.put(k, v)
	}
	return v, ok
}

// put takes over v, which nobody may change after.
func (h *hotValues) put(k, v []byte) {
	const overhead = 64 // of a map entry with its headers
	h.bytes += len(k) + len(v) + overhead
	if h.bytes > maxHot {
		h.old, h.young, h.bytes = h.young, map[string][]byte{}, len(k)+len(v)+overhead
	}
	h.young[string(k)] = v
	delete(h.old, string(k))
}
