package store

import "bytes"

// maxHot bounds the bytes of each of the two halves of hotValues.
const maxHot = 16 << 20

// hotValues keeps what apply read or wrote last, so that the records every command looks at (namespace, agents, counters,
// accumulators of a jury) are not searched for in the database each time. Apply is the only writer of the state, so a value
// here is the one that stands, with the batch under way on top; a batch that fails halts the store. It is no part of the
// state: nothing depends on what is in it. Two halves of bounded size take turns: what the older half holds and nobody asked
// for is dropped with it.
type hotValues struct {
	young, old map[string]*hotValue
	bytes      int // of young
	max        int // bytes of a half
	// complete means that everything ever written is here, so that what is not found does not exist.
	complete bool
	// floors are keys below which nothing of a kind is left: what was due leaves tombstones behind, over which every
	// search for what is due next would walk.
	floors map[keyKind][]byte
}

// hotValue is a stored value. record is what it decodes to, for the records that are looked at most; nobody changes it.
type hotValue struct {
	data   []byte // nil: there is no such key
	record any
}

func newHotValues() *hotValues {
	return &hotValues{young: map[string]*hotValue{}, max: maxHot, floors: map[keyKind][]byte{}}
}

// newCompleteValues is for a new state that stays in memory.
func newCompleteValues() *hotValues {
	h := newHotValues()
	h.max, h.complete = 1<<62, true
	return h
}

// get returns nil for a key that it knows nothing of.
func (h *hotValues) get(k []byte) *hotValue {
	if v, ok := h.young[string(k)]; ok {
		return v
	}
	if v, ok := h.old[string(k)]; ok {
		h.keep(string(k), v)
		return v
	}
	if h.complete {
		return &absent
	}
	return nil
}

var absent hotValue

// remember keeps what a value decodes to beside it; nil is nothing.
func (h *hotValues) remember(v *hotValue, record any) {
	const overhead = 1 << 10 // of a decoded experience, its strings counted once more
	if record != nil {
		v.record = record
		h.bytes += overhead + len(v.data)
	}
}

// read decodes the value of a key out of a complete set. It reports whether there is one.
func (h *hotValues) read(k []byte, out any) (bool, error) {
	v := h.get(k)
	if v.record != nil && copyRecord(out, v.record) {
		return true, nil
	}
	if v.data == nil {
		return false, nil
	}
	err := decodeValue(v.data, out)
	return err == nil, err
}

// put takes over data, which nobody may change after, and returns what is kept.
func (h *hotValues) put(k string, data []byte) *hotValue {
	v := &hotValue{data: data}
	if data == nil {
		if h.complete {
			delete(h.young, k)
			return &absent
		}
		v = &absent
	}
	h.keep(k, v)
	return v
}

func (h *hotValues) keep(k string, v *hotValue) {
	const overhead = 80 // of a map entry with its headers
	size := len(k) + len(v.data) + overhead
	h.bytes += size
	if h.bytes > h.max {
		h.old, h.young, h.bytes = h.young, make(map[string]*hotValue, len(h.young)), size
	}
	h.young[k] = v
	delete(h.old, k)
}

// floor is the first key of a kind at which something may stand.
func (h *hotValues) floor(kind keyKind) []byte {
	if k, ok := h.floors[kind]; ok {
		return k
	}
	return key(kind)
}

// raise notes that the database holds nothing of a kind below a key.
func (h *hotValues) raise(kind keyKind, k []byte) { h.floors[kind] = bytes.Clone(k) }

// lower notes a key that is written.
func (h *hotValues) lower(k []byte) {
	if f, ok := h.floors[keyKind(k[0])]; ok && bytes.Compare(k, f) < 0 {
		h.floors[keyKind(k[0])] = bytes.Clone(k)
	}
}
