package consensus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/oklog/ulid/v2"
)

const nodeIDFile = "node-id"

// nodeID returns the id stored in dir. Without one it stores want, or a new
// ULID when want is empty. It fails when both exist and differ.
func nodeID(fsys vfs.FS, dir, want string) (string, error) {
	path := fsys.PathJoin(dir, nodeIDFile)
	stored, err := readNodeID(fsys, path)
	switch {
	case err == nil && (want == "" || want == stored):
		return stored, nil
	case err == nil:
		return "", fmt.Errorf("node id: %s belongs to node %s, not %s", dir, stored, want)
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("node id: %w", err)
	}
	if want == "" {
		want = ulid.Make().String()
	}
	if _, err := ulid.ParseStrict(want); err != nil {
		return "", fmt.Errorf("node id %q: %w", want, err)
	}
	return want, writeFileAtomic(fsys, dir, nodeIDFile, []byte(want+"\n"))
}

func readNodeID(fsys vfs.FS, path string) (string, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if _, err := ulid.ParseStrict(id); err != nil {
		return "", fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
	}
	return id, nil
}

// writeFileAtomic writes dir/name so that after a crash it has the old content
// or all of data.
func writeFileAtomic(fsys vfs.FS, dir, name string, data []byte) error {
	tmp := fsys.PathJoin(dir, name+".tmp")
	f, err := fsys.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(append([]byte(nil), data...))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := fsys.Rename(tmp, fsys.PathJoin(dir, name)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncDir(fsys, dir)
}

// makeDir creates dir and its parents so that they survive a crash: a new
// folder exists for good only once its parent has been synced.
func makeDir(fsys vfs.FS, dir string) error {
	if _, err := fsys.Stat(dir); err == nil {
		return nil
	}
	parent := fsys.PathDir(dir)
	if parent != dir {
		if err := makeDir(fsys, parent); err != nil {
			return err
		}
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	return syncDir(fsys, parent)
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return errors.Join(d.Sync(), d.Close())
}
