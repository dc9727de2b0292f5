package consensus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// kvCommand is a command of the test state machine. A client's sequence
// numbers make a repeated command return its first answer.
type kvCommand struct {
	Op     string // set, get, inc, bad
	Key    string
	Value  string `json:",omitempty"`
	Client string `json:",omitempty"`
	Seq    uint64 `json:",omitempty"`
}

func (c kvCommand) encode() []byte {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return data
}

// kv is a small state machine on Pebble: values, a dedupe table, and a hash
// chained over every command.
type kv struct {
	fs  vfs.FS
	dir string
	// skipDedupe drops the dedupe table: a fault that the tests must catch.
	skipDedupe bool
	// format is what StateFormat answers; 0 stands for 1.
	format int
	// batches records the number of commands of every Apply.
	batches []int

	mu    sync.RWMutex
	db    *pebble.DB
	gen   int
	index uint64
	term  uint64
	hash  []byte
	stamp int64
}

const (
	kvMetaKey   = "m"
	kvValueKey  = "k"
	kvDedupeKey = "d"
)

func openKV(fs vfs.FS, dir string) (*kv, error) {
	s := &kv{fs: fs, dir: dir}
	if err := makeDir(fs, dir); err != nil {
		return nil, err
	}
	gen, err := s.readGeneration()
	if err != nil {
		return nil, err
	}
	return s, s.openGeneration(gen)
}

func (s *kv) readGeneration() (int, error) {
	f, err := s.fs.Open(s.fs.PathJoin(s.dir, "current"))
	if err != nil {
		return 1, writeFileAtomic(s.fs, s.dir, "current", []byte("1"))
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

func (s *kv) genDir(gen int) string { return s.fs.PathJoin(s.dir, fmt.Sprintf("gen-%d", gen)) }

func (s *kv) openGeneration(gen int) error {
	if err := makeDir(s.fs, s.genDir(gen)); err != nil {
		return err
	}
	db, err := pebble.Open(s.genDir(gen), &pebble.Options{
		FS: s.fs, Logger: quietPebble{}, FormatMajorVersion: pebble.FormatWALSyncChunks,
	})
	if err != nil {
		return err
	}
	s.db, s.gen = db, gen
	s.index, s.term, s.stamp, s.hash = 0, 0, 0, nil
	value, closer, err := db.Get([]byte(kvMetaKey))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closer.Close()
	s.index = binary.BigEndian.Uint64(value)
	s.term = binary.BigEndian.Uint64(value[8:])
	s.stamp = int64(binary.BigEndian.Uint64(value[16:]))
	s.hash = append([]byte(nil), value[24:]...)
	return nil
}

// errBadCommand is what kv answers to a command it does not know.
var errBadCommand = errors.New("unknown command")

func (s *kv) Apply(firstIndex, term uint64, times []int64, commands [][]byte) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.db.NewIndexedBatch()
	defer batch.Close()
	hash := s.hash
	stamp := s.stamp
	results := make([][]byte, len(commands))
	for i, raw := range commands {
		stamp = max(stamp, times[i])
		if raw == nil {
			continue
		}
		var c kvCommand
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, err
		}
		value, err := s.applyOne(batch, c)
		if err != nil {
			return nil, err
		}
		results[i] = value
		sum := sha256.Sum256(append(append([]byte(nil), hash...), raw...))
		hash = sum[:]
	}
	index := firstIndex + uint64(len(commands)) - 1
	meta := binary.BigEndian.AppendUint64(nil, index)
	meta = binary.BigEndian.AppendUint64(meta, term)
	meta = binary.BigEndian.AppendUint64(meta, uint64(stamp))
	if err := batch.Set([]byte(kvMetaKey), append(meta, hash...), nil); err != nil {
		return nil, err
	}
	if err := batch.Commit(pebble.NoSync); err != nil {
		return nil, err
	}
	s.index, s.term, s.stamp, s.hash = index, term, stamp, hash
	s.batches = append(s.batches, len(commands))
	return results, nil
}

func (s *kv) applyOne(batch *pebble.Batch, c kvCommand) ([]byte, error) {
	dedupe := []byte(fmt.Sprintf("%s%s/%d", kvDedupeKey, c.Client, c.Seq))
	if c.Client != "" && !s.skipDedupe {
		if answer, found, err := get(batch, dedupe); err != nil || found {
			return answer, err
		}
	}
	key := []byte(kvValueKey + c.Key)
	old, _, err := get(batch, key)
	if err != nil {
		return nil, err
	}
	answer := old
	switch c.Op {
	case "set":
		err = batch.Set(key, []byte(c.Value), nil)
	case "get":
	case "inc":
		n, _ := strconv.Atoi(string(old))
		answer = []byte(strconv.Itoa(n + 1))
		err = batch.Set(key, answer, nil)
	default:
		err = errBadCommand
	}
	if err != nil {
		return nil, err
	}
	if c.Client != "" {
		err = batch.Set(dedupe, answer, nil)
	}
	return answer, err
}

func get(r pebble.Reader, key []byte) ([]byte, bool, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte(nil), value...)
	return value, true, closer.Close()
}

func (s *kv) StateFormat() int { return max(1, s.format) }

// BeforeRestore makes the epoch that begins higher than the one that ends.
func (s *kv) BeforeRestore(command []byte) ([]byte, error) {
	var c kvCommand
	if err := json.Unmarshal(command, &c); err != nil || c.Key != "epoch" {
		return command, nil
	}
	now, _ := strconv.Atoi(s.value("epoch"))
	wanted, _ := strconv.Atoi(c.Value)
	c.Value = strconv.Itoa(max(wanted, now+1))
	return c.encode(), nil
}

func (s *kv) Applied() (index, term uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index, s.term
}

func (s *kv) StateHash() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.hash
}

// position is the applied index and the state's hash there.
func (s *kv) position() (index uint64, hash string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index, string(s.hash)
}

// value reads one key from the local state.
func (s *kv) value(key string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, _, err := get(s.db, []byte(kvValueKey+key))
	if err != nil {
		panic(err)
	}
	return string(value)
}

func (s *kv) MakeDurable() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db.LogData(nil, pebble.Sync)
}

func (s *kv) Flush() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db.Flush()
}

func (s *kv) Checkpoint(dir string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.db.Checkpoint(dir, pebble.WithFlushedWAL())
}

func (s *kv) Install(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.gen + 1
	target := s.genDir(next)
	if err := s.fs.RemoveAll(target); err != nil {
		return err
	}
	if _, err := vfs.Clone(s.fs, s.fs, dir, target, vfs.CloneSync); err != nil {
		return err
	}
	if err := syncDir(s.fs, s.dir); err != nil {
		return err
	}
	if err := writeFileAtomic(s.fs, s.dir, "current", []byte(strconv.Itoa(next))); err != nil {
		return err
	}
	old, oldDir := s.db, s.genDir(s.gen)
	if err := s.openGeneration(next); err != nil {
		return err
	}
	return errors.Join(old.Close(), s.fs.RemoveAll(oldDir))
}

func (s *kv) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.db.Close()
}

// quietPebble drops Pebble's chatter in tests but never its fatal errors.
type quietPebble struct{}

func (quietPebble) Infof(string, ...any)  {}
func (quietPebble) Errorf(string, ...any) {}
func (quietPebble) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
