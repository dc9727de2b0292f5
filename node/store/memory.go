package store

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// memoryTable is the size up to which the tables of a state in memory grow before they are sorted away, bytes.
const memoryTable = 512 << 20

// OpenInMemory opens a new state that lives in memory alone and is gone after Close, for simulations: the same state machine
// on the same database, without a disk. One goroutine applies and reads; a view is of use until the next Apply. Install is
// not possible. log may not be nil.
func OpenInMemory(log *slog.Logger) (*Store, error) {
	s := &Store{log: log, wake: make(chan struct{})}
	o := s.options()
	o.FS, o.MemTableSize = vfs.NewMem(), memoryTable
	gen, pos, err := s.openDatabase(1, "state", o, true)
	if err != nil {
		return nil, fmt.Errorf("open state in memory: %w", err)
	}
	gen.hot = newCompleteValues()
	s.gen, s.pos = gen, pos
	return s, nil
}

// errMemory refuses what needs a folder.
var errMemory = errors.New("the state is in memory alone")
