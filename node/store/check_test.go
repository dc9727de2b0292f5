package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cairn/federation"
)

// check recomputes every index, counter and accumulator of a view from the primary records and lists what differs.
func check(v *View) []string {
	c := &checker{v: v, may: map[string]bool{}, want: map[string]string{}, counters: map[string]int64{}}
	c.site()
	if err := v.Namespaces(nil, func(_ []byte, ns *Namespace) bool { c.namespace(ns); return true }); err != nil {
		c.bad("namespaces: %v", err)
	}
	c.jobs()
	c.compare()
	return c.problems
}

type checker struct {
	v        *View
	problems []string
	may      map[string]bool   // index keys that may be there
	want     map[string]string // index key -> what it must hold, "" where the presence counts
	counters map[string]int64  // key of a number -> value
}

func (c *checker) bad(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) note(err error) {
	if err != nil {
		c.bad("read: %v", err)
	}
}

func (c *checker) index(k keyBuf) { c.want[string(k)] = "" }

func (c *checker) holds(k keyBuf, value any) {
	data, err := encodeValue(value)
	c.note(err)
	c.want[string(k)] = string(data)
}

func (c *checker) count(ns *Namespace, name string, n int64) {
	c.counters[string(nsKey(kindCounter, ns.Number).str(name))] += n
}

func (c *checker) site() {
	site, err := c.v.Site()
	c.note(err)
	n := uint32(0)
	c.note(c.v.Namespaces(nil, func(_ []byte, ns *Namespace) bool { n++; return true }))
	if site == nil || site.LastNS != n {
		c.bad("site knows %+v, there are %d namespaces", site, n)
	}
}

func (c *checker) namespace(ns *Namespace) {
	c.holds(key(kindNamespaceNumber).u32(ns.Number), ns.ID)
	// Numbers that are always compared, also when nothing is left to count.
	for _, name := range []string{"agents", "trajectories", "attempts", "meta", "citations", "outcomes", "outcomes/reward", "feed", "reflections", "alerts"} {
		c.count(ns, name, 0)
	}
	c.agents(ns)
	c.trajectories(ns)
	inMeta := c.experiences(ns)
	c.principals(ns, inMeta)
	c.receipts(ns)
	c.reflections(ns)
	c.evidence(ns)
	c.tallies(ns)
	c.feed(ns)
	c.alerts(ns)
	c.keys(ns)
}

func (c *checker) agents(ns *Namespace) {
	count := uint32(0)
	c.note(c.v.Agents(ns, nil, func(_ []byte, a *Agent) bool {
		count++
		c.holds(nsKey(kindAgentNumber, ns.Number).u32(a.Number), a.ID)
		for _, k := range a.Keys {
			c.holds(key(kindKeyHash).hash(k.Hash), KeyRef{ns.ID, a.ID, k.ID})
		}
		if a.RemovedAt == 0 {
			c.count(ns, "agents", 1)
		} else if len(a.Keys) > 0 {
			c.bad("removed agent %s has keys", a.ID)
		}
		return true
	}))
	if count != ns.LastAgent {
		c.bad("namespace %s: %d agents, highest number %d", ns.ID, count, ns.LastAgent)
	}
}

func (c *checker) principals(ns *Namespace, meta map[string]int) {
	agents, judges, seats := map[string]int{}, map[string]int{}, map[string]int{}
	c.note(c.v.Agents(ns, nil, func(_ []byte, a *Agent) bool {
		if a.RemovedAt == 0 {
			agents[a.Principal]++
		}
		if a.judge() {
			judges[a.Principal]++
		}
		return true
	}))
	c.note(list(c.v, nsKey(kindJury, ns.Number), nil, func(suffix []byte, j *Jury) bool {
		e, err := c.v.Experience(ns, lastID(suffix))
		c.note(err)
		if e == nil {
			c.bad("jury of %s, which is gone", lastID(suffix))
			return true
		}
		for _, s := range j.Seats {
			if !s.Struck {
				seats[s.Juror]++
			}
		}
		if j.vacant() < 0 {
			c.bad("jury of %s has more jurors than seats", lastID(suffix))
		}
		return true
	}))
	c.note(c.v.Principals(ns, nil, func(_ []byte, p *Principal) bool {
		got := [...]int{p.Agents, p.Judges, p.InMeta, p.Seats}
		want := [...]int{agents[p.ID], judges[p.ID], meta[p.ID], seats["principal:"+p.ID]}
		delete(agents, p.ID)
		if got != want {
			c.bad("principal %s has agents, judges, in meta, seats %v, a scan finds %v", p.ID, got, want)
		}
		return true
	}))
	for id := range agents {
		c.bad("principal %s has agents but no record", id)
	}
}

