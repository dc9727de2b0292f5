package store

import (
	"cairn/federation"
)

const (
	tickStep      = 1000
	feedKept      = 7 * day
	feedMax       = 1_000_000
	changesKept   = 100_000
	clientKept    = day
	strikeEvery   = day
	metaStrikeDay = "strike-day/"
)

// Tick runs the rules that time drives: each looks at no more than 1,000 due records; More says that it should run again.
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

func applyTick(t *txn, _ *Tick) (any, *Reject) {
	var out Ticked
	names := t.namespaceNames()
	out.Expired = t.due(kindExpiry, &out.More, func(k []byte) { t.expireBuffered(k, names) })
	out.Keys = t.due(kindIdemTime, &out.More, func(k []byte) { t.expireKey(k) }, idempotencyTTL)
	out.Receipts = t.due(kindReceiptTime, &out.More, func(k []byte) { t.expireReceipt(k) })
	out.Attempts = t.due(kindTrajTime, &out.More, func(k []byte) { t.expireAttempt(k) })
	t.due(kindFeedTime, &out.More, func(k []byte) { t.expireFeed(k, names) }, feedKept)
	t.trimChanges()
	t.trimClients()
	for _, id := range sortedNames(names) {
		t.within(id, func() {
			t.capFeed()
			out.Struck += t.strikeSilent()
		})
	}
	return out, nil
}

func (t *txn) namespaceNames() map[uint32]string {
	names := map[uint32]string{}
	t.scan(key(kindNamespace), func(_, v []byte) bool {
		var ns Namespace
		if err := decodeValue(v, &ns); err != nil {
			t.fail(err)
			return false
		}
		names[ns.Number] = ns.ID
		return true
	})
	return names
}

func sortedNames(names map[uint32]string) []string {
	out := make([]string, 0, len(names))
	for n := uint32(1); len(out) < len(names); n++ {
		if id, ok := names[n]; ok {
			out = append(out, id)
		}
	}
	return out
}

// due visits the keys of a time index that are past, oldest first. delay is added to the time in the key.
func (t *txn) due(kind keyKind, more *bool, fn func(k []byte), delay ...int64) int {
	limit := t.now
	for _, d := range delay {
		limit -= d
	}
	if limit < 0 {
		return 0
	}
	n := 0
	t.scanRange(key(kind), key(kind).time(limit+1), func(k, _ []byte) bool {
		if n == tickStep {
			*more = true
			return false
		}
		fn(k)
		t.del(k)
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

func (t *txn) expireBuffered(k []byte, names map[uint32]string) {
	t.within(names[u32At(k, timePrefix)], func() {
		e, ok := t.experience(u32At(k, timePrefix+4), lastID(k))
		if ok && e.Status == federation.StatusBuffered && e.ExpiresAt <= t.now {
			t.expire(e)
		}
	})
}

// expireKey drops an idempotency key: kind, time, namespace, agent, key.
func (t *txn) expireKey(k []byte) {
	parts := splitWords(k[timePrefix:], 2)
	if len(parts) != 3 {
		return
	}
	t.within(parts[0], func() {
		main := idemKey(t.ns.Number, parts[1], parts[2])
		var r idemResult
		if t.get(main, &r) && t.now-r.At >= idempotencyTTL {
			t.del(main)
			t.ns.Idempotent--
			t.nsDirty = true
		}
	})
}

func splitWords(b []byte, n int) []string {
	var parts []string
	for ; n > 0; n-- {
		i := 0
		for i < len(b) && b[i] != 0 {
			i++
		}
		if i == len(b) {
			return nil
		}
		parts, b = append(parts, string(b[:i])), b[i+1:]
	}
	return append(parts, string(b))
}

func (t *txn) expireReceipt(k []byte) {
	ns, agent, id := u32At(k, timePrefix), u32At(k, timePrefix+4), lastID(k)
	var r Receipt
	main := nsKey(kindReceipt, ns).u32(agent).id(id)
	if !t.get(main, &r) {
		return
	}
	for _, item := range r.Items {
		t.del(nsKey(kindGiven, ns).id(item.ID).id(id).u32(agent))
	}
	t.del(main)
}

// expireAttempt drops the steps of an attempt past retention; rewards and the group's record stay.
func (t *txn) expireAttempt(k []byte) {
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
}

func (t *txn) expireFeed(k []byte, names map[uint32]string) {
	ns := u32At(k, timePrefix)
	index := bigEndian(k[len(k)-8:])
	t.within(names[ns], func() {
		t.scan(nsKey(kindFeed, ns).u64(index), func(k, _ []byte) bool {
			t.del(k)
			t.count("feed", -1)
			return true
		})
		t.setNumber(nsKey(kindCounter, ns).str("feed/oldest"), int64(index)+1)
	})
}

// capFeed drops the oldest events beyond a million.
func (t *txn) capFeed() {
	over := t.counter("feed") - feedMax
	if over <= 0 {
		return
	}
	n := int64(0)
	t.scan(nsKey(kindFeed, t.ns.Number), func(k, _ []byte) bool {
		t.del(k)
		n++
		t.setNumber(nsKey(kindCounter, t.ns.Number).str("feed/oldest"), int64(bigEndian(k[len(k)-12:len(k)-4]))+1)
		return n < min(over, tickStep)
	})
	t.count("feed", -n)
}

func (t *txn) trimChanges() {
	if t.index <= changesKept {
		return
	}
	n := 0
	t.scanRange(key(kindChange), key(kindChange).u64(t.index-changesKept), func(k, _ []byte) bool {
		t.del(k)
		n++
		return n < tickStep
	})
}

func (t *txn) trimClients() {
	n := 0
	t.scan(key(kindClient), func(k, v []byte) bool {
		var c clientResult
		if err := decodeValue(v, &c); err != nil {
			t.fail(err)
			return false
		}
		if t.now-c.At > clientKept {
			t.del(k)
			n++
		}
		return n < tickStep
	})
}

// strikeSilent takes silent jurors of candidates off their seats, once a day; the leader draws who follows.
func (t *txn) strikeSilent() int {
	k := nsKey(kindCounter, t.ns.Number).str(metaStrikeDay)
	today := t.now / strikeEvery
	if t.number(k) == today {
		return 0
	}
	t.setNumber(k, today)
	profile := t.ns.Settings.Profile()
	struck := 0
	t.scan(nsKey(kindShelf, t.ns.Number), func(k, _ []byte) bool {
		e, ok := t.experience(SharedOwner, lastID(k))
		var jury Jury
		if !ok || e.Status != federation.StatusCandidate || !t.get(t.juryKey(e.ID), &jury) {
			return true
		}
		struck += t.strikeIn(e, &jury, profile)
		return struck < tickStep
	})
	return struck
}

func (t *txn) strikeIn(e *Experience, jury *Jury, profile federation.Profile) int {
	n := 0
	for i := range jury.Seats {
		seat := &jury.Seats[i]
		if seat.Struck {
			continue
		}
		var acc federation.Accumulator
		t.get(t.accKey(e, seat.Juror), &acc)
		if federation.SeatStruck(acc.W, seat.Since, t.now, true, profile) {
			seat.Struck = true
			n++
			t.enqueue(JobReplace, e.ID, SharedOwner, t.now, seat.Juror)
			break // one a day and item, so that each seat gets its own successor
		}
	}
	if n > 0 {
		t.put(t.juryKey(e.ID), jury)
		t.reconsider(e, jury)
	}
	return n
}
