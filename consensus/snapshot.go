package consensus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hashicorp/raft"
)

// snapshotRecord is what is kept of the newest snapshot. The state itself is
// the data, so one small value in the log database is enough.
type snapshotRecord struct {
	Version            int    `json:"version"`
	Index              uint64 `json:"index"`
	Term               uint64 `json:"term"`
	Configuration      []byte `json:"configuration"` // raft.EncodeConfiguration
	ConfigurationIndex uint64 `json:"configuration_index"`
	// StateIndex is the highest index that the state may have without an entry
	// in the log. It is at least Index, and above it when the state was newer
	// than the snapshot that emptied the log.
	StateIndex uint64 `json:"state_index"`
	// Pending names the folder of received files that have not been installed
	// yet; empty when there are none.
	Pending string `json:"pending,omitempty"`
}

const snapshotRecordVersion = 1

func (r *snapshotRecord) id() string { return fmt.Sprintf("%d-%d", r.Term, r.Index) }

func (r *snapshotRecord) meta() *raft.SnapshotMeta {
	return &raft.SnapshotMeta{
		Version:            raft.SnapshotVersionMax,
		ID:                 r.id(),
		Index:              r.Index,
		Term:               r.Term,
		Configuration:      raft.DecodeConfiguration(r.Configuration),
		ConfigurationIndex: r.ConfigurationIndex,
		Size:               ticketBytes,
	}
}

// snapshotStore implements raft.SnapshotStore with at most one snapshot.
type snapshotStore struct {
	store    *logStore
	incoming *incoming
	// applied is the state's index.
	applied func() uint64

	mu     sync.Mutex
	record *snapshotRecord // nil when there is none; never changed in place
}

var _ raft.SnapshotStore = (*snapshotStore)(nil)

func openSnapshotStore(store *logStore, in *incoming) (*snapshotStore, error) {
	s := &snapshotStore{store: store, incoming: in, applied: func() uint64 { return 0 }}
	value, err := store.read([]byte{keySnapshot})
	if errors.Is(err, errNotFound) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read snapshot metadata: %w", err)
	}
	var record snapshotRecord
	if err := json.Unmarshal(value, &record); err != nil {
		return nil, fmt.Errorf("read snapshot metadata: %w: %w", ErrCorrupt, err)
	}
	if record.Version != snapshotRecordVersion {
		return nil, fmt.Errorf("read snapshot metadata: version %d is not supported", record.Version)
	}
	s.record = &record
	return s, nil
}

// latest is the newest snapshot, nil when there is none.
func (s *snapshotStore) latest() *snapshotRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record
}

// put stores record durably. A snapshot never replaces a newer one.
func (s *snapshotStore) put(record *snapshotRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.record != nil && record.Index < s.record.Index {
		return fmt.Errorf("store snapshot %s: %s is newer", record.id(), s.record.id())
	}
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("store snapshot %s: %w", record.id(), err)
	}
	if err := s.store.write([]byte{keySnapshot}, value); err != nil {
		return fmt.Errorf("store snapshot %s: %w", record.id(), err)
	}
	s.record = record
	return nil
}

// Create implements raft.SnapshotStore.
func (s *snapshotStore) Create(_ raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	return &snapshotSink{store: s, record: snapshotRecord{
		Version:            snapshotRecordVersion,
		Index:              index,
		Term:               term,
		Configuration:      raft.EncodeConfiguration(configuration),
		ConfigurationIndex: configurationIndex,
	}}, nil
}

// List implements raft.SnapshotStore.
func (s *snapshotStore) List() ([]*raft.SnapshotMeta, error) {
	record := s.latest()
	if record == nil {
		return nil, nil
	}
	return []*raft.SnapshotMeta{record.meta()}, nil
}

// Open implements raft.SnapshotStore. There is nothing to read: the transport
// sends the files of the present state, and to raft only the ticket of the copy
// that the follower has received.
func (s *snapshotStore) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	record := s.latest()
	if record == nil || record.id() != id {
		return nil, nil, fmt.Errorf("open snapshot %s: not found", id)
	}
	return record.meta(), io.NopCloser(strings.NewReader(noTicket)), nil
}

// snapshotSink collects one snapshot. It implements raft.SnapshotSink.
//
// A snapshot of the own state gets no data. One that a leader sends gets the
// ticket of the copy that came before it.
type snapshotSink struct {
	store  *snapshotStore
	record snapshotRecord
	ticket []byte
	done   bool
}

// ID implements raft.SnapshotSink.
func (s *snapshotSink) ID() string { return s.record.id() }

// Write implements raft.SnapshotSink.
func (s *snapshotSink) Write(p []byte) (int, error) {
	if len(s.ticket)+len(p) > ticketBytes {
		return 0, fmt.Errorf("write snapshot %s: more than a ticket", s.ID())
	}
	s.ticket = append(s.ticket, p...)
	return len(p), nil
}

// Close implements raft.SnapshotSink. The snapshot counts once it returns nil;
// later calls do nothing.
func (s *snapshotSink) Close() error {
	if s.done {
		return nil
	}
	s.done = true
	if ticket := string(s.ticket); ticket != "" && ticket != noTicket {
		m, err := s.store.incoming.manifest(ticket)
		if err != nil {
			return fmt.Errorf("store snapshot %s: %w", s.ID(), err)
		}
		if m.Index < s.record.Index {
			return fmt.Errorf("store snapshot %s: received state has only index %d: %w", s.ID(), m.Index, ErrCorrupt)
		}
		s.record.Pending = ticket
		s.record.StateIndex = m.Index
	}
	// Raft empties the log of a follower that gets a snapshot, also when the
	// state is further than the snapshot.
	s.record.StateIndex = max(s.record.StateIndex, s.record.Index, s.store.applied())
	return s.store.put(&s.record)
}

// Cancel implements raft.SnapshotSink.
func (s *snapshotSink) Cancel() error {
	s.done = true
	return nil
}