func (c *checker) trajectories(ns *Namespace) {
	c.note(list(c.v, nsKey(kindTrajectory, ns.Number), nil, func(_ []byte, t *Trajectory) bool {
		c.count(ns, "trajectories", 1)
		c.holds(nsKey(kindTrajOwner, ns.Number).id(t.ID), t.Owner)
		c.holds(nsKey(kindGroup, ns.Number).u32(t.Owner).hash(t.Group), t.ID)
		attempts, err := c.v.Attempts(ns, t, 0)
		c.note(err)
		if len(attempts) != t.Version {
			c.bad("trajectory %s has %d attempts at version %d", t.ID, len(attempts), t.Version)
		}
		for _, a := range attempts {
			c.count(ns, "attempts", 1)
			if a.ExternalID != "" {
				c.holds(nsKey(kindExternal, ns.Number).u32(t.Owner).hash(externalHash(t.Group, a.ExternalID)), t.ID)
			}
			if a.Steps != nil {
				c.index(key(kindTrajTime).time(a.At + rawRetention).u32(ns.Number).u32(t.Owner).id(t.ID).u32(uint32(a.Number)))
			}
		}
		for _, row := range t.Gate {
			c.count(ns, "route/"+row.Route, 1)
		}
		for _, d := range t.Discarded {
			c.count(ns, "discarded/"+d.Reason, 1)
		}
		for _, id := range t.Experiences {
			if e, err := c.v.Experience(ns, id); err != nil || e == nil && len(t.Experiences) < maxLineage {
				c.bad("trajectory %s names experience %s, which is gone: %v", t.ID, id, err)
			}
		}
		return true
	}))
}

func (c *checker) experiences(ns *Namespace) map[string]int {
	meta := map[string]int{}
	c.note(c.v.All(ns, nil, func(suffix []byte, e *Experience) bool {
		if u32At(suffix, 0) != e.Owner || lastID(suffix) != e.ID {
			c.bad("experience %s is under the key of %x", e.ID, suffix)
		}
		c.holds(nsKey(kindOwner, ns.Number).id(e.ID), e.Owner)
		c.count(ns, "status/"+string(e.Status), 1)
		for _, p := range e.Lineage.DerivedFrom {
			c.child(ns, p, e.ID)
		}
		if vec, err := c.v.VectorsOf(ns.Number, e.Owner, e.ID); err != nil || vec.Version != e.Version {
			c.bad("experience %s version %d has vectors of version %d: %v", e.ID, e.Version, vec.Version, err)
		}
		for version := 1; version < e.Version; version++ {
			c.index(nsKey(kindVersion, ns.Number).u32(e.Owner).id(e.ID).u32(uint32(version)))
		}
		if e.Live() {
			c.live(ns, e)
		}
		if e.Status == federation.StatusBuffered {
			c.index(nsKey(kindBuffered, ns.Number).u32(e.Owner).id(e.ID))
			c.count(ns, bufferCounter(e.Owner), 1)
		}
		if expires(e) {
			c.index(key(kindExpiry).time(e.ExpiresAt).u32(ns.Number).u32(e.Owner).id(e.ID))
		}
		if inMeta(e) {
			meta[e.Principal]++
			c.count(ns, "meta", 1)
		}
		if e.Shared() {
			c.shared(ns, e)
		}
		return true
	}))
	return meta
}

