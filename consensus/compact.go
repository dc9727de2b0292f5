package consensus

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// Compact makes the state durable and compacts the log now, instead of at the
// next look at SnapshotEntries. It does nothing when nothing was applied since
// the last time. It is safe at any time on any node.
func (g *Group) Compact() error {
	if err := g.enter(); err != nil {
		return err
	}
	defer g.leave()
	err := g.inst.Load().raft.Snapshot().Error()
	if err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return fmt.Errorf("compact the log: %w", err)
	}
	return nil
}

// Log is a log store by itself.
type Log interface {
	raft.LogStore
	io.Closer
}

// OpenLog opens the log store in dir without a group, or creates it. It is for
// tools and measurements: a log that a group uses must not be opened twice, and
// the lock of its folder refuses that. A disk error ends the process.
func OpenLog(dir string, logger *slog.Logger) (Log, error) {
	return openLogStore(dir, vfs.Default, pebbleLogger{out: logger, onFatal: func(err error) {
		logger.Error("the log cannot go on; the process ends", "error", err)
		os.Exit(1)
	}}, newMetrics())
}
