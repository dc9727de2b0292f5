package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Errors that end a node: the state cannot be used, or cannot be carried on.
var (
	// ErrNewerFormat means the folder was written by a newer version of Cairn.
	ErrNewerFormat = errors.New("state was written by a newer version")
	// ErrUnknownCommand means the log holds a command this version cannot apply.
	ErrUnknownCommand = errors.New("unknown command")
	// ErrHalted means an earlier error stopped apply for good.
	ErrHalted = errors.New("apply is halted")
	// ErrClosed means the store was closed.
	ErrClosed = errors.New("store is closed")
)

const currentFile = "CURRENT"

var (
	metaFormat  = []byte("format")
	metaApplied = []byte("applied")
	metaSite    = []byte("site")
)

// applied is the state machine's own position.
type applied struct {
	Index uint64   `cbor:"1,keyasint"`
	Term  uint64   `cbor:"2,keyasint"`
	Now   int64    `cbor:"3,keyasint"` // Unix ms, monotonic
	Hash  [32]byte `cbor:"4,keyasint"` // chained over the writes of every command
}

// generation is one Pebble database of the state. A snapshot install replaces it; readers keep the old one open.
type generation struct {
	number int
	dir    string
	db     *pebble.DB
	refs   atomic.Int64
	old    atomic.Bool
	log    *slog.Logger
	hot    *hotValues // for Apply alone
}

func (g *generation) release() {
	if g.refs.Add(-1) != 0 {
		return
	}
	if err := g.db.Close(); err != nil {
		g.log.Error("close state", "generation", g.number, "error", err)
	}
	if g.old.Load() {
		if err := os.RemoveAll(g.dir); err != nil {
			g.log.Error("remove old state", "generation", g.number, "error", err)
		}
	}
}

// Store is the replicated state on one node. It implements the state machine that package consensus drives.
type Store struct {
	dir string
	log *slog.Logger

	mu   sync.RWMutex // guards gen, pos, halt, wake; never held during I/O other than opening a snapshot
	gen  *generation
	pos  applied
	halt error
	wake chan struct{} // closed and replaced after each batch
}

// Open opens or creates the state below dir (dir/gen-N, dir/CURRENT). log may not be nil.
func Open(dir string, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	number, exists, err := currentGeneration(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, log: log, wake: make(chan struct{})}
	gen, pos, err := s.openGeneration(number, !exists)
	if err != nil {
		return nil, err
	}
	s.gen, s.pos = gen, pos
	if err := errors.Join(writeCurrent(dir, number), syncDir(filepath.Dir(dir))); err != nil {
		return nil, errors.Join(err, gen.db.Close())
	}
	s.removeStale(number)
	return s, nil
}

// currentGeneration reads which generation stands; 1 in a new folder. A generation that is named but gone is an error: an
// empty state in its place would be taken for the real one.
func currentGeneration(dir string) (number int, exists bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, currentFile))
	if errors.Is(err, os.ErrNotExist) {
		return 1, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("open state: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(string(data)), "gen-"))
	if err != nil || n < 1 {
		return 0, false, fmt.Errorf("open state: %s is damaged; restore it by hand (gen-N of the newest complete folder) or restore a backup", currentFile)
	}
	if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("gen-%d", n))); err != nil {
		return 0, false, fmt.Errorf("open state: %s names gen-%d, which cannot be read; restore a backup: %w", currentFile, n, err)
	}
	return n, true, nil
}

// writeCurrent switches generations: the rename is the moment.
func writeCurrent(dir string, number int) error {
	tmp := filepath.Join(dir, currentFile+".tmp")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("switch state: %w", err)
	}
	_, werr := fmt.Fprintf(f, "gen-%d\n", number)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("switch state: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, currentFile)); err != nil {
		return fmt.Errorf("switch state: %w", err)
	}
	return syncDir(dir)
}

