package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/oklog/ulid/v2"
)

// txn is the workspace of one command: it reads through its own writes to the batch of the entries before it, and its
// writes reach the batch only when the command is accepted.
type txn struct {
	base   *stage
	hot    *hotValues
	writes []write
	byKey  map[string]int

	now     int64 // Unix ms, monotonic over the log
	index   uint64
	ns      *Namespace
	nsDirty bool
	command *Command

	events  map[uint32]uint32 // feed records of this entry so far, by namespace
	changed map[Change]bool   // records that this entry asked indexes to look at
	series  map[uint32]*Hour  // hours that this entry moved, by namespace
	minted  uint64
	lent    [128]byte
	err     error // first read error: the state cannot be trusted, apply halts
}

// write is one key that a command wrote. A record that is kept decoded is encoded when its bytes are asked for, at last
// when the command is accepted: a command writes some of them several times.
type write struct {
	key, value []byte
	name       string // the key once more: what maps of keys share
	record     any
	deleted    bool
}

func (t *txn) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// raw returns the stored bytes or nil.
func (t *txn) raw(k []byte) []byte {
	if i, ok := t.byKey[string(k)]; ok {
		return t.value(i)
	}
	return t.stored(k).data
}

// value is what the command wrote to a key, nil when it deleted it.
func (t *txn) value(i int) []byte {
	w := &t.writes[i]
	if w.deleted {
		return nil
	}
	if w.value == nil {
		data, err := encodeValue(w.record)
		if err != nil {
			t.fail(err)
		}
		w.value = data
	}
	return w.value
}

// stored is what a key had before the command.
func (t *txn) stored(k []byte) *hotValue {
	if v := t.hot.get(k); v != nil {
		return v
	}
	out, err := t.base.get(k)
	if err != nil {
		t.fail(err)
		return &absent
	}
	return t.hot.put(string(k), out)
}

// borrow begins a key of the namespace that is only read with, before the next one is borrowed.
func (t *txn) borrow(kind keyKind) keyBuf {
	return append(keyBuf(t.lent[:0]), byte(kind)).u32(t.ns.Number)
}

func (t *txn) get(k []byte, v any) bool {
	if i, ok := t.byKey[string(k)]; ok {
		w := &t.writes[i]
		if !w.deleted && w.record != nil && copyRecord(v, w.record) {
			return true
		}
		return t.decode(k, t.value(i), v)
	}
	hot := t.stored(k)
	if hot.record != nil && copyRecord(v, hot.record) {
		return true
	}
	if !t.decode(k, hot.data, v) {
		return false
	}
	t.hot.remember(hot, keptRecord(v))
	return true
}

func (t *txn) decode(k, data []byte, v any) bool {
	if data == nil {
		return false
	}
	if err := decodeValue(data, v); err != nil {
		t.fail(fmt.Errorf("read %x: %w", k, err))
		return false
	}
	return true
}

func (t *txn) has(k []byte) bool { return t.raw(k) != nil }

func (t *txn) set(k []byte, data []byte, deleted bool) {
	t.write(write{key: k, value: data, deleted: deleted})
}

func (t *txn) write(w write) {
	if i, ok := t.byKey[string(w.key)]; ok {
		w.key, w.name = t.writes[i].key, t.writes[i].name
		t.writes[i] = w
		return
	}
	w.name = string(w.key)
	t.byKey[w.name] = len(t.writes)
	t.writes = append(t.writes, w)
}

func (t *txn) put(k []byte, v any) {
	if record := keptRecord(v); record != nil {
		t.write(write{key: k, record: record})
		return
	}
	data, err := encodeValue(v)
	if err != nil {
		t.fail(err)
		return
	}
	t.set(k, data, false)
}

func (t *txn) mark(k []byte) { t.set(k, []byte{FormatVersion}, false) }

func (t *txn) del(k []byte) { t.set(k, nil, true) }

// scan visits the keys with a prefix in order until fn returns false. Like get, it sees what this command wrote before;
// keys that fn itself adds are not visited.
func (t *txn) scan(prefix []byte, fn func(k, v []byte) bool) {
	t.scanRange(prefix, upper(prefix), fn)
}

