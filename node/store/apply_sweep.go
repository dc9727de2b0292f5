package store

import (
	"slices"
	"strings"

	"cairn/federation"
)

const (
	sweepNamespaces = 32 // that one tick visits
	sweepLook       = 200
	quotaKept       = 2 // UTC days whose promotion counts are kept
)

// sweepState is how far the nightly look at a namespace's shelf is. After is the last item that was looked at.
type sweepState struct {
	Day   int64 `cbor:"1,keyasint"`
	After ID    `cbor:"2,keyasint"`
	Done  bool  `cbor:"3,keyasint,omitempty"`
}

// sweep visits some namespaces in order of number, going on where the last tick ended: it caps the feed and strikes silent
// jurors.
func (t *ticking) sweep() {
	cursor := key(kindMeta).str("sweep")
	from := t.number(cursor)
	next := int64(0) // from the start again
	for i, n := range t.namespacesAfter(uint32(from)) {
		if i == sweepNamespaces || i > 0 && t.full() {
			break
		}
		t.inside(n, func() {
			t.capFeed()
			t.strikeSilent()
			t.dropQuotas()
		})
		next = int64(n)
	}
	if next == int64(t.lastNamespace()) {
		next = 0
	}
	if next != from {
		t.setNumber(cursor, next)
	}
}

func (t *txn) lastNamespace() uint32 {
	var site Site
	t.get(siteKey(), &site)
	return site.LastNS
}

func (t *txn) namespacesAfter(last uint32) []uint32 {
	var out []uint32
	t.scanRange(key(kindNamespaceNumber).u32(last+1), upper(key(kindNamespaceNumber)), func(k, _ []byte) bool {
		out = append(out, u32At(k, 1))
		return len(out) <= sweepNamespaces
	})
	return out
}

// capFeed drops the oldest events beyond a million.
func (t *ticking) capFeed() {
	over := t.counter("feed") - feedMax
	if over <= 0 {
		return
	}
	n := int64(0)
	t.scan(nsKey(kindFeed, t.ns.Number), func(k, _ []byte) bool {
		if n == over || n > 0 && t.full() {
			return false
		}
		t.del(k)
		t.feedFrom(bigEndian(k[len(k)-12:]) + 1)
		n++
		return true
	})
	t.count("feed", -n)
}

// strikeSilent takes silent jurors of candidates off their seats, once a day; the leader draws who follows.
func (t *ticking) strikeSilent() {
	k := nsKey(kindSweep, t.ns.Number)
	var state sweepState
	t.get(k, &state)
	if today := t.now / day; state.Day != today {
		state = sweepState{Day: today}
	}
	if state.Done {
		return
	}
	shelf := nsKey(kindShelf, t.ns.Number)
	from := slices.Concat(shelf, state.After[:], []byte{0})
	if state.After == (ID{}) {
		from = shelf
	}
	looked := 0
	state.Done = true
	t.scanRange(from, upper(shelf), func(k, _ []byte) bool {
		if looked == sweepLook || looked > 0 && len(t.writes) >= t.limit {
			state.Done, t.out.More = false, true
			return false
		}
		looked++
		state.After = lastID(k)
		t.lookAtJury(state.After)
		t.lookAtUse(state.After)
		return true
	})
	t.put(k, state)
}

func (t *ticking) lookAtJury(id ID) {
	var jury Jury
	e, ok := t.experience(SharedOwner, id)
	if !ok || e.Status != federation.StatusCandidate || !t.get(t.juryKey(id), &jury) {
		return
	}
	struck := t.strike(e, &jury)
	t.out.Struck += struck
	if struck > 0 {
		t.put(t.juryKey(id), jury)
		t.reconsider(e, &jury)
	}
	if jury.vacant() > 0 && (struck > 0 || len(t.freeJurors(e, &jury)) > 0) {
		t.enqueue(JobReplace, id, SharedOwner, t.now, "")
	}
}

// strike looks at the seats in order of juror and returns how many it emptied.
func (t *txn) strike(e *Experience, jury *Jury) int {
	var order []*Seat
	for i := range jury.Seats {
		if !jury.Seats[i].Struck {
			order = append(order, &jury.Seats[i])
		}
	}
	slices.SortFunc(order, func(a, b *Seat) int { return strings.Compare(a.Juror, b.Juror) })
	profile := t.ns.Settings.Profile()
	n := 0
	for _, seat := range order {
		var acc federation.Accumulator
		t.get(t.accKey(e, seat.Juror), &acc)
		// A juror that is not shown the item, because it knows better about the author, keeps its seat.
		if federation.SeatStruck(acc.W, seat.Since, t.now, true, profile) && !t.disproved(e, seat.Juror) {
			seat.Struck = true
			t.addSeats(jury.Unit, seat.Juror, -1)
			n++
		}
	}
	return n
}

// dropQuotas forgets how many items were promoted on days that are over.
func (t *ticking) dropQuotas() {
	prefix := nsKey(kindQuota, t.ns.Number)
	t.scanRange(prefix, nsKey(kindQuota, t.ns.Number).u64(uint64(max(0, t.now/day-quotaKept+1))), func(k, _ []byte) bool {
		t.del(k)
		return !t.full()
	})
}