// child is found from its parent; of a parent that is gone the mark may be gone too.
func (c *checker) child(ns *Namespace, parent, child ID) {
	k := nsKey(kindChild, ns.Number).id(parent).id(child)
	e, err := c.v.Experience(ns, parent)
	c.note(err)
	if e == nil {
		c.may[string(k)] = true
		return
	}
	c.index(k)
}

func (c *checker) live(ns *Namespace, e *Experience) {
	c.count(ns, poolCounter(e), 1)
	c.count(ns, PoolCounter(e.Owner), 1)
	k := nsKey(kindHash, ns.Number).u32(e.Owner).hash(unitHash(e.Unit, e.Hash))
	if _, twice := c.want[string(k)]; twice {
		c.bad("two live experiences of pool %d have the text of %s", e.Owner, e.ID)
	}
	c.holds(k, e.ID)
	if e.Shared() {
		c.index(nsKey(kindShelf, ns.Number).id(e.ID))
	}
}

// shared recomputes accumulators from the evidence, and the trust of what has not been judged under other raters since.
func (c *checker) shared(ns *Namespace, e *Experience) {
	acc := map[string]*federation.Accumulator{}
	c.note(c.v.EvidenceOf(ns, e.ID, nil, func(_ []byte, ev *Evidence) bool {
		if ev.Principal == e.Principal && e.Unit != UnitAgent || ev.Agent == e.Agent {
			c.bad("evidence %s about %s is the author's own", ev.Citation, e.ID)
		}
		if acc[ev.Juror] == nil {
			acc[ev.Juror] = &federation.Accumulator{}
		}
		acc[ev.Juror].Add(ev.Mass, ev.Lift, ev.Variance)
		return true
	}))
	stored := 0
	prefix := nsKey(kindAcc, ns.Number).id(e.ID).u32(uint32(e.Version))
	c.note(list(c.v, prefix, nil, func(suffix []byte, a *federation.Accumulator) bool {
		stored++
		if want := acc[string(suffix)]; want == nil || *want != *a {
			c.bad("juror %s about %s has %+v, its evidence gives %+v", suffix, e.ID, *a, want)
		}
		r, err := c.v.Rater(ns, string(suffix))
		c.note(err)
		if r.LW < a.W {
			c.bad("juror %s reported mass %d in all, %d about %s", suffix, r.LW, a.W, e.ID)
		}
		return true
	}))
	if stored != len(acc) {
		c.bad("%s has %d accumulators, its evidence %d jurors", e.ID, stored, len(acc))
	}
	if jury, err := c.v.Jury(ns, e.ID); err != nil || jury == nil || e.Trust == nil || e.Trust.Jury != jury.Size {
		c.bad("shared %s has jury %+v and trust %+v: %v", e.ID, jury, e.Trust, err)
	}
}

func (c *checker) receipts(ns *Namespace) {
	c.note(list(c.v, nsKey(kindReceipt, ns.Number), nil, func(suffix []byte, r *Receipt) bool {
		agent := u32At(suffix, 0)
		c.index(key(kindReceiptTime).time(r.At + ReceiptKept).u32(ns.Number).u32(agent).id(r.Recall))
		for _, item := range r.Items {
			e, err := c.v.Experience(ns, item.ID)
			c.note(err)
			if e != nil {
				c.index(nsKey(kindGiven, ns.Number).id(item.ID).id(r.Recall).u32(agent))
			}
		}
		return true
	}))
}

