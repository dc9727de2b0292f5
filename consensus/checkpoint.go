package consensus

import (
	"errors"
	"fmt"
	"time"
)

// checkpoint is a temporary copy of the state.
type checkpoint struct {
	dir      string
	manifest Manifest
	remove   func() error
}

// takeCheckpoint copies the state into a new folder named ticket and lists its
// files, without their sums. The caller removes it. Apply waits while the state
// machine makes the copy, which for Pebble means links and a copy of the newest
// write-ahead log.
func (g *Group) takeCheckpoint(ticket string) (*checkpoint, error) {
	parent := g.cfg.fs.PathJoin(g.cfg.Dir, "outgoing")
	if err := makeDir(g.cfg.fs, parent); err != nil {
		return nil, err
	}
	c := &checkpoint{dir: g.cfg.fs.PathJoin(parent, ticket)}
	c.remove = func() error { return g.cfg.fs.RemoveAll(c.dir) }
	var err error
	if f, ok := g.run.sm.(Flusher); ok {
		err = f.Flush() // while entries are applied
	}
	if err == nil {
		err = g.run.checkpoint(c)
	}
	if err == nil {
		c.manifest.Files, err = listDir(g.cfg.fs, c.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the state: %w", err), c.remove())
	}
	return c, nil
}

// checkpoint lets the state machine write its copy into c.dir.
func (r *runner) checkpoint(c *checkpoint) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.halted.Load(); h != nil {
		return h.err
	}
	if err := r.sm.Checkpoint(c.dir); err != nil {
		return err
	}
	index, term := r.sm.Applied()
	c.manifest = Manifest{
		Format: archiveFormat, StateFormat: r.format(), Index: index, Term: term, CreatedMs: time.Now().UnixMilli(),
	}
	return nil
}

// removeOutgoing drops copies that a crash left behind.
func (g *Group) removeOutgoing() error {
	return g.cfg.fs.RemoveAll(g.cfg.fs.PathJoin(g.cfg.Dir, "outgoing"))
}
