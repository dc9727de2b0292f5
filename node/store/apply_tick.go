package store

import (
	"bytes"

	"cairn/federation"
)

const (
	tickKeys    = 900 // keys that one tick writes, give or take a record
	tickLook    = 1000
	feedKept    = 7 * day
	feedMax     = 1_000_000
	changesKept = 100_000
	clientKept  = day
)

// Tick runs the rules that time drives. Each looks at no more than 1,000 records, together they write about as many keys;
// More says that something due is left.
type Tick struct{}

// Ticked counts what a tick did.
type Ticked struct {
	Expired  int  `cbor:"1,keyasint,omitempty"`
	Keys     int  `cbor:"2,keyasint,omitempty"`
	Receipts int  `cbor:"3,keyasint,omitempty"`
	Attempts int  `cbor:"4,keyasint,omitempty"`
	Struck   int  `cbor:"5,keyasint,omitempty"`
	More     bool `cbor:"6,keyasint,omitempty"`
}

// ticking is a tick under way. limit is the number of keys up to which the rule at hand goes on: what one rule leaves of
// its share is the next one's, so that none starves.
type ticking struct {
	*txn
	out   Ticked
	limit int
}

func applyTick(t *txn, _ *Tick) (any, *Reject) {
	k := &ticking{txn: t}
	rules := []func(){k.expireRecords, k.expireKeys, k.expireAttempts, k.expireReceipts, k.expireReflections, k.expireFeed, k.trimChanges, k.trimClients, k.sweep}
	for i, rule := range rules {
		k.limit = tickKeys * (i + 1) / len(rules)
		rule()
	}
	return k.out, nil
}

// full asks for another tick when the rule at hand used up its keys.
func (t *ticking) full() bool {
	if len(t.writes) < t.limit {
		return false
	}
	t.out.More = true
	return true
}

// due visits the keys of a time index that are delay ms past, oldest first, at least one, and removes them.
func (t *ticking) due(kind keyKind, delay int64, fn func(k []byte)) int {
	if t.now < delay {
		return 0
	}
	n := 0
	t.scanRange(key(kind), key(kind).time(t.now-delay+1), func(k, _ []byte) bool {
		if n > 0 && t.full() {
			return false
		}
		t.del(k)
		fn(k)
		n++
		return true
	})
	return n
}

// A time-index key is kind, time (u64), then the parts; these offsets skip the first two.
const timePrefix = 9

func u32At(k []byte, at int) uint32 {
	return uint32(k[at])<<24 | uint32(k[at+1])<<16 | uint32(k[at+2])<<8 | uint32(k[at+3])
}

// inside runs fn in the namespace of a number.
func (t *txn) inside(number uint32, fn func()) {
	var name string
	if t.get(key(kindNamespaceNumber).u32(number), &name) {
		t.within(name, fn)
	}
}

func (t *ticking) expireRecords() {
	t.out.Expired = t.due(kindExpiry, 0, func(k []byte) {
		t.inside(u32At(k, timePrefix), func() {
			if e, ok := t.experience(u32At(k, timePrefix+4), lastID(k)); ok {
				t.expireRecord(e)
			}
		})
	})
}

// expireKeys drops idempotency keys: kind, time, namespace, agent, key.
func (t *ticking) expireKeys() {
	t.out.Keys = t.due(kindIdemTime, idempotencyTTL, func(k []byte) {
		parts := splitWords(k[timePrefix:], 2)
		if len(parts) != 3 {
			return
		}
		t.within(parts[0], func() {
			main := idemKey(t.ns.Number, parts[1], parts[2])
			if t.has(main) {
				t.del(main)
				t.ns.Idempotent--
				t.nsDirty = true
			}
		})
	})
}

func splitWords(b []byte, n int) []string {
	var parts []string
	for ; n > 0; n-- {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return nil
		}
		parts, b = append(parts, string(b[:i])), b[i+1:]
	}
	return append(parts, string(b))
}

