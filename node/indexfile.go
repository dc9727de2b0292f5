package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"

	"cairn/index"
	"cairn/node/store"
)

const (
	indexFileEnding = ".cidx"
	// minFileDocs is the size from which a pool is kept in a file: smaller ones are made anew as fast as they are read.
	minFileDocs = 1000
	// saveChanges is how many log indexes pass before the pools are saved again while the node runs.
	saveChanges = 20000
	saveEvery   = 10 * time.Minute
)

// savedEntry is what a pool's file keeps of an entry: enough to see whether the document is still the one that stands.
type savedEntry struct {
	_        struct{} `cbor:",toarray"`
	ID       []byte
	Version  int
	Embedded int
	Hash     []byte
	Vectors  bool
}

// indexFiles keeps the search index across restarts. Files are a cache: whatever does not fit is made from the state again.
type indexFiles struct {
	dir   string
	epoch func() (string, error) // of the state: a file of another one is worthless
	least int                    // documents of a pool that is kept
	saved uint64                 // log index of the last files
}

func (x *indexFiles) path(key poolKey) string {
	return filepath.Join(x.dir, fmt.Sprintf("%d-%d%s", key.ns, key.owner, indexFileEnding))
}

func poolOfFile(name string) (key poolKey, ok bool) {
	rest, found := strings.CutSuffix(name, indexFileEnding)
	ns, owner, cut := strings.Cut(rest, "-")
	a, err1 := strconv.ParseUint(ns, 10, 32)
	b, err2 := strconv.ParseUint(owner, 10, 32)
	return poolKey{uint32(a), uint32(b)}, found && cut && err1 == nil && err2 == nil
}

// save writes the pools that are large enough and removes the files of others. Searches go on meanwhile.
func (x *indexFiles) save(f *follower) error {
	f.mu.RLock()
	at := f.at
	pools := maps.Clone(f.pools)
	f.mu.RUnlock()
	if at == x.saved {
		return nil
	}
	epoch, err := x.epoch()
	if err != nil {
		return fmt.Errorf("save index: %w", err)
	}
	var failed []error
	for k, p := range pools {
		if p.Len() < x.least {
			failed = append(failed, removeIfThere(x.path(k)))
			continue
		}
		failed = append(failed, p.SaveFile(x.path(k), index.Info{Generation: epoch, Watermark: at}, encodeEntry))
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("save index: %w", err)
	}
	x.saved = at
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func encodeEntry(meta any) ([]byte, error) {
	e := meta.(*entry)
	exp := e.state.Load().exp
	return cbor.Marshal(savedEntry{ID: exp.ID[:], Version: e.version, Embedded: e.embedded, Hash: exp.Hash[:], Vectors: e.vectors})
}

// load reads the files of this epoch into the follower. What they hold is not served before the state confirmed it. Files
// that cannot be used are removed.
func (x *indexFiles) load(f *follower, v *store.View) error {
	names, err := os.ReadDir(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	epoch, err := x.epoch()
	if err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	oldest, err := v.OldestChange()
	if err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	for _, d := range names {
		path := filepath.Join(x.dir, d.Name())
		key, ok := poolOfFile(d.Name())
		if !ok {
			continue
		}
		if err := x.loadPool(f, v, key, path, epoch, oldest); err != nil {
			f.log.Warn("an index file is not used; the pool is made anew", "file", path, "error", err)
			if err := removeIfThere(path); err != nil {
				return fmt.Errorf("load index: %w", err)
			}
		}
	}
	return nil
}

func (x *indexFiles) loadPool(f *follower, v *store.View, key poolKey, path, epoch string, oldest uint64) error {
	var entries []*entry
	pool, info, err := index.LoadFile(path, func(meta []byte) (any, error) {
		e, err := decodeEntry(meta, key)
		entries = append(entries, e)
		return e, err
	})
	switch {
	case err != nil:
		return err
	case info.Generation != epoch:
		return fmt.Errorf("it belongs to state %s, not %s", info.Generation, epoch)
	case info.Watermark < v.Index() && oldest > info.Watermark+1:
		return fmt.Errorf("the log of changes begins at %d, behind %d", oldest, info.Watermark)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pools[key] = pool
	for _, e := range entries {
		f.entries[e.saved.id] = e
	}
	// what changed since is read from the state again
	return v.Changes(info.Watermark, func(_ uint64, c *store.Change) bool {
		if e := f.entries[c.ID]; e != nil && e.pool == key {
			e.vectors = false
		}
		return true
	})
}

func decodeEntry(meta []byte, key poolKey) (*entry, error) {
	var s savedEntry
	e := &entry{pool: key}
	if err := cbor.Unmarshal(meta, &s); err != nil {
		return e, err
	}
	if len(s.ID) != len(e.saved.id) || len(s.Hash) != len(e.saved.hash) {
		return e, errors.New("an entry has no id")
	}
	e.version, e.embedded, e.vectors = s.Version, s.Embedded, s.Vectors
	copy(e.saved.id[:], s.ID)
	copy(e.saved.hash[:], s.Hash)
	return e, nil
}

// dropUnconfirmed removes what the files held and the state does not.
func (f *follower) dropUnconfirmed() {
	f.mu.RLock()
	var gone []*entry
	for _, e := range f.entries {
		if e.state.Load() == nil {
			gone = append(gone, e)
		}
	}
	f.mu.RUnlock()
	for _, e := range gone {
		f.forget(e.saved.id, e)
	}
}

// keep saves the index now and then, so that a crash costs little.
func (x *indexFiles) keep(ctx context.Context, f *follower) {
	t := time.NewTicker(saveEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		if f.watermark() < x.saved+saveChanges {
			continue
		}
		if err := x.save(f); err != nil {
			f.log.Error("save the search index", "error", err)
		}
	}
}

// saveIndex keeps the search index for the next start. Without it the start takes longer, so that a failure is only told.
func (n *Node) saveIndex() {
	if n.indexFiles == nil {
		return
	}
	if err := n.indexFiles.save(n.index); err != nil {
		n.log.Warn("save the search index", "error", err)
	}
}

// epochName names the history that the state belongs to: site, epoch and generation.
func (n *Node) epochName() (string, error) {
	v, err := n.store.View()
	if err != nil {
		return "", err
	}
	defer v.Close()
	site, err := v.Site()
	if err != nil {
		return "", err
	}
	if site == nil {
		return "", errors.New("the site is not formed")
	}
	return fmt.Sprintf("%s/%d/%d", site.ID, site.Epoch, n.store.Generation()), nil
}
