package consensus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// runner feeds committed entries to the state machine. It implements
// raft.BatchingFSM. Raft calls it from one goroutine at a time.
type runner struct {
	sm      StateMachine
	log     *slog.Logger
	metrics *metrics
	snaps   *snapshotStore
	waits   waitList
	// hashes is empty when the state machine is no StateHasher.
	hasher StateHasher
	hashes hashLog
	// onMembers is called when an entry that changes the members is applied.
	onMembers func()
	// installer puts received files in place, restorer does what a restore
	// entry says.
	installer func(*snapshotRecord) error
	restorer  func(*raft.Log) ([]byte, error)
	// onDisk waits until this node's log has an index on disk; nil without one.
	onDisk func(uint64) error
	broken mutation

	applied atomic.Uint64
	term    atomic.Uint64 // term of the last entry applied
	newest  atomic.Int64  // largest stamp applied since the start, Unix ms
	halted  atomic.Pointer[haltError]

	mu sync.Mutex // held while the state machine applies, installs or is copied
}

// format is the version of the state, 0 when it has none.
func (r *runner) format() int {
	if f, ok := r.sm.(StateFormatter); ok {
		return f.StateFormat()
	}
	return 0
}

type haltError struct{ err error }

// applyResult is what runner answers to raft for one entry.
type applyResult struct {
	value []byte
	term  uint64
	err   error
}

// errAppliedBefore answers an entry whose effects the state already had.
var errAppliedBefore = fmt.Errorf("applied before: %w", ErrOutcomeUnknown)

func newRunner(sm StateMachine, log *slog.Logger, m *metrics, snaps *snapshotStore) *runner {
	r := &runner{sm: sm, log: log, metrics: m, snaps: snaps, onMembers: func() {}}
	r.hasher, _ = sm.(StateHasher)
	r.refresh()
	return r
}

// refresh takes over the index that the state machine has.
func (r *runner) refresh() {
	index, term := r.sm.Applied()
	r.applied.Store(index)
	r.term.Store(term)
	r.waits.advance(index)
}

// Apply implements raft.FSM.
func (r *runner) Apply(entry *raft.Log) any { return r.ApplyBatch([]*raft.Log{entry})[0] }

