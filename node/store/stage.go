package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// stage holds what the commands of one batch wrote, so that a key which many of them write (counters, the records of an item
// in demand) reaches the database once. A scan needs the order of the database: it puts what is held into the batch first.
type stage struct {
	batch *pebble.Batch
	held  []staged
	byKey map[string]int

	// The workspace of the command before, emptied: the next one fills it.
	writes  []write
	written map[string]int
}

// staged is a write of an accepted command.
type staged struct {
	key, value []byte
	deleted    bool
}

func newStage(db *pebble.DB) *stage {
	return &stage{batch: db.NewIndexedBatch(), byKey: map[string]int{}, written: map[string]int{}}
}

// maxWorkspace is the number of writes up to which a workspace is used again: emptying a larger one costs more than it saves.
const maxWorkspace = 512

// keep takes back the workspace of a command that is done.
func (s *stage) keep(writes []write, written map[string]int) {
	if len(writes) > maxWorkspace {
		s.writes, s.written = nil, map[string]int{}
		return
	}
	clear(writes)
	clear(written)
	s.writes, s.written = writes[:0], written
}

// put takes over an accepted write.
func (s *stage) put(w write) {
	if i, ok := s.byKey[w.name]; ok {
		s.held[i] = staged{w.key, w.value, w.deleted}
		return
	}
	s.byKey[w.name] = len(s.held)
	s.held = append(s.held, staged{w.key, w.value, w.deleted})
}

// get returns a copy of what stands, nil for nothing.
func (s *stage) get(k []byte) ([]byte, error) {
	if i, ok := s.byKey[string(k)]; ok {
		return s.held[i].value, nil
	}
	v, closer, err := s.batch.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %x: %w", k, err)
	}
	out := append(make([]byte, 0, len(v)), v...)
	return out, closer.Close()
}

// scan opens an iterator over what stands in [lower, end).
func (s *stage) scan(lower, end []byte) (*pebble.Iterator, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	return s.batch.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: end})
}

// flush puts what is held into the batch.
func (s *stage) flush() error {
	for _, w := range s.held {
		var err error
		if w.deleted {
			err = s.batch.Delete(w.key, nil)
		} else {
			err = s.batch.Set(w.key, w.value, nil)
		}
		if err != nil {
			return fmt.Errorf("write %x: %w", w.key, err)
		}
	}
	clear(s.byKey)
	s.held = s.held[:0]
	return nil
}

// commit makes the batch the state, with the position that it leads to.
func (s *stage) commit(pos applied) error {
	value, err := encodeValue(pos)
	if err == nil {
		k := key(kindMeta).str(string(metaApplied))
		s.put(write{key: k, name: string(k), value: value})
		err = s.flush()
	}
	if err != nil {
		return errors.Join(err, s.batch.Close())
	}
	if err := s.batch.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("commit batch: %w", err)
	}
	return nil
}