func (t *txn) scanRange(lower, end []byte, fn func(k, v []byte) bool) {
	own := t.ownKeys(lower, end)
	kind, whole := keyKind(lower[0]), len(lower) == 1 && end != nil // from the first key of a kind on
	if whole {
		if lower = t.hot.floor(kind); bytes.Compare(lower, end) > 0 {
			lower = end
		}
	}
	it, err := t.base.scan(lower, end)
	if err != nil {
		t.fail(fmt.Errorf("scan %x: %w", lower, err))
		return
	}
	ok := it.First()
	if first := end; whole {
		if ok {
			first = it.Key()
		}
		t.hot.raise(kind, first)
	}
	t.mergeScan(it, ok, own, fn)
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		t.fail(fmt.Errorf("scan %x: %w", lower, err))
	}
}

// mergeScan walks the batch and this command's own keys side by side; what this command wrote stands for its key.
func (t *txn) mergeScan(it *pebble.Iterator, ok bool, own [][]byte, fn func(k, v []byte) bool) {
	for ok || len(own) > 0 {
		var k, v []byte
		if ok && (len(own) == 0 || bytes.Compare(it.Key(), own[0]) < 0) {
			k, v = bytes.Clone(it.Key()), bytes.Clone(it.Value())
			ok = it.Next()
		} else {
			if ok && bytes.Equal(it.Key(), own[0]) {
				ok = it.Next()
			}
			k, own = own[0], own[1:]
		}
		if i, written := t.byKey[string(k)]; written {
			if t.writes[i].deleted {
				continue
			}
			v = t.value(i)
		}
		if !fn(k, v) {
			return
		}
	}
}

// ownKeys lists in order the keys in [lower, end) that this command has set.
func (t *txn) ownKeys(lower, end []byte) [][]byte {
	var own [][]byte
	for _, w := range t.writes {
		if !w.deleted && bytes.Compare(w.key, lower) >= 0 && (end == nil || bytes.Compare(w.key, end) < 0) {
			own = append(own, w.key)
		}
	}
	slices.SortFunc(own, bytes.Compare)
	return own
}

// count adds to a counter of the namespace.
func (t *txn) count(name string, delta int64) {
	if delta == 0 {
		return
	}
	k := nsKey(kindCounter, t.ns.Number).str(name)
	value := t.number(k) + delta
	t.setNumber(k, value)
	t.note(name, delta, value)
}

func (t *txn) counter(name string) int64 {
	return t.number(nsKey(kindCounter, t.ns.Number).str(name))
}

func (t *txn) number(k []byte) int64 {
	data := t.raw(k)
	if data == nil {
		return 0
	}
	if len(data) != 9 {
		t.fail(fmt.Errorf("read %x: number of %d bytes", k, len(data)))
		return 0
	}
	return int64(binary.BigEndian.Uint64(data[1:]))
}

func (t *txn) setNumber(k []byte, v int64) {
	t.set(k, binary.BigEndian.AppendUint64([]byte{FormatVersion}, uint64(v)), false)
}

// mint makes an id that is the same on every node: the entry's time, then a hash of its index and a running number.
func (t *txn) mint() ID {
	t.minted++
	var seed [16]byte
	binary.BigEndian.PutUint64(seed[:8], t.index)
	binary.BigEndian.PutUint64(seed[8:], t.minted)
	sum := sha256.Sum256(seed[:])
	var id ID
	if err := id.SetTime(ulid.Timestamp(msTime(t.now))); err != nil {
		t.fail(fmt.Errorf("mint id: %w", err))
	}
	copy(id[6:], sum[:10])
	return id
}

// commit hands the writes to the batch and chains them into the state hash, in the order in which they were first made.
func (t *txn) commit(state [32]byte) [32]byte {
	h := sha256.New()
	h.Write(state[:])
	var n [8]byte
	for i, w := range t.writes {
		value := t.value(i)
		binary.BigEndian.PutUint32(n[:4], uint32(len(w.key)))
		binary.BigEndian.PutUint32(n[4:], uint32(len(value)))
		h.Write(n[:])
		h.Write(w.key)
		h.Write(value)
		t.base.put(write{key: w.key, name: w.name, value: value, deleted: w.deleted})
		if w.deleted {
			t.hot.put(w.name, nil)
			continue
		}
		t.hot.remember(t.hot.put(w.name, value), w.record)
		t.hot.lower(w.key)
	}
	var out [32]byte
	h.Sum(out[:0])
	return out
}
