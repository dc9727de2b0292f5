package clusterbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// kv is the state machine of a measured node: keys and values on Pebble, with the applied index in every batch. It
// implements consensus.StateMachine.
type kv struct {
	dir string

	mu    sync.RWMutex // held for writing while the database is replaced
	db    *pebble.DB
	gen   int
	index uint64
	term  uint64
}

// metaKey is below every key of a client, which start with clientPrefix.
var metaKey = []byte{0}

const clientPrefix = 'k'

// appendPut adds one value to a command. A command is any number of: the key's length in two bytes, the key, the value's
// length in four, the value.
func appendPut(command []byte, key string, value []byte) []byte {
	command = append(binary.BigEndian.AppendUint16(command, uint16(len(key))), key...)
	return append(binary.BigEndian.AppendUint32(command, uint32(len(value))), value...)
}

func putCommand(key string, value []byte) []byte {
	return appendPut(make([]byte, 0, 6+len(key)+len(value)), key, value)
}

// eachPut calls fn with every key and value of a command.
func eachPut(command []byte, fn func(key, value []byte) error) error {
	for len(command) > 0 {
		if len(command) < 2 {
			return errShort
		}
		n := 2 + int(binary.BigEndian.Uint16(command))
		if len(command) < n+4 {
			return errShort
		}
		end := n + 4 + int(binary.BigEndian.Uint32(command[n:]))
		if len(command) < end {
			return errShort
		}
		if err := fn(command[2:n], command[n+4:end]); err != nil {
			return err
		}
		command = command[end:]
	}
	return nil
}

var errShort = errors.New("command is too short")

func stateKey(key []byte) []byte { return append([]byte{clientPrefix}, key...) }

// openKV opens the newest generation in dir.
func openKV(dir string) (*kv, error) {
	s := &kv{dir: dir, gen: 1}
	if text, err := os.ReadFile(s.current()); err == nil {
		if s.gen, err = strconv.Atoi(string(text)); err != nil {
			return nil, fmt.Errorf("open state %s: %w", dir, err)
		}
	}
	return s, s.open()
}

func (s *kv) current() string { return filepath.Join(s.dir, "current") }

func (s *kv) genDir(gen int) string { return filepath.Join(s.dir, fmt.Sprintf("gen-%d", gen)) }

// kvOptions are the database's: a copy of it should mostly be links, so tables are written early.
func kvOptions() *pebble.Options {
	return &pebble.Options{FormatMajorVersion: pebble.FormatWALSyncChunks, MemTableSize: 16 << 20, Logger: quiet{}}
}

func (s *kv) open() error {
	if err := os.MkdirAll(s.genDir(s.gen), 0o700); err != nil {
		return err
	}
	db, err := pebble.Open(s.genDir(s.gen), kvOptions())
	if err != nil {
		return fmt.Errorf("open state: %w", err)
	}
	s.db, s.index, s.term = db, 0, 0
	value, closer, err := db.Get(metaKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open state: %w", err)
	}
	s.index, s.term = binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])
	return closer.Close()
}

// Apply implements consensus.StateMachine.
func (s *kv) Apply(firstIndex, term uint64, _ []int64, commands [][]byte) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 64
	for _, c := range commands {
		size += len(c) + 16
	}
	batch := s.db.NewBatchWithSize(size)
	defer batch.Close()
	for _, c := range commands {
		if err := eachPut(c, func(k, v []byte) error { return batch.Set(stateKey(k), v, nil) }); err != nil {
			return nil, fmt.Errorf("apply: %w", err)
		}
	}
	index := firstIndex + uint64(len(commands)) - 1
	meta := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, index), term)
	if err := errors.Join(batch.Set(metaKey, meta, nil), batch.Commit(pebble.NoSync)); err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	s.index, s.term = index, term
	return make([][]byte, len(commands)), nil
}

// Applied implements consensus.StateMachine.
func (s *kv) Applied() (index, term uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index, s.term
}

// MakeDurable implements consensus.StateMachine.
func (s *kv) MakeDurable() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db.LogData(nil, pebble.Sync)
}

// Flush implements consensus.Flusher.
func (s *kv) Flush() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db.Flush()
}

// Checkpoint implements consensus.StateMachine.
func (s *kv) Checkpoint(dir string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db.Checkpoint(dir, pebble.WithFlushedWAL())
}

// Install implements consensus.StateMachine.
func (s *kv) Install(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.gen + 1
	if err := os.RemoveAll(s.genDir(next)); err != nil {
		return err
	}
	if err := adopt(dir, s.genDir(next)); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if err := writeSynced(s.current(), []byte(strconv.Itoa(next))); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	old, oldDir := s.db, s.genDir(s.gen)
	s.gen = next
	if err := s.open(); err != nil {
		return err
	}
	return errors.Join(old.Close(), os.RemoveAll(oldDir))
}

// adopt makes target a database with the files of dir. Tables are never written again and are linked.
func adopt(dir, target string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		return err
	}
	isTable := func(path string) bool { return filepath.Ext(path) == ".sst" }
	if _, err := vfs.Clone(vfs.Default, vfs.Default, dir, target, vfs.CloneSync, vfs.CloneSkip(isTable)); err != nil {
		return err
	}
	for _, t := range tables {
		if err := os.Link(t, filepath.Join(target, filepath.Base(t))); err != nil {
			return err
		}
	}
	return syncDir(target)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeSynced replaces a file durably.
func writeSynced(path string, data []byte) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// get reads one value of the local state; nil when there is none.
func (s *kv) get(key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, closer, err := s.db.Get(stateKey(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	value = append([]byte(nil), value...)
	return value, closer.Close()
}

func (s *kv) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.db.Close()
}

// quiet drops Pebble's chatter but never its fatal errors.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	slog.Error("the state cannot go on; the process ends", "error", fmt.Sprintf(format, args...))
	os.Exit(1)
}