// expireAttempts drops the steps of attempts past retention; rewards and the group's record stay.
func (t *ticking) expireAttempts() {
	t.out.Attempts = t.due(kindTrajTime, 0, func(k []byte) {
		ns, owner := u32At(k, timePrefix), u32At(k, timePrefix+4)
		var traj ID
		copy(traj[:], k[timePrefix+8:])
		main := nsKey(kindAttempt, ns).u32(owner).id(traj).u32(u32At(k, len(k)-4))
		var a Attempt
		if t.get(main, &a) {
			a.Steps = nil
			t.put(main, a)
		}
		var rec Trajectory
		trajKey := nsKey(kindTrajectory, ns).u32(owner).id(traj)
		if t.get(trajKey, &rec) && !rec.Purged {
			rec.Purged = true
			t.put(trajKey, rec)
		}
	})
}

func (t *ticking) expireReceipts() {
	t.out.Receipts = t.due(kindReceiptTime, 0, func(k []byte) {
		ns, agent, id := u32At(k, timePrefix), u32At(k, timePrefix+4), lastID(k)
		var r Receipt
		main := nsKey(kindReceipt, ns).u32(agent).id(id)
		if !t.get(main, &r) {
			return
		}
		t.forgetDeeds(ns, agent, &r)
		for _, item := range r.Items {
			t.del(nsKey(kindGiven, ns).id(item.ID).id(id).u32(agent))
		}
		t.del(main)
	})
}

func (t *ticking) expireFeed() {
	t.due(kindFeedTime, feedKept, func(k []byte) {
		index := bigEndian(k[len(k)-8:])
		t.inside(u32At(k, timePrefix), func() {
			t.scan(nsKey(kindFeed, t.ns.Number).u64(index), func(k, _ []byte) bool {
				t.del(k)
				t.count("feed", -1)
				return true
			})
			t.feedFrom(index + 1)
		})
	})
}

// feedFrom says that the feed is complete from index on.
func (t *txn) feedFrom(index uint64) {
	k := nsKey(kindCounter, t.ns.Number).str("feed/oldest")
	t.setNumber(k, max(t.number(k), int64(index)))
}

// trimChanges keeps the change log of the last 100,000 entries. An index that is further behind is built anew.
func (t *ticking) trimChanges() {
	if t.index <= changesKept {
		return
	}
	last := uint64(0)
	t.scanRange(key(kindChange), key(kindChange).u64(t.index-changesKept), func(k, _ []byte) bool {
		if last != 0 && t.full() {
			return false
		}
		t.del(k)
		last = bigEndian(k[1:])
		return true
	})
	if last != 0 {
		t.setNumber(changesFrom(), int64(last)+1)
	}
}

// changesFrom is the number from which on the change log is complete.
func changesFrom() keyBuf { return key(kindMeta).str("changes") }

// trimClients forgets the answers of streams that are a day old, a part of the streams each time.
func (t *ticking) trimClients() {
	cursor := key(kindMeta).str("clients")
	from := key(kindClient)
	if at := t.raw(cursor); len(at) > 1 {
		from = keyBuf(at[1:])
	}
	var next []byte
	looked := 0
	t.scanRange(from, upper(key(kindClient)), func(k, v []byte) bool {
		if looked == tickLook || len(t.writes) >= t.limit {
			next = k
			return false
		}
		looked++
		var c clientResult
		if err := decodeValue(v, &c); err != nil {
			t.fail(err)
			return false
		}
		if t.now-c.At > clientKept {
			t.del(k)
		}
		return true
	})
	if next != nil || len(from) > 1 {
		t.set(cursor, append([]byte{FormatVersion}, next...), false)
	}
}

func (t *txn) expire(e *Experience) {
	old := clone(e)
	e.Status = federation.StatusArchived
	t.save(old, e)
	t.count("expired", 1)
}
