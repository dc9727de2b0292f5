package consensus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// Keys of the log database. The first byte is the kind.
//
//	'f'                  version of the layout
//	'l' index (8 bytes)  log entry
//	's' name             raft's votes and term
//	'p'                  metadata of the newest snapshot
const (
	keyFormat   = 'f'
	keyEntry    = 'l'
	keyStable   = 's'
	keySnapshot = 'p'
)

// logFormat is the layout that this code writes and the newest it reads.
const logFormat = 1

// errNotFound is the text that raft compares with when a stable key is absent.
var errNotFound = errors.New("not found")

// logStore keeps raft's log and its votes in one Pebble database. It
// implements raft.LogStore, raft.StableStore and raft.MonotonicLogStore.
//
// StoreLogs and the stable setters return after a sync, but for entries of a
// leader (logahead.go). DeleteRange does not wait for its own: a range that
// reappears after a crash is covered by the snapshot or overwritten by the same
// leader, and the database's own log keeps the order of the two.
type logStore struct {
	db      *pebble.DB
	dir     string
	metrics *metrics
	broken  mutation
	onFatal func(error)

	// ahead reports whether this node leads, so that its entries may be sent
	// while they are synced. It is nil outside of a group.
	ahead    func() bool
	aheadMu  sync.Mutex
	underWay []*aheadBatch // those not on disk yet, in order; two at most

	// syncing counts the syncs under way and syncSince is when the first of
	// them began or the last one ended, in Unix nanoseconds. The stall watchdog
	// reads both.
	syncing   atomic.Int64
	syncSince atomic.Int64

	mu     sync.RWMutex // guards the fields below and the life of db
	closed bool
	first  uint64 // 0 when the log is empty
	last   uint64
	ring   logRing
}

var (
	_ raft.LogStore          = (*logStore)(nil)
	_ raft.StableStore       = (*logStore)(nil)
	_ raft.MonotonicLogStore = (*logStore)(nil)
)

// openLogStore opens or creates the database in dir and checks every entry.
// An error that wraps ErrCorrupt names the folder and the way back.
func openLogStore(dir string, fs vfs.FS, logger pebbleLogger, m *metrics) (*logStore, error) {
	opts := &pebble.Options{
		FS:                          fs,
		FormatMajorVersion:          pebble.FormatWALSyncChunks,
		MemTableSize:                64 << 20,
		MemTableStopWritesThreshold: 4,
		Logger:                      logger,
	}
	if err := makeDir(fs, dir); err != nil {
		return nil, fmt.Errorf("open raft log: %w", err)
	}
	db, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open raft log %s: %w; %s", dir, asCorrupt(err), wayBack)
	}
	s := &logStore{db: db, dir: dir, metrics: m, onFatal: logger.onFatal}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open raft log %s: %w", dir, err), db.Close())
	}
	return s, nil
}

// wayBack tells an operator what to do about a damaged folder.
const wayBack = "restore the node from a backup, or remove its data folder and let it join the site again"

func asCorrupt(err error) error {
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// load checks the format and reads every entry once: raft panics on an entry
// it cannot read, so damage has to be found before raft starts.
func (s *logStore) load() error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keyEntry}, UpperBound: []byte{keyEntry + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	for it.First(); it.Valid(); it.Next() {
		if err := s.loadEntry(it.Key(), it.Value()); err != nil {
			return fmt.Errorf("%w; %s", err, wayBack)
		}
	}
	if err := it.Error(); err != nil {
		return fmt.Errorf("%w; %s", asCorrupt(err), wayBack)
	}
	return nil
}

func (s *logStore) loadEntry(key, value []byte) error {
	if len(key) != 9 {
		return fmt.Errorf("log key %x: %w", key, ErrCorrupt)
	}
	index := binary.BigEndian.Uint64(key[1:])
	if s.last != 0 && index != s.last+1 {
		return fmt.Errorf("log entries %d to %d: %w: missing", s.last+1, index-1, ErrCorrupt)
	}
	e := new(raft.Log)
	if err := decodeEntry(index, value, e); err != nil {
		return err
	}
	if s.first == 0 {
		s.first = index
	}
	s.last = index
	s.ring.push(e)
	return nil
}

func (s *logStore) checkFormat() error {
	value, err := s.read([]byte{keyFormat})
	if errors.Is(err, errNotFound) {
		return s.db.Set([]byte{keyFormat}, binary.BigEndian.AppendUint32(nil, logFormat), s.writeOptions())
	}
	if err != nil {
		return err
	}
	if len(value) != 4 {
		return fmt.Errorf("format version: %w", ErrCorrupt)
	}
	if v := binary.BigEndian.Uint32(value); v != logFormat {
		return fmt.Errorf("format version %d is not supported, this build reads %d", v, logFormat)
	}
	return nil
}

// Close closes the database and waits for calls under way. Later calls fail
// with ErrClosed: goroutines of raft that nobody can wait for still arrive.
func (s *logStore) Close() error {
	s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.db.Close()
}

// IsMonotonic tells raft that this store has no gaps, so that raft empties the
// log after it has installed a snapshot. Wrappers must forward it.
func (s *logStore) IsMonotonic() bool { return s.broken != mutationHideMonotonic }