// copyState copies the files of a checkpoint: tables never change and are linked where the file system can.
func copyState(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if filepath.Ext(e.Name()) == ".sst" && os.Link(source, target) == nil {
			continue
		}
		if err := copyFile(source, target); err != nil {
			return err
		}
	}
	return syncDir(to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", filepath.Base(dir), err)
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Store) genDir(number int) string { return filepath.Join(s.dir, fmt.Sprintf("gen-%d", number)) }

// openGeneration opens a database; create allows a new one.
func (s *Store) openGeneration(number int, create bool) (*generation, applied, error) {
	dir := s.genDir(number)
	if !create {
		if d, err := pebble.Peek(dir, vfs.Default); err != nil || !d.Exists {
			return nil, applied{}, fmt.Errorf("open state %s: there is no database: %w", filepath.Base(dir), errors.Join(err, os.ErrNotExist))
		}
	}
	gen, pos, err := s.openDatabase(number, dir, s.options(), create)
	if err != nil {
		return nil, applied{}, fmt.Errorf("open state %s: %w", filepath.Base(dir), err)
	}
	return gen, pos, nil
}

func (s *Store) openDatabase(number int, dir string, o *pebble.Options, create bool) (*generation, applied, error) {
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, applied{}, err
	}
	pos, err := readPosition(db, create)
	if err != nil {
		return nil, applied{}, errors.Join(err, db.Close())
	}
	g := &generation{number: number, dir: dir, db: db, log: s.log, hot: newHotValues()}
	g.refs.Store(1)
	return g, pos, nil
}

func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		Logger:       pebbleLogger{s.log},
		MemTableSize: 16 << 20, // Pebble reserves about as much disk for each of several WAL files
		// Pebble takes its tables in memory out of the cache: of 32 MiB nothing was left for blocks, and 30,000 outcomes read
		// 456,000 blocks again (11,000 with 64 MiB).
		CacheSize: 96 << 20,
		// Two cores are shared with the encoders; compaction of a mostly small state needs no more.
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
	}
	// Many look-ups of apply are of keys that are new: a filter spares the search of every table for them.
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

func readPosition(db *pebble.DB, create bool) (applied, error) {
	data, closer, err := db.Get(key(kindMeta).str(string(metaFormat)))
	if errors.Is(err, pebble.ErrNotFound) && !create {
		return applied{}, errors.New("this is not a state of Cairn: it has no format")
	}
	if errors.Is(err, pebble.ErrNotFound) {
		return applied{}, db.Set(key(kindMeta).str(string(metaFormat)), []byte{FormatVersion}, pebble.Sync)
	}
	if err != nil {
		return applied{}, err
	}
	version := byte(0)
	if len(data) > 0 {
		version = data[0]
	}
	if err := closer.Close(); err != nil {
		return applied{}, err
	}
	if version == 0 {
		return applied{}, errors.New("the state's format is damaged")
	}
	if version > FormatVersion {
		return applied{}, fmt.Errorf("%w: format %d, this version reads up to %d", ErrNewerFormat, version, FormatVersion)
	}
	data, closer, err = db.Get(key(kindMeta).str(string(metaApplied)))
	if errors.Is(err, pebble.ErrNotFound) {
		return applied{}, nil
	}
	if err != nil {
		return applied{}, err
	}
	var pos applied
	return pos, errors.Join(decodeValue(data, &pos), closer.Close())
}

// removeStale deletes generations that an earlier process left behind.
func (s *Store) removeStale(keep int) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.log.Warn("list state folder", "error", err)
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "gen-") && e.Name() != fmt.Sprintf("gen-%d", keep) {
			if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
				s.log.Warn("remove stale state", "folder", e.Name(), "error", err)
			}
		}
	}
}

// Close waits for nothing: views that are open keep their database until they are closed.
func (s *Store) Close() error {
	s.mu.Lock()
	gen := s.gen
	s.gen = nil
	s.mu.Unlock()
	if gen == nil {
		return nil
	}
	var err error
	if s.Halted() == nil {
		err = gen.db.LogData(nil, pebble.Sync)
	}
	gen.release()
	return err
}

// Applied returns the index and term of the last applied entry.
func (s *Store) Applied() (index, term uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pos.Index, s.pos.Term
}

