package consensus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/hashicorp/raft"
)

// Raft's leader sends an entry to its followers only when its own log store has
// returned, so that a write costs two syncs one after the other. The store of a
// leader therefore returns while its sync is still under way, and the two
// overlap (Raft dissertation 10.2.1). Raft then counts the leader's copy a
// little too early. Three rules keep that from showing:
//
//   - the runner applies an entry, and so acknowledges it, once it is on this
//     node's own disk (awaitDurable);
//   - a leader tells nobody of a commit index above what is on its own disk
//     (committed): otherwise a follower could apply an entry of which, were
//     the leader to crash, it would have the only copy;
//   - a node waits for its own syncs before it looks at entries of another
//     leader (flush), because raft acknowledges those that it finds in its log
//     without storing them again.
//
// A second batch returns once the first one is on disk, so that entries still
// gather into batches while the disk works. Entries that change the members
// never run ahead: raft lets the next change in when one is committed.

// mayRunAhead reports whether entries may be stored without waiting.
func (s *logStore) mayRunAhead(entries []*raft.Log) bool {
	if s.ahead == nil || s.broken == mutationNoSync || !s.ahead() {
		return false
	}
	for _, e := range entries {
		if e.Type == raft.LogConfiguration {
			return false
		}
	}
	return true
}

// aheadBatch is a batch whose sync is under way.
type aheadBatch struct {
	first uint64 // index of its first entry
	done  chan struct{}
	err   error // of the sync; valid once done is closed
}

// appendAhead writes batch, whose first entry is first, calls stored, and
// returns when every batch before it is on disk. It closes batch.
func (s *logStore) appendAhead(batch *pebble.Batch, first uint64, stored func()) error {
	start := s.beginSync()
	if err := s.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		s.endSync(start)
		return errors.Join(err, batch.Close())
	}
	b := &aheadBatch{first: first, done: make(chan struct{})}
	s.aheadMu.Lock()
	before := slices.Clone(s.underWay)
	s.underWay = append(s.underWay, b)
	s.aheadMu.Unlock()
	go func() {
		defer close(b.done)
		err := batch.SyncWait()
		s.endSync(start)
		if err = errors.Join(err, batch.Close()); err != nil {
			b.err = fmt.Errorf("sync log entries from %d: %w", first, err)
			s.onFatal(b.err) // b stays under way: nobody may take it for durable
			return
		}
		s.aheadMu.Lock()
		defer s.aheadMu.Unlock()
		s.underWay = slices.DeleteFunc(s.underWay, func(o *aheadBatch) bool { return o == b })
	}()
	stored()
	for _, b := range before {
		<-b.done
	}
	return nil
}

// flush returns when everything that was stored before is on disk.
func (s *logStore) flush() { _ = s.awaitDurable(math.MaxUint64) }

// awaitDurable returns when the entries up to index are on disk, or the error
// that ends this node.
func (s *logStore) awaitDurable(index uint64) error {
	s.aheadMu.Lock()
	batches := slices.Clone(s.underWay)
	s.aheadMu.Unlock()
	for _, b := range batches {
		if b.first > index {
			continue
		}
		if <-b.done; b.err != nil {
			return b.err
		}
	}
	return nil
}

// committed is how far a commit index may be told to others.
func (s *logStore) committed(index uint64) uint64 {
	if s.broken == mutationTellEarly {
		return index
	}
	s.aheadMu.Lock()
	defer s.aheadMu.Unlock()
	for _, b := range s.underWay {
		index = min(index, b.first-1)
	}
	return index
}

// beginSync and endSync stand around every wait for the disk.
func (s *logStore) beginSync() time.Time {
	start := time.Now()
	if s.syncing.Add(1) == 1 {
		s.syncSince.Store(start.UnixNano())
	}
	return start
}

func (s *logStore) endSync(start time.Time) {
	s.syncSince.Store(time.Now().UnixNano())
	s.syncing.Add(-1)
	s.metrics.syncSeconds.Observe(time.Since(start).Seconds())
}