// FirstIndex implements raft.LogStore.
func (s *logStore) FirstIndex() (uint64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.first, s.openLocked()
}

// LastIndex implements raft.LogStore.
func (s *logStore) LastIndex() (uint64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.last, s.openLocked()
}

func (s *logStore) openLocked() error {
	if s.closed {
		return ErrClosed
	}
	return nil
}

// GetLog implements raft.LogStore. The data of the result is shared and must
// not be changed.
func (s *logStore) GetLog(index uint64, out *raft.Log) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if s.first == 0 || index < s.first || index > s.last {
		return raft.ErrLogNotFound
	}
	if e := s.ring.get(index); e != nil {
		*out = *e
		return nil
	}
	value, closer, err := s.db.Get(entryKey(index))
	if errors.Is(err, pebble.ErrNotFound) {
		return fmt.Errorf("log entry %d: %w: missing", index, ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("log entry %d: %w", index, asCorrupt(err))
	}
	err = decodeEntry(index, value, out)
	return errors.Join(err, closer.Close())
}

// StoreLog implements raft.LogStore.
func (s *logStore) StoreLog(e *raft.Log) error { return s.StoreLogs([]*raft.Log{e}) }

// StoreLogs implements raft.LogStore: one batch and one sync for all entries,
// which must continue the log without a gap. On a leader it may return before
// the sync has ended; see logahead.go.
func (s *logStore) StoreLogs(entries []*raft.Log) error {
	if len(entries) == 0 {
		return nil
	}
	s.mu.RLock()
	last, err := s.last, s.openLocked()
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	if err := checkContiguous(last, entries); err != nil {
		return err
	}
	if err := s.writeEntries(entries); err != nil {
		return fmt.Errorf("store log entries %d to %d: %w", entries[0].Index, entries[len(entries)-1].Index, err)
	}
	return nil
}

// note makes entries visible to readers.
func (s *logStore) note(entries []*raft.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 {
		s.first = entries[0].Index
	}
	s.last = entries[len(entries)-1].Index
	for _, e := range entries {
		kept := *e
		s.ring.push(&kept)
	}
}

func checkContiguous(last uint64, entries []*raft.Log) error {
	want := last + 1
	if last == 0 {
		want = entries[0].Index
	}
	for _, e := range entries {
		if e.Index != want || e.Index == 0 {
			return fmt.Errorf("store log entry %d: the log continues at %d", e.Index, want)
		}
		want++
	}
	return nil
}

func (s *logStore) writeEntries(entries []*raft.Log) error {
	size := 0
	for _, e := range entries {
		size += entryBytes(e) + 64
	}
	batch := s.db.NewBatchWithSize(size)
	var value []byte
	for _, e := range entries {
		value = appendEntry(value[:0], e)
		if err := batch.Set(entryKey(e.Index), value, nil); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	s.metrics.appendEntries.Observe(float64(len(entries)))
	if s.mayRunAhead(entries) {
		return s.appendAhead(batch, entries[0].Index, func() { s.note(entries) })
	}
	s.flush()
	if err := s.commit(batch); err != nil {
		return errors.Join(err, batch.Close())
	}
	s.note(entries)
	return batch.Close()
}

// commit writes batch and waits until it is on disk.
func (s *logStore) commit(batch *pebble.Batch) error {
	start := s.beginSync()
	err := batch.Commit(s.writeOptions())
	s.endSync(start)
	return err
}

func (s *logStore) writeOptions() *pebble.WriteOptions {
	if s.broken == mutationNoSync {
		return pebble.NoSync
	}
	return pebble.Sync
}

// stalledFor is how long syncs have been under way without one that ended.
func (s *logStore) stalledFor(now time.Time) time.Duration {
	if s.syncing.Load() == 0 {
		return 0
	}
	return now.Sub(time.Unix(0, s.syncSince.Load()))
}

// DeleteRange implements raft.LogStore with one range tombstone. The range is
// inclusive and must touch an end of the log; a hole is refused.
func (s *logStore) DeleteRange(minIndex, maxIndex uint64) error {
	s.flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	minIndex, maxIndex = max(minIndex, s.first), min(maxIndex, s.last)
	if s.first == 0 || minIndex > maxIndex {
		return nil
	}
	if minIndex > s.first && maxIndex < s.last {
		return fmt.Errorf("delete log entries %d to %d: would leave a hole in %d to %d", minIndex, maxIndex, s.first, s.last)
	}
	end := []byte{keyEntry + 1}
	if maxIndex < math.MaxUint64 {
		end = entryKey(maxIndex + 1)
	}
	if err := s.db.DeleteRange(entryKey(minIndex), end, pebble.NoSync); err != nil {
		return fmt.Errorf("delete log entries %d to %d: %w", minIndex, maxIndex, err)
	}
	s.ring.deleteRange(minIndex, maxIndex)
	switch {
	case minIndex == s.first && maxIndex == s.last:
		s.first, s.last = 0, 0
	case minIndex == s.first:
		s.first = maxIndex + 1
	default:
		s.last = minIndex - 1
	}
	return nil
}

func entryKey(index uint64) []byte {
	key := make([]byte, 9)
	key[0] = keyEntry
	binary.BigEndian.PutUint64(key[1:], index)
	return key
}
