package consensus

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

func openTestStore(t testing.TB, fs vfs.FS) *logStore {
	t.Helper()
	s, err := openLogStore("log", fs, pebbleLogger{out: testLogger(), onFatal: func(err error) { panic(err) }}, newMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func testEntries(first uint64, n int) []*raft.Log {
	entries := make([]*raft.Log, n)
	for i := range entries {
		index := first + uint64(i)
		entries[i] = &raft.Log{
			Index: index, Term: 3, Type: raft.LogCommand, Data: fmt.Appendf(nil, "data %d", index),
			AppendedAt: time.Unix(1700000000, int64(index)),
		}
	}
	return entries
}

func store(t testing.TB, s *logStore, entries []*raft.Log) {
	t.Helper()
	if err := s.StoreLogs(entries); err != nil {
		t.Fatal(err)
	}
}

func wantBounds(t *testing.T, s *logStore, first, last uint64) {
	t.Helper()
	gotFirst, err1 := s.FirstIndex()
	gotLast, err2 := s.LastIndex()
	if gotFirst != first || gotLast != last || err1 != nil || err2 != nil {
		t.Fatalf("bounds: got %d to %d (%v, %v), want %d to %d", gotFirst, gotLast, err1, err2, first, last)
	}
}

func wantEntry(t *testing.T, s *logStore, want *raft.Log) {
	t.Helper()
	var got raft.Log
	if err := s.GetLog(want.Index, &got); err != nil {
		t.Fatalf("entry %d: %v", want.Index, err)
	}
	if !got.AppendedAt.Equal(want.AppendedAt) {
		t.Errorf("entry %d: time %v, want %v", want.Index, got.AppendedAt, want.AppendedAt)
	}
	got.AppendedAt = want.AppendedAt
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("entry %d: got %+v, want %+v", want.Index, got, *want)
	}
}

func TestLogStoreRoundTrip(t *testing.T) {
	fs := vfs.NewMem()
	s := openTestStore(t, fs)
	entries := testEntries(1, 10)
	entries[3].Extensions = []byte("more")
	entries[4].AppendedAt = time.Time{}
	entries[5].Type, entries[5].Data = raft.LogNoop, nil
	store(t, s, entries)
	check := func(name string) {
		t.Helper()
		t.Log(name)
		for _, e := range entries {
			wantEntry(t, s, e)
		}
	}
	check("from the ring")
	s.ring.clear()
	check("from disk")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTestStore(t, fs)
	check("after reopening")
	wantBounds(t, s, 1, 10)
	var e raft.Log
	for _, index := range []uint64{0, 11} {
		if err := s.GetLog(index, &e); !errors.Is(err, raft.ErrLogNotFound) {
			t.Errorf("entry %d: got %v, want ErrLogNotFound", index, err)
		}
	}
}

func TestLogStoreDeleteRange(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to    uint64
		first, last uint64
		ok          bool
	}{
		"prefix":      {1, 4, 5, 10, true},
		"suffix":      {7, 10, 1, 6, true},
		"all":         {1, 10, 0, 0, true},
		"beyond":      {0, 99, 0, 0, true},
		"outside":     {20, 30, 1, 10, true},
		"hole":        {3, 5, 1, 10, false},
		"wrong order": {5, 3, 1, 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			s := openTestStore(t, fs)
			store(t, s, testEntries(1, 10))
			if err := s.DeleteRange(tc.from, tc.to); (err == nil) != tc.ok {
				t.Fatalf("delete: got %v", err)
			}
			wantBounds(t, s, tc.first, tc.last)
			for _, e := range testEntries(1, 10) {
				kept := tc.first != 0 && e.Index >= tc.first && e.Index <= tc.last
				var got raft.Log
				if err := s.GetLog(e.Index, &got); (err == nil) != kept {
					t.Errorf("entry %d after delete: %v", e.Index, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			wantBounds(t, openTestStore(t, fs), tc.first, tc.last)
		})
	}
}

func TestLogStoreOverwritesSuffix(t *testing.T) {
	s := openTestStore(t, vfs.NewMem())
	store(t, s, testEntries(1, 10))
	if err := s.DeleteRange(6, 10); err != nil {
		t.Fatal(err)
	}
	newer := testEntries(6, 2)
	newer[0].Term, newer[1].Term = 4, 4
	store(t, s, newer)
	wantBounds(t, s, 1, 7)
	wantEntry(t, s, newer[1])
	s.ring.clear()
	wantEntry(t, s, newer[1])
}

func TestLogStoreRefusesGaps(t *testing.T) {
	s := openTestStore(t, vfs.NewMem())
	store(t, s, testEntries(5, 2)) // an empty log may begin anywhere
	for name, entries := range map[string][]*raft.Log{
		"ahead":  testEntries(8, 1),
		"behind": testEntries(6, 1),
		"inside": {testEntries(7, 1)[0], testEntries(9, 1)[0]},
	} {
		if err := s.StoreLogs(entries); err == nil {
			t.Errorf("%s: a gap was stored", name)
		}
	}
	wantBounds(t, s, 5, 6)
}

func TestLogStoreStable(t *testing.T) {
	s := openTestStore(t, vfs.NewMem())
	if _, err := s.GetUint64([]byte("term")); err == nil || err.Error() != "not found" {
		t.Errorf("absent key: got %v, want raft's text", err)
	}
	if err := s.SetUint64([]byte("term"), 7); err != nil {
		t.Fatal(err)
	}
	if got, err := s.GetUint64([]byte("term")); got != 7 || err != nil {
		t.Errorf("term: got %d, %v", got, err)
	}
}

func TestLogStoreAfterClose(t *testing.T) {
	s := openTestStore(t, vfs.NewMem())
	store(t, s, testEntries(1, 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var e raft.Log
	_, err1 := s.FirstIndex()
	_, err2 := s.Get([]byte("x"))
	for i, err := range []error{s.GetLog(1, &e), s.StoreLogs(testEntries(2, 1)), s.DeleteRange(1, 1), s.Set(nil, nil), err1, err2} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after close: got %v, want ErrClosed", i, err)
		}
	}
}

// TestCorruptEntryRefusesToStart damages a stored entry in three ways.
func TestCorruptEntryRefusesToStart(t *testing.T) {
	for name, damage := range map[string]func(db *pebble.DB) error{
		"flipped bit": func(db *pebble.DB) error {
			value, closer, err := db.Get(entryKey(3))
			if err != nil {
				return err
			}
			defer closer.Close()
			changed := append([]byte(nil), value...)
			changed[len(changed)-1] ^= 1
			return db.Set(entryKey(3), changed, pebble.Sync)
		},
		"moved": func(db *pebble.DB) error {
			value, closer, err := db.Get(entryKey(2))
			if err != nil {
				return err
			}
			defer closer.Close()
			return db.Set(entryKey(3), value, pebble.Sync)
		},
		"missing": func(db *pebble.DB) error { return db.Delete(entryKey(3), pebble.Sync) },
		"short":   func(db *pebble.DB) error { return db.Set(entryKey(3), []byte{1}, pebble.Sync) },
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			n := startNode(t, fs, nil)
			for range 5 {
				n.do(kvCommand{Op: "inc", Key: "n"})
			}
			if err := damage(n.store.db); err != nil {
				t.Fatal(err)
			}
			n.close()
			_, err := openNode(t, fs, nil)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "3") || !strings.Contains(err.Error(), wayBack) {
				t.Errorf("open: got %v", err)
			}
		})
	}
}

func TestLogRingBounds(t *testing.T) {
	var r logRing
	for _, e := range testEntries(1, ringEntries+10) {
		r.push(e)
	}
	if r.first != 11 || r.last != ringEntries+10 || r.get(10) != nil || r.get(11) == nil {
		t.Errorf("by count: %d to %d", r.first, r.last)
	}
	big := make([]byte, ringMaxBytes/4)
	for i := range 8 {
		r.push(&raft.Log{Index: r.last + 1, Data: big})
		if r.bytes > ringMaxBytes {
			t.Fatalf("push %d: %d bytes held", i, r.bytes)
		}
	}
	r.push(&raft.Log{Index: r.last + 2})
	if r.first != r.last {
		t.Errorf("after a jump: %d to %d, want one entry", r.first, r.last)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(uint64(7), appendEntry(nil, testEntries(7, 1)[0]))
	f.Add(uint64(7), []byte{entryVersion, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, index uint64, value []byte) {
		var e raft.Log
		if decodeEntry(index, value, &e) != nil {
			return
		}
		var again raft.Log
		if err := decodeEntry(index, appendEntry(nil, &e), &again); err != nil {
			t.Fatalf("encoded again: %v", err)
		}
	})
}
