package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

func TestHotValuesKeepTheLastWrite(t *testing.T) {
	h := newHotValues()
	const k = "key"
	if h.get([]byte(k)) != nil {
		t.Fatal("an empty set knows a key")
	}
	h.put(k, []byte("one"))
	h.put(k, []byte("two"))
	if v := h.get([]byte(k)); v == nil || string(v.data) != "two" {
		t.Errorf("got %v; want the last value", v)
	}
	h.put(k, nil)
	if v := h.get([]byte(k)); v == nil || v.data != nil {
		t.Errorf("got %v; want a key known to be absent", v)
	}
}

func TestCompleteValuesKnowWhatIsAbsent(t *testing.T) {
	h := newCompleteValues()
	const k = "key"
	if v := h.get([]byte(k)); v == nil || v.data != nil {
		t.Errorf("got %v for a key that was never written", v)
	}
	h.put(k, []byte("one"))
	if v := h.get([]byte(k)); string(v.data) != "one" {
		t.Errorf("got %q", v.data)
	}
	h.put(k, nil)
	if v := h.get([]byte(k)); v.data != nil {
		t.Errorf("got %q for a key that was deleted", v.data)
	}
}

func TestFloorsFollowWhatIsWritten(t *testing.T) {
	h := newHotValues()
	at := func(ms int64) []byte { return key(kindDue).time(ms) }
	if got := h.floor(kindDue); !bytes.Equal(got, key(kindDue)) {
		t.Errorf("the first floor is %x", got)
	}
	h.raise(kindDue, at(50))
	h.lower(at(70))
	h.lower(key(kindFeedTime).time(1))
	if got := h.floor(kindDue); !bytes.Equal(got, at(50)) {
		t.Errorf("after later keys the floor is %x", got)
	}
	h.lower(at(20))
	if got := h.floor(kindDue); !bytes.Equal(got, at(20)) {
		t.Errorf("after an earlier key the floor is %x", got)
	}
}

// TestHotValuesAreTheState compares what apply keeps with the database after a random log: bytes, records and floors.
func TestHotValuesAreTheState(t *testing.T) {
	w := newWalk(t, 11)
	w.run(600)
	hot, db := w.s.gen.hot, w.s.gen.db
	records := 0
	for _, half := range []map[string]*hotValue{hot.young, hot.old} {
		for k, v := range half {
			data, closer, err := db.Get([]byte(k))
			if errors.Is(err, pebble.ErrNotFound) {
				if v.data != nil {
					t.Errorf("%x is kept and not stored", k)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, v.data) {
				t.Errorf("%x: kept %x, stored %x", k, v.data, data)
			}
			if err := closer.Close(); err != nil {
				t.Fatal(err)
			}
			if v.record == nil {
				continue
			}
			records++
			if again, err := encodeValue(v.record); err != nil || !bytes.Equal(again, v.data) {
				t.Errorf("%x: the record encodes to %x, stored %x, %v", k, again, v.data, err)
			}
		}
	}
	if records == 0 || len(hot.floors) == 0 {
		t.Errorf("%d records and %d floors were kept", records, len(hot.floors))
	}
	for kind, floor := range hot.floors {
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: key(kind), UpperBound: floor})
		if err != nil {
			t.Fatal(err)
		}
		if it.First() {
			t.Errorf("%x stands below its floor %x", it.Key(), floor)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHotValuesAreBounded fills more than two halves: what is asked for stays with its newest value, the rest goes.
func TestHotValuesAreBounded(t *testing.T) {
	h := newHotValues()
	wanted := []byte("wanted")
	h.put(string(wanted), []byte("old"))
	value := bytes.Repeat([]byte{1}, 1<<20)
	for i := range uint64(100) {
		h.put(string(binary.BigEndian.AppendUint64(nil, i)), value)
		if i == 10 {
			h.put(string(wanted), []byte("new"))
		}
		if v := h.get(wanted); v == nil || (string(v.data) == "new") != (i >= 10) {
			t.Fatalf("after %d: got %v", i, v)
		}
	}
	if h.get(binary.BigEndian.AppendUint64(nil, 0)) != nil {
		t.Error("a value that nobody asked for is still there")
	}
	held := 0
	for _, half := range []map[string]*hotValue{h.young, h.old} {
		for k, v := range half {
			held += len(k) + len(v.data)
		}
	}
	if held > 2*maxHot {
		t.Errorf("%d bytes are held, want at most %d", held, 2*maxHot)
	}
}
