package store

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// SeriesKept is for how long the hours of a namespace's series are kept, ms.
const SeriesKept = 92 * day

// trimPerHour bounds the old hours that the first command of an hour removes.
const trimPerHour = 100

// flows are the counters whose changes are kept by the hour, levels those whose value at the last change of an hour is.
// The place of a name is part of the format: names are added at the end of flows up to flowSlots, of levels after it.
var (
	flows = []string{
		"recalls", "recalls/empty", "given", "helped", "outcomes", "outcomes/success", "outcomes/reward", "outcomes/guided",
		"outcomes/guided/reward", "trajectories", "attempts", "recorded", "merges", "archived", "expired", "nominations",
		"promotions", "demotions", "citations", "route/long_term", "route/buffer", "route/discard", "predictor/square",
		"predictor/n", "llm/calls", "llm/tokens", "llm/cached", "llm/failed", "llm/refused",
		"reflections/retries", "reflections/solved", "reflections/exhausted",
	}
	levels = []string{"pools/own", "pools/candidates", "pools/meta", "status/buffered", "job/dead"}
)

const (
	flowSlots   = 48
	seriesSlots = flowSlots + 16
)

var slots = func() map[string]int {
	out := map[string]int{}
	for i, name := range flows {
		out[name] = i
	}
	for i, name := range levels {
		out[name] = flowSlots + i
	}
	return out
}()

// SeriesNames lists what a series has: sums of an hour, and values as they stood at its end.
func SeriesNames() (sums, standing []string) { return slices.Clone(flows), slices.Clone(levels) }

// Hour is one hour of a namespace in which something was counted.
type Hour struct {
	Start  int64 // Unix ms
	values [seriesSlots]int64
}

// Of is the value of one of SeriesNames, 0 for another name.
func (h *Hour) Of(name string) int64 {
	i, ok := slots[name]
	if !ok {
		return 0
	}
	return h.values[i]
}

func seriesKey(ns uint32, at int64) keyBuf { return nsKey(kindSeries, ns).u32(uint32(at / hour)) }

// note remembers that a counter of the namespace at hand moved; flushSeries writes all of a command at once.
func (t *txn) note(name string, delta, value int64) {
	slot, ok := slots[name]
	if !ok {
		return
	}
	h := t.series[t.ns.Number]
	if h == nil {
		h = t.openHour(t.ns.Number)
		if t.series == nil {
			t.series = map[uint32]*Hour{}
		}
		t.series[t.ns.Number] = h
	}
	if slot < flowSlots {
		h.values[slot] += delta
		return
	}
	h.values[slot] = value
}

// openHour reads the present hour, or begins it with the levels that stand.
func (t *txn) openHour(ns uint32) *Hour {
	h := &Hour{}
	if data := t.raw(seriesKey(ns, t.now)); data != nil {
		t.fail(h.decode(data))
		return h
	}
	for _, name := range levels {
		h.values[slots[name]] = t.counter(name)
	}
	t.trimSeries(ns)
	return h
}

func (t *txn) trimSeries(ns uint32) {
	if t.now < SeriesKept {
		return
	}
	n := 0
	t.scanRange(nsKey(kindSeries, ns), seriesKey(ns, t.now-SeriesKept), func(k, _ []byte) bool {
		t.del(k)
		n++
		return n < trimPerHour
	})
}

// flushSeries writes the hours that the command moved, in order of namespace.
func (t *txn) flushSeries() {
	for _, ns := range slices.Sorted(maps.Keys(t.series)) {
		t.set(seriesKey(ns, t.now), t.series[ns].encode(), false)
	}
}

// encode writes a presence mask and the values that are not 0: most of an hour's places are empty.
func (h *Hour) encode() []byte {
	var mask uint64
	for i, v := range h.values {
		if v != 0 {
			mask |= 1 << i
		}
	}
	out := binary.BigEndian.AppendUint64([]byte{FormatVersion}, mask)
	for _, v := range h.values {
		if v != 0 {
			out = binary.AppendVarint(out, v)
		}
	}
	return out
}

func (h *Hour) decode(data []byte) error {
	if len(data) < 9 || data[0] != FormatVersion {
		return fmt.Errorf("decode hour of %d bytes", len(data))
	}
	mask, rest := binary.BigEndian.Uint64(data[1:]), data[9:]
	for i := range h.values {
		if mask&(1<<i) == 0 {
			continue
		}
		v, n := binary.Varint(rest)
		if n <= 0 {
			return fmt.Errorf("decode hour: place %d is cut off", i)
		}
		h.values[i], rest = v, rest[n:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("decode hour: %d bytes too many", len(rest))
	}
	return nil
}

// Hours visits the hours of a namespace from a time on (Unix ms), oldest first. Hours in which nothing was counted are left
// out: their sums are 0 and their levels those of the hour before.
func (v *View) Hours(ns *Namespace, from int64, fn func(h *Hour) bool) error {
	return v.scan(seriesKey(ns.Number, max(from, 0)), upper(nsKey(kindSeries, ns.Number)), func(k, val []byte) (bool, error) {
		h := &Hour{Start: int64(u32At(k, 5)) * hour}
		if err := h.decode(val); err != nil {
			return false, err
		}
		return fn(h), nil
	})
}
