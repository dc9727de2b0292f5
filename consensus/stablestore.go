package consensus

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// lastVoteTermKey is the first of the two values that raft stores for a vote.
const lastVoteTermKey = "LastVoteTerm"

// Set implements raft.StableStore. It returns after a sync, but for the term of
// a vote: raft stores the candidate right after it and counts the vote only
// then, and the database's log makes both durable with that one sync.
func (s *logStore) Set(key, value []byte) error {
	write := s.write
	if string(key) == lastVoteTermKey {
		write = s.writeSoon
	}
	if err := write(stableKey(key), value); err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// writeSoon stores one value that is on disk after the next sync.
func (s *logStore) writeSoon(key, value []byte) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	return s.db.Set(key, value, pebble.NoSync)
}

// Get implements raft.StableStore. The text of the error for an absent key is
// the one that raft looks for.
func (s *logStore) Get(key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	return s.read(stableKey(key))
}

// SetUint64 implements raft.StableStore.
func (s *logStore) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (s *logStore) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("stored %s: %w: %d bytes", key, ErrCorrupt, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

func stableKey(key []byte) []byte { return append([]byte{keyStable}, key...) }

// write stores one value and waits for the sync.
func (s *logStore) write(key, value []byte) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	batch := s.db.NewBatch()
	if err := batch.Set(key, value, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return errors.Join(s.commit(batch), batch.Close())
}

// read copies one value; an absent key is errNotFound.
func (s *logStore) read(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, asCorrupt(err)
	}
	value = append([]byte(nil), value...)
	return value, closer.Close()
}

// remove deletes one value and waits for the sync.
func (s *logStore) remove(key []byte) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	batch := s.db.NewBatch()
	if err := batch.Delete(key, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return errors.Join(s.commit(batch), batch.Close())
}