// Hash is the state hash at the applied index, chained over the writes of every command: equal logs give equal hashes,
// however they were cut into batches.
func (s *Store) Hash() (index uint64, hash [32]byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pos.Index, s.pos.Hash
}

// Now is the state machine's time in Unix milliseconds.
func (s *Store) Now() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pos.Now
}

// Halted returns the error that stopped apply, or nil.
func (s *Store) Halted() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.halt
}

// Changed returns a channel that is closed after the next batch.
func (s *Store) Changed() <-chan struct{} {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.wake
}

// Wait blocks until index is applied.
func (s *Store) Wait(ctx context.Context, index uint64) error {
	for {
		changed := s.Changed()
		if at, _ := s.Applied(); at >= index {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// MakeDurable puts everything applied so far on disk.
func (s *Store) MakeDurable() error {
	gen, err := s.acquire()
	if err != nil {
		return err
	}
	defer gen.release()
	if err := gen.db.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("make state durable: %w", err)
	}
	return nil
}

// Flush brings what the database holds in memory into tables, which a checkpoint links.
func (s *Store) Flush() error {
	gen, err := s.acquire()
	if err != nil {
		return err
	}
	defer gen.release()
	if err := gen.db.Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Checkpoint writes a consistent copy of the state into the new folder dir.
func (s *Store) Checkpoint(dir string) error {
	gen, err := s.acquire()
	if err != nil {
		return err
	}
	defer gen.release()
	if err := gen.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// Install replaces the state by a copy of the database in dir, which the caller verified and which stays as it is.
// Readers of the old state keep it until they close.
func (s *Store) Install(dir string) error {
	s.mu.RLock()
	if s.gen == nil {
		s.mu.RUnlock()
		return ErrClosed
	}
	number := s.gen.number + 1
	s.mu.RUnlock()
	if s.dir == "" {
		return fmt.Errorf("install state: %w", errMemory)
	}
	if err := os.RemoveAll(s.genDir(number)); err != nil {
		return fmt.Errorf("install state: %w", err)
	}
	if err := copyState(dir, s.genDir(number)); err != nil {
		return errors.Join(fmt.Errorf("install state: %w", err), os.RemoveAll(s.genDir(number)))
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	gen, pos, err := s.openGeneration(number, false)
	if err != nil {
		return errors.Join(fmt.Errorf("install state: %w", err), os.RemoveAll(s.genDir(number)))
	}
	if err := writeCurrent(s.dir, number); err != nil {
		return errors.Join(err, gen.db.Close())
	}
	s.mu.Lock()
	old := s.gen
	if old == nil {
		s.mu.Unlock()
		return errors.Join(ErrClosed, gen.db.Close())
	}
	s.gen, s.pos = gen, pos
	close(s.wake)
	s.wake = make(chan struct{})
	s.mu.Unlock()
	old.old.Store(true)
	old.release()
	return nil
}

// Generation counts the installs: state derived from an older one must be rebuilt.
func (s *Store) Generation() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gen == nil {
		return 0
	}
	return s.gen.number
}

// Metrics of the database, for the operator.
func (s *Store) Metrics() *pebble.Metrics {
	gen, err := s.acquire()
	if err != nil {
		return nil
	}
	defer gen.release()
	return gen.db.Metrics()
}

func (s *Store) acquire() (*generation, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gen == nil {
		return nil, ErrClosed
	}
	s.gen.refs.Add(1)
	return s.gen, nil
}

// pebbleLogger keeps Pebble's routine messages out of the log and never swallows a fatal one.
type pebbleLogger struct{ log *slog.Logger }

func (l pebbleLogger) Infof(format string, args ...any) {
	l.log.Debug("pebble", "message", fmt.Sprintf(format, args...))
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("pebble", "message", fmt.Sprintf(format, args...))
}

// Fatalf ends the process: Pebble calls it when it cannot go on without losing data.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.log.Error("pebble: fatal", "message", fmt.Sprintf(format, args...))
	os.Exit(1)
}

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func bigEndian(b []byte) uint64 { return binary.BigEndian.Uint64(b) }