func (c *checker) reflections(ns *Namespace) {
	c.note(list(c.v, nsKey(kindReflection, ns.Number), nil, func(suffix []byte, r *Reflection) bool {
		if u32At(suffix, 0) != r.Owner || lastID(suffix) != r.ID || len(r.Tries) == 0 || len(r.Tries) > MaxRetries {
			c.bad("reflection %s of %d is under %x with %d tries", r.ID, r.Owner, suffix, len(r.Tries))
		}
		c.count(ns, "reflections", 1)
		c.count(ns, reflectionCounter(r.Owner), 1)
		c.holds(nsKey(kindReflectionOf, ns.Number).u32(r.Owner).id(r.Recall), r.ID)
		c.index(nsKey(kindReflectionIn, ns.Number).u32(r.Owner).id(r.Trajectory).id(r.ID))
		c.index(reflectionExpiry(r, ns.Number))
		for _, id := range r.sources() {
			c.index(nsKey(kindReflectionBase, ns.Number).id(id).u32(r.Owner).id(r.ID))
		}
		if traj, err := c.v.TrajectoryOf(ns.Number, r.Owner, r.Trajectory); err != nil || traj == nil {
			c.bad("reflection %s is about trajectory %s, which is gone: %v", r.ID, r.Trajectory, err)
		}
		return true
	}))
	c.note(c.v.scan(key(kindReflectionTime), upper(key(kindReflectionTime)), func(k, _ []byte) (bool, error) {
		if u32At(k, timePrefix) == ns.Number && lastID(k) == (ID{}) {
			c.may[string(k)] = true // a removed agent's are dropped by the next ticks
		}
		return true, nil
	}))
}

// evidence belongs to a shared item, or hangs on one that was erased.
func (c *checker) evidence(ns *Namespace) {
	prefix := nsKey(kindEvidence, ns.Number)
	c.note(c.v.scan(prefix, upper(prefix), func(k, _ []byte) (bool, error) {
		c.count(ns, "citations", 1)
		var id ID
		copy(id[:], k[5:])
		if e, err := c.v.Experience(ns, id); err != nil || e == nil && !c.hangs(kindEvidence, k) {
			c.bad("evidence %x about nothing: %v", k, err)
		}
		return true, nil
	}))
}

func (c *checker) tallies(ns *Namespace) {
	types, all := map[string]federation.Tally{}, federation.Tally{}
	c.note(list(c.v, nsKey(kindAgentTally, ns.Number), nil, func(suffix []byte, t *AgentTally) bool {
		sum := types[string(suffix[4:])]
		sum.Sum, sum.N = sum.Sum+t.Tally.Sum, sum.N+t.Tally.N
		types[string(suffix[4:])] = sum
		all.Sum, all.N = all.Sum+t.Tally.Sum, all.N+t.Tally.N
		return true
	}))
	for name, t := range types {
		c.holds(nsKey(kindTally, ns.Number).str(name), t)
	}
	c.count(ns, "outcomes", all.N)
	c.count(ns, "outcomes/reward", all.Sum)
}

func (c *checker) feed(ns *Namespace) {
	var first uint64
	c.note(list(c.v, nsKey(kindFeed, ns.Number), nil, func(suffix []byte, e *Event) bool {
		if first == 0 {
			first = bigEndian(suffix)
		}
		c.count(ns, "feed", 1)
		c.index(key(kindFeedTime).time(e.Time).u32(ns.Number).u64(bigEndian(suffix)))
		return true
	}))
	oldest, err := c.v.OldestEvent(ns)
	c.note(err)
	if first != 0 && oldest > first+1 {
		c.bad("the feed says it is complete from %d but still holds %d", oldest, first)
	}
}

func (c *checker) alerts(ns *Namespace) {
	standing, err := c.v.Alerts(ns)
	c.note(err)
	c.count(ns, "alerts", int64(len(standing)))
}

func (c *checker) keys(ns *Namespace) {
	n := int64(0)
	prefix := nsKey(kindIdem, ns.Number)
	c.note(list(c.v, prefix, nil, func(suffix []byte, r *idemResult) bool {
		n++
		parts := splitWords(suffix, 1)
		c.index(key(kindIdemTime).time(r.At).word(ns.ID).word(parts[0]).str(parts[1]))
		return true
	}))
	if n != ns.Idempotent {
		c.bad("namespace %s counts %d idempotency keys, there are %d", ns.ID, ns.Idempotent, n)
	}
}

