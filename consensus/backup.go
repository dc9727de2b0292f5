package consensus

import (
	"context"
	"fmt"
	"io"

	"github.com/oklog/ulid/v2"
)

// Backup writes a copy of this node's state to w, in the format of Manifest,
// while writes go on. site and epoch are kept in the manifest. The copy has
// everything that this node had applied when Backup was called; call Barrier
// first for everything acknowledged by the site. ctx is checked between writes.
func (g *Group) Backup(ctx context.Context, w io.Writer, site string, epoch uint64) (Manifest, error) {
	if err := g.enter(); err != nil {
		return Manifest{}, err
	}
	defer g.leave()
	c, err := g.takeCheckpoint(ulid.Make().String())
	if err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	defer func() {
		if err := c.remove(); err != nil {
			g.log.Warn("remove the copy made for a backup", "error", err)
		}
	}()
	c.manifest.Site, c.manifest.Epoch = site, epoch
	if err := addSums(g.cfg.fs, c.dir, c.manifest.Files); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	if err := writeArchive(contextWriter{ctx, w}, g.cfg.fs, c.dir, c.manifest); err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	return c.manifest, nil
}

type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// InspectBackup reads a whole backup, checks every sum and returns its
// manifest. Nothing is changed. Errors wrap ErrCorrupt when the backup is cut
// short, altered or followed by anything else.
func InspectBackup(r io.Reader) (Manifest, error) {
	a, err := openArchive(r)
	if err != nil {
		return Manifest{}, err
	}
	err = a.each(func(_ ManifestFile, copy func(io.Writer) error) error { return copy(io.Discard) })
	if err == nil {
		err = a.end()
	}
	if err != nil {
		return Manifest{}, err
	}
	return a.manifest, nil
}
