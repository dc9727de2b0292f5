package consensus

import "github.com/hashicorp/raft"

// The ring holds the newest entries so that replication and apply do not read
// them back from disk.
const (
	ringEntries  = 4096
	ringMaxBytes = 32 << 20
)

// logRing is a window of contiguous entries that ends at the log's last one.
// It is guarded by the mutex of the store that owns it.
type logRing struct {
	slots []*raft.Log
	first uint64 // index of the oldest entry held; 0 when empty
	last  uint64
	bytes int
}

func (r *logRing) slot(index uint64) **raft.Log { return &r.slots[index%uint64(len(r.slots))] }

// push appends e. Anything that does not continue the window restarts it.
func (r *logRing) push(e *raft.Log) {
	if r.slots == nil {
		r.slots = make([]*raft.Log, ringEntries)
	}
	if r.first == 0 || e.Index != r.last+1 {
		r.clear()
		r.first = e.Index
	} else if r.last-r.first+1 == ringEntries {
		r.dropFirst()
	}
	*r.slot(e.Index) = e
	r.last = e.Index
	r.bytes += entryBytes(e)
	for r.bytes > ringMaxBytes && r.first < r.last {
		r.dropFirst()
	}
}

func (r *logRing) get(index uint64) *raft.Log {
	if r.first == 0 || index < r.first || index > r.last {
		return nil
	}
	return *r.slot(index)
}

func (r *logRing) dropFirst() {
	s := r.slot(r.first)
	r.bytes -= entryBytes(*s)
	*s = nil
	r.first++
}

// deleteRange forgets the entries of [minIndex, maxIndex]. What would leave a
// hole empties the window.
func (r *logRing) deleteRange(minIndex, maxIndex uint64) {
	switch {
	case r.first == 0 || maxIndex < r.first || minIndex > r.last:
	case minIndex <= r.first && maxIndex < r.last:
		for r.first <= maxIndex {
			r.dropFirst()
		}
	case minIndex > r.first && maxIndex >= r.last:
		for r.last >= minIndex {
			s := r.slot(r.last)
			r.bytes -= entryBytes(*s)
			*s = nil
			r.last--
		}
	default:
		r.clear()
	}
}

func (r *logRing) clear() {
	clear(r.slots)
	r.first, r.last, r.bytes = 0, 0, 0
}

func entryBytes(e *raft.Log) int { return len(e.Data) + len(e.Extensions) }