func (c *checker) jobs() {
	numbers := map[string]uint32{}
	c.note(c.v.Namespaces(nil, func(_ []byte, ns *Namespace) bool {
		numbers[ns.ID] = ns.Number
		for _, s := range []string{JobQueued, JobLeased, JobDead} {
			c.count(ns, "job/"+s, 0)
		}
		return true
	}))
	c.note(c.v.Jobs(nil, func(_ []byte, j *Job) bool {
		ns := &Namespace{Number: numbers[j.Namespace]}
		c.count(ns, "job/"+j.Status, 1)
		c.holds(nsKey(kindJobKey, ns.Number).word(j.Kind).id(j.Subject), j.ID)
		if j.Status != JobDead {
			c.index(key(kindDue).time(j.Due).id(j.ID))
		}
		return true
	}))
}

// derived are the kinds whose every key follows from a primary record.
var derived = []keyKind{
	kindNamespaceNumber, kindAgentNumber, kindKeyHash, kindIdemTime, kindTrajOwner, kindGroup, kindExternal, kindTrajTime,
	kindOwner, kindHash, kindBuffered, kindExpiry, kindChild, kindVersion, kindShelf, kindGiven, kindReceiptTime, kindTally,
	kindJobKey, kindDue, kindReflectionOf, kindReflectionIn, kindReflectionTime, kindReflectionBase,
}

func (c *checker) compare() {
	for _, kind := range derived {
		c.compareKind(kind)
	}
	for _, k := range slices.Sorted(maps.Keys(c.want)) {
		kind := keyKind(k[0])
		if !slices.Contains(derived, kind) && kind != kindFeedTime {
			continue
		}
		if _, closer, err := c.v.snap.Get([]byte(k)); err != nil {
			c.bad("index key %x is missing", k)
		} else {
			c.note(closer.Close())
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.counters)) {
		got, err := c.v.number([]byte(k))
		c.note(err)
		if got != c.counters[k] {
			c.bad("counter %s of namespace %x is %d, a scan finds %d", k[5:], k[1:5], got, c.counters[k])
		}
	}
	c.strayCounters()
}

func (c *checker) compareKind(kind keyKind) {
	c.note(c.v.scan(key(kind), upper(key(kind)), func(k, val []byte) (bool, error) {
		want, known := c.want[string(k)]
		switch {
		case !known && !c.may[string(k)] && !c.hangs(kind, k):
			c.bad("stray index key %x", k)
		case want != "" && !bytes.Equal(val, []byte(want)):
			c.bad("index key %x holds %x, want %x", k, val, want)
		}
		return true, nil
	}))
}

// hangs reports whether a key hangs on an experience that is gone and waits for its purge job.
func (c *checker) hangs(kind keyKind, k []byte) bool {
	var id ID
	switch kind {
	case kindVersion:
		copy(id[:], k[9:])
	case kindGiven, kindChild, kindEvidence:
		copy(id[:], k[5:])
	default:
		return false
	}
	prefix := key(kindJobKey).u32(u32At(k, 1)).word(JobPurge).id(id)
	_, closer, err := c.v.snap.Get(prefix)
	if err != nil {
		return false
	}
	return closer.Close() == nil
}

// strayCounters looks for counters of what a scan would have found.
func (c *checker) strayCounters() {
	c.note(c.v.scan(key(kindCounter), upper(key(kindCounter)), func(k, val []byte) (bool, error) {
		name := string(k[5:])
		_, known := c.counters[string(k)]
		for _, prefix := range []string{"status/", "pools/", "pool/", "buffer/", "route/", "discarded/", "reflections/of/"} {
			if !known && strings.HasPrefix(name, prefix) && bigEndian(val[1:]) != 0 {
				c.bad("counter %s is %d, a scan finds none", name, int64(bigEndian(val[1:])))
			}
		}
		return true, nil
	}))
}
