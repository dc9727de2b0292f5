package store

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestHotValuesKeepTheLastWrite(t *testing.T) {
	h := newHotValues()
	k := []byte("key")
	if _, ok := h.get(k); ok {
		t.Fatal("an empty set knows a key")
	}
	h.put(k, []byte("one"))
	h.put(k, []byte("two"))
	if v, ok := h.get(k); !ok || string(v) != "two" {
		t.Errorf("got %q, %v; want the last value", v, ok)
	}
	h.put(k, nil)
	if v, ok := h.get(k); !ok || v != nil {
		t.Errorf("got %q, %v; want a key known to be absent", v, ok)
	}
}

// TestHotValuesAreBounded fills more than two halves: what is asked for stays with its newest value, the rest goes.
func TestHotValuesAreBounded(t *testing.T) {
	h := newHotValues()
	wanted := []byte("wanted")
	h.put(wanted, []byte("old"))
	value := bytes.Repeat([]byte{1}, 1<<20)
	for i := range uint64(100) {
		h.put(binary.BigEndian.AppendUint64(nil, i), value)
		if i == 10 {
			h.put(wanted, []byte("new"))
		}
		if v, ok := h.get(wanted); !ok || (string(v) == "new") != (i >= 10) {
			t.Fatalf("after %d: got %q, %v", i, v, ok)
		}
	}
	if _, ok := h.get(binary.BigEndian.AppendUint64(nil, 0)); ok {
		t.Error("a value that nobody asked for is still there")
	}
	held := 0
	for _, half := range []map[string][]byte{h.young, h.old} {
		for k, v := range half {
			held += len(k) + len(v)
		}
	}
	if held > 2*maxHot {
		t.Errorf("%d bytes are held, want at most %d", held, 2*maxHot)
	}
}