// ApplyBatch implements raft.BatchingFSM: one call of the state machine for
// every run of entries without a gap in one term.
func (r *runner) ApplyBatch(entries []*raft.Log) []any {
	if r.onDisk != nil && r.broken != mutationApplyEarly {
		if err := r.onDisk(entries[len(entries)-1].Index); err != nil {
			r.halt(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	results := make([]any, len(entries))
	for start := 0; start < len(entries); {
		if entries[start].Index <= r.applied.Load() && r.broken != mutationNoSkip {
			results[start] = applyResult{err: errAppliedBefore}
			start++
			continue
		}
		end := start + 1
		for end < len(entries) && continues(entries[end-1], entries[end]) {
			end++
		}
		r.noteHashLocked(entries[start].Index)
		r.applyRunLocked(entries[start:end], results[start:end])
		start = end
	}
	return results
}

// continues reports whether next goes to the state machine in one call with
// prev. A call never crosses a boundary at which the state's hash is noted.
// An entry that the group itself interprets stands alone.
func continues(prev, next *raft.Log) bool {
	return next.Index == prev.Index+1 && next.Term == prev.Term && prev.Index%hashEvery != 0 &&
		len(prev.Extensions) == 0 && len(next.Extensions) == 0
}

// noteHashLocked notes the state's hash when next is the first entry after a
// boundary.
func (r *runner) noteHashLocked(next uint64) {
	boundary := (next - 1) / hashEvery * hashEvery
	if r.hasher == nil || boundary == 0 || boundary < r.applied.Load() || r.halted.Load() != nil {
		return
	}
	r.hashes.note(boundary, r.hasher.StateHash())
}

func (r *runner) applyRunLocked(run []*raft.Log, results []any) {
	if h := r.halted.Load(); h != nil {
		fill(results, h.err)
		return
	}
	times := make([]int64, len(run))
	commands := make([][]byte, len(run))
	for i, e := range run {
		if !e.AppendedAt.IsZero() {
			times[i] = e.AppendedAt.UnixMilli()
		}
		switch {
		case e.Type == raft.LogConfiguration:
			r.onMembers()
		case e.Type == raft.LogCommand && len(e.Data) > 0:
			commands[i] = e.Data
		}
	}
	start := time.Now()
	values, err := r.callLocked(run, times, commands)
	r.metrics.applySeconds.Observe(time.Since(start).Seconds())
	r.metrics.applyEntries.Observe(float64(len(run)))
	last := run[len(run)-1]
	if err == nil && len(values) != len(run) {
		err = fmt.Errorf("%d results for %d commands", len(values), len(run))
	}
	if err != nil {
		r.haltLocked(fmt.Errorf("apply entries %d to %d: %w", run[0].Index, last.Index, err))
		fill(results, r.halted.Load().err)
		return
	}
	for i := range run {
		results[i] = applyResult{value: values[i], term: last.Term}
		r.newest.Store(max(r.newest.Load(), times[i]))
	}
	r.term.Store(last.Term)
	r.applied.Store(last.Index)
	r.waits.advance(last.Index)
}

func (r *runner) callLocked(run []*raft.Log, times []int64, commands [][]byte) ([][]byte, error) {
	if bytes.Equal(run[0].Extensions, controlRestore) {
		value, err := r.restorer(run[0])
		return [][]byte{value}, err
	}
	if len(run[0].Extensions) > 0 {
		return nil, fmt.Errorf("entry of unknown kind %x: a newer version is needed", run[0].Extensions)
	}
	return r.sm.Apply(run[0].Index, run[0].Term, times, commands)
}

func fill(results []any, err error) {
	for i := range results {
		results[i] = applyResult{err: err}
	}
}

// halt stops apply for good, from any goroutine.
func (r *runner) halt(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.haltLocked(err)
}

// haltLocked stops apply for good. The first reason stays.
func (r *runner) haltLocked(err error) {
	h := &haltError{err: fmt.Errorf("%w: %w", ErrHalted, err)}
	if !r.halted.CompareAndSwap(nil, h) {
		return
	}
	r.metrics.halted.Set(1)
	r.log.Error("apply is halted on this node; an operator has to act", "error", err)
	r.waits.fail(h.err)
}

// haltReason is nil while entries are applied.
func (r *runner) haltReason() error {
	if h := r.halted.Load(); h != nil {
		return h.err
	}
	return nil
}

// Snapshot implements raft.FSM. The state is its own snapshot, so there is
// nothing to capture: everything raft has handed over is applied by now.
func (r *runner) Snapshot() (raft.FSMSnapshot, error) {
	if err := r.haltReason(); err != nil {
		return nil, err
	}
	return thinSnapshot{r}, nil
}

// Restore implements raft.FSM: it installs the files that were received for
// the snapshot that raft has just stored.
func (r *runner) Restore(source io.ReadCloser) error {
	record := r.snaps.latest()
	if record == nil {
		return errors.Join(errors.New("restore: no snapshot is stored"), source.Close())
	}
	return errors.Join(r.installer(record), source.Close())
}

// thinSnapshot makes the state durable and stores no data.
type thinSnapshot struct{ r *runner }

// Persist implements raft.FSMSnapshot.
func (t thinSnapshot) Persist(sink raft.SnapshotSink) error {
	s, ok := sink.(*snapshotSink)
	if !ok {
		return fmt.Errorf("persist snapshot %s: unknown sink %T", sink.ID(), sink)
	}
	index, _ := t.r.sm.Applied()
	if index < s.record.Index {
		return fmt.Errorf("persist snapshot %s: state has only index %d", sink.ID(), index)
	}
	if err := t.r.sm.MakeDurable(); err != nil {
		return fmt.Errorf("persist snapshot %s: make state durable: %w", sink.ID(), err)
	}
	s.record.StateIndex = index
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (t thinSnapshot) Release() {}
