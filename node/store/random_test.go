package store

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"cairn/federation"
)

// walk makes a random but plausible log: a small fleet records, distils, recalls, reports, shares, erases, and loses jobs.
type walk struct {
	*lab
	rng    *rand.Rand
	agents []string
	seen   []ID // experiences that were made
	done   map[string]int
}

func newWalk(t testing.TB, seed uint64) *walk {
	w := &walk{lab: newLab(t), rng: rand.New(rand.NewPCG(seed, 1)), done: map[string]int{}}
	for i := range 6 {
		w.enrol(fmt.Sprintf("p%d", i%4))
	}
	return w
}

func (w *walk) enrol(principal string) {
	id := fmt.Sprintf("agent-%d", len(w.agents))
	w.agents = append(w.agents, id)
	w.send(KindCreateAgent, Agent{ID: id, Principal: principal, Roles: []string{"agent"}, Keys: []AgentKey{testKey(id)}})
}

// send applies a command; a refusal is part of the walk. Now and then the command comes twice.
func (w *walk) send(kind Kind, body any) Result {
	c := w.command(kind, body)
	if !siteWide[kind] && w.rng.IntN(8) == 0 {
		c.Actor, c.Idem = w.agent(), &Idempotency{Key: fmt.Sprint(len(w.log)), Hash: textHash(fmt.Sprint(body))}
	}
	c.Client, c.Seq = fmt.Sprintf("node/%d", w.rng.IntN(4)), uint64(len(w.log)+1)
	r := w.entry(c)
	if w.rng.IntN(20) == 0 {
		before := w.dump()
		if again := w.entry(c); string(again.Body) != string(r.Body) || (again.Reject == nil) != (r.Reject == nil) {
			w.t.Errorf("kind %d answered %+v, repeated %+v", kind, r, again)
		}
		if w.dump() != before {
			w.t.Errorf("kind %d repeated changed the state", kind)
		}
	}
	outcome := "ok"
	if r.Reject != nil {
		outcome = r.Reject.Code
	}
	w.done[fmt.Sprintf("%d %s", kind, outcome)]++
	return r
}

func (w *walk) agent() string { return w.agents[w.rng.IntN(len(w.agents))] }

func (w *walk) some() *Experience {
	for range 10 {
		if len(w.seen) == 0 {
			break
		}
		if e := w.get(w.seen[w.rng.IntN(len(w.seen))]); e != nil {
			return e
		}
	}
	e := w.lesson("first")
	return &e
}

func (w *walk) text() string { return fmt.Sprintf("lesson %d", w.rng.IntN(40)) }

func (w *walk) step() {
	w.now += w.rng.Int64N(600_000)
	switch n := w.rng.IntN(100); {
	case n < 12:
		w.recordSome()
	case n < 18:
		w.addSome()
	case n < 55:
		w.recallSome()
	case n < 80:
		w.workSome()
	case n < 84:
		w.patchSome()
	case n < 85:
		w.eraseSome()
	case n < 88:
		e := w.some()
		w.send(KindRestore, Target{ID: e.ID, Owner: e.Owner})
		if e = w.some(); e.Status == federation.StatusSuperseded {
			w.send(KindUndoMerge, UndoMerge{From: e.ID, Owner: e.Owner, By: e.Agent})
		}
	case n < 92:
		w.send(KindTick, Tick{})
	case n < 93:
		w.now += w.rng.Int64N(20 * day)
		w.send(KindTick, Tick{})
	case n < 95:
		e := w.some()
		action := []string{ActionHold, ActionRelease, ActionRelease, ActionRevoke}[w.rng.IntN(4)]
		w.send(KindCurate, Curate{Target: Target{ID: e.ID, Owner: e.Owner}, Action: action, By: "admin"})
	case n < 98:
		e := w.some()
		w.send(KindRequestNomination, RequestNomination{e.ID, e.Owner})
	default:
		w.admin()
	}
}

func (w *walk) recordSome() {
	b := w.recording(w.agent(), fmt.Sprintf("g%d", w.rng.IntN(12)), w.rng.IntN(2) == 0)
	for range 1 + w.rng.IntN(3) {
		one := w.recording("", "", false, federation.Micro(w.rng.IntN(2))*federation.One).Attempts[0]
		if w.rng.IntN(3) == 0 {
			one.ExternalID = fmt.Sprint(w.rng.IntN(6))
		}
		b.Attempts = append(b.Attempts, one)
	}
	w.send(KindRecordTrajectory, b)
}

func (w *walk) addSome() {
	e := w.lesson(w.text())
	e.Agent = w.agent()
	e.Share = []federation.Share{"", "", federation.ShareCandidate, federation.ShareNever}[w.rng.IntN(4)]
	if w.rng.IntN(4) == 0 {
		e.Status = federation.StatusBuffered
	}
	b := AddExperience{Experience: e}
	if from := w.some(); w.rng.IntN(4) == 0 {
		b.Experience.Lineage.DerivedFrom = []ID{from.ID}
	}
	if into := w.some(); w.rng.IntN(5) == 0 {
		b.Experience.Agent, b.MergeInto, b.MergeVer = into.Agent, into.ID, into.Version
	}
	w.send(KindAddExperience, b)
	w.seen = append(w.seen, e.ID)
}

// shelved are the live shared items.
func (w *walk) shelved() (ids []ID) {
	w.read(func(v *View, ns *Namespace) {
		prefix := nsKey(kindShelf, ns.Number)
		if err := v.scan(prefix, upper(prefix), func(k, _ []byte) (bool, error) {
			ids = append(ids, lastID(k))
			return true, nil
		}); err != nil {
			w.t.Fatal(err)
		}
	})
	return ids
}

// recallSome gives items to an agent and mostly reports what happened. At first what is shared helps and little else does,
// later it is the other way round.
func (w *walk) recallSome() {
	agent := w.agent()
	var items []ID
	shelf := w.shelved()
	helps := len(w.log) < 700
	if len(shelf) > 0 && w.rng.IntN(2) == 0 {
		items = append(items, shelf[w.rng.IntN(min(3, len(shelf)))])
	} else {
		helps = !helps
		if e := w.get(w.some().ID); e != nil {
			items = append(items, e.ID)
		}
	}
	r := w.recall(agent, items...)
	r.TaskType = []string{"air", "rail"}[w.rng.IntN(2)]
	if w.rng.IntN(3) > 0 {
		w.send(KindReceipts, Receipts{[]Receipt{r}})
	}
	if w.rng.IntN(6) == 0 {
		return
	}
	reward := federation.Micro(0)
	if helps != (w.rng.IntN(8) == 0) {
		reward = federation.One
	}
	o := w.outcome(r, reward)
	for i := range o.Credits {
		if w.rng.IntN(5) == 0 {
			o.Credits[i].Credit, o.Credits[i].Unused = 0, true
		}
	}
	w.send(KindOutcome, o)
	if reward == 0 && w.rng.IntN(2) == 0 {
		w.reflectSome(r)
	}
	if w.rng.IntN(3) == 0 {
		w.send(KindReceipts, Receipts{[]Receipt{r}})
	}
}

func (w *walk) patchSome() {
	e, text := w.some(), w.text()
	w.send(KindPatchExperience, PatchExperience{
		ID: e.ID, Owner: e.Owner, Version: e.Version - w.rng.IntN(2), Content: text, Hash: textHash(text), Share: e.Share,
	})
}

func (w *walk) eraseSome() {
	e := w.some()
	w.send(KindErase, Erase{Receipt: w.id(), Target: Target{ID: e.ID, Owner: e.Owner}, Agent: e.Agent})
}

func (w *walk) admin() {
	yes := w.rng.IntN(2) == 0
	switch w.rng.IntN(6) {
	case 5:
		w.alertSome()
	case 4:
		w.send(KindSettings, Settings{Approval: []string{"", "manual"}[w.rng.IntN(2)]})
	case 0:
		w.enrol(fmt.Sprintf("p%d", w.rng.IntN(7)))
	case 1:
		w.send(KindUpdatePrincipal, UpdatePrincipal{ID: fmt.Sprintf("p%d", w.rng.IntN(7)), Anchor: &yes})
	case 2:
		w.send(KindUpdatePrincipal, UpdatePrincipal{ID: fmt.Sprintf("p%d", w.rng.IntN(7)), Suspended: &yes})
	case 3:
		if len(w.agents) > 8 {
			w.send(KindRemoveAgent, AgentID{w.agent()})
		}
	}
}

// alertSome raises and clears a few alerts, now and then from a state that is long gone.
func (w *walk) alertSome() {
	at, _ := w.s.Applied()
	b := Alerts{Seen: at - min(at, w.rng.Uint64N(60))}
	for range 1 + w.rng.IntN(3) {
		name := fmt.Sprintf("burst/%d", w.rng.IntN(6))
		if w.rng.IntN(2) == 0 {
			b.Clear = append(b.Clear, name)
			continue
		}
		b.Raise = append(b.Raise, RaisedAlert{Name: name, Kind: "burst", Severity: "warning", Value: w.rng.Int64N(1000), Experiences: []ID{w.some().ID}})
	}
	w.send(KindAlerts, b)
}

// workSome leases jobs and ends them in one of the ways in which jobs end.
func (w *walk) workSome() {
	var got Leased
	r := w.send(KindLeaseJobs, LeaseJobs{Node: "n1", Max: 1 + w.rng.IntN(8), Lease: 30_000})
	if err := DecodeBody(r.Body, &got); err != nil {
		w.t.Fatal(err)
	}
	for _, j := range got.Jobs {
		switch w.rng.IntN(12) {
		case 0: // the node is lost
		case 1:
			w.send(KindFinishJob, FinishJob{Job: ref(j), Error: "broken", RetryIn: 1000})
		case 2:
			w.send(KindFinishJob, FinishJob{Job: ref(j), Stale: true})
		default:
			w.finish(j)
		}
	}
	for _, j := range w.jobs() {
		if j.Status == JobDead && w.rng.IntN(3) == 0 {
			w.send(KindRetryJob, JobID{j.ID})
		}
	}
}

func (w *walk) finish(j Job) {
	switch j.Kind {
	case JobDistil:
		w.distilSome(j)
	case JobNominate:
		if e := w.get(j.Subject); e != nil {
			b := w.nomination(e, j)
			if w.rng.IntN(6) == 0 {
				b.Screening = federation.ScreeningQuarantine
			}
			w.send(KindNominate, b)
			w.seen = append(w.seen, b.Copy.ID, b.Copy.ID, b.Copy.ID)
			return
		}
		w.send(KindFinishJob, FinishJob{Job: ref(j)})
	case JobPromote:
		b := Promote{Job: ref(j), Target: Target{ID: j.Subject, Version: 1}, Decision: w.id()}
		if into := w.some(); w.rng.IntN(3) == 0 {
			b.Fuse, b.FuseVer = into.ID, into.Version
		}
		if r := w.send(KindPromote, b); r.Reject != nil {
			w.send(KindFinishJob, FinishJob{Job: ref(j), Stale: true})
		}
		if e := w.get(j.Subject); e != nil && e.Pending != (ID{}) && w.rng.IntN(2) == 0 {
			w.send(KindDecidePromotion, DecidePromotion{ID: e.Pending, Approve: w.rng.IntN(4) > 0, By: "admin"})
		}
	case JobReplace:
		w.replaceSome(j)
	case JobCompact:
		w.compactSome(j)
	case JobEmbed:
		if e := w.get(j.Subject); e != nil {
			w.send(KindSetVectors, SetVectors{Job: ref(j), Target: Target{e.ID, e.Owner, e.Version}, Vectors: testVectors()})
			return
		}
		w.send(KindFinishJob, FinishJob{Job: ref(j)})
	case JobCurate:
		b := FollowUp{Job: ref(j), Target: Target{ID: j.Subject, Owner: j.Owner}, Action: j.Extra}
		for more := true; more; {
			var out FollowedUp
			if err := DecodeBody(w.send(KindFollowUp, b).Body, &out); err != nil {
				w.t.Fatal(err)
			}
			more, b.After = out.More, out.After
		}
	case JobPurge:
		w.send(KindPurge, Purge{Job: ref(j), ID: j.Subject})
	}
}

func (w *walk) distilSome(j Job) {
	traj := w.trajectory(j.Subject)
	b := Distilled{Job: ref(j), Trajectory: traj.ID, Owner: traj.Owner, Version: traj.Version}
	for i := range traj.Version {
		b.Gate = append(b.Gate, GateRow{Attempt: i, Route: []string{"long_term", "buffer", "discard"}[i%3]})
	}
	for i := range w.rng.IntN(4) {
		item := w.item(traj.ID, fmt.Sprintf("f%d", i), w.text(), traj.Version)
		if into := w.some(); w.rng.IntN(4) == 0 && into.Owner == traj.Owner {
			item.MergeInto, item.MergeVer = into.ID, into.Version
		}
		if w.rng.IntN(3) == 0 {
			item.Experience.Status = federation.StatusBuffered
		}
		b.Items = append(b.Items, item)
		w.seen = append(w.seen, item.Experience.ID)
	}
	if w.rng.IntN(3) == 0 {
		b.Discarded = []Discard{{Reason: "judge"}}
	}
	if r := w.send(KindDistilled, b); r.Reject != nil {
		w.send(KindFinishJob, FinishJob{Job: ref(j), Error: r.Reject.Code})
	}
}

func (w *walk) replaceSome(j Job) {
	b := ReplaceJuror{Job: ref(j), ID: j.Subject}
	w.read(func(v *View, ns *Namespace) {
		e, err := v.Experience(ns, j.Subject)
		if err != nil || e == nil {
			return
		}
		jury, err := v.Jury(ns, j.Subject)
		if err != nil || jury == nil {
			w.t.Fatalf("jury of %s: %v", j.Subject, err)
		}
		if free, err := v.FreeJurors(ns, e, jury); err != nil {
			w.t.Fatal(err)
		} else if len(free) > 0 {
			b.New = free[w.rng.IntN(len(free))]
		}
	})
	w.send(KindReplaceJuror, b)
}

func (w *walk) run(steps int) {
	w.t.Helper()
	for i := range steps {
		w.step()
		if i%50 == 49 || i == steps-1 {
			w.mustCheck()
		}
		if w.t.Failed() {
			w.t.Fatalf("after step %d, entry %d", i, len(w.log))
		}
	}
}

var walks = flag.Uint("walks", 2, "random logs that the metamorphic test makes")

func TestRandomLogs(t *testing.T) {
	total := map[string]int{}
	for seed := range uint64(*walks) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWalk(t, seed)
			w.run(500)
			for k, n := range w.done {
				total[k] += n
			}
			for _, name := range []string{"promotions", "demotions", "merges", "archived", "retired", "nominations", "revoked"} {
				total[name] += int(w.counter(name))
			}
			w.compareCuts(seed)
		})
	}
	must := []string{"promotions", "merges", "nominations"}
	if *walks >= 8 {
		must = append(must, "demotions", "archived", "retired", "revoked")
	}
	for _, name := range must {
		if total[name] == 0 {
			t.Errorf("no walk had %s: what they check is too little", name)
		}
	}
	t.Log(total)
}

// compareCuts applies the walk's log in batches of random sizes, and once with restarts: one state, one hash.
func (w *walk) compareCuts(seed uint64) {
	t := w.t.(*testing.T)
	want := w.dump()
	_, hash := w.s.Hash()
	for name, reopen := range map[string]func(int) bool{"batches": nil, "restarts": func(b int) bool { return b%40 == 7 }} {
		rng := rand.New(rand.NewPCG(seed, 2))
		got, gotHash := sink(t, w.log, w.times, func(left int) int { return 1 + rng.IntN(min(left, 30)) }, reopen)
		if gotHash != hash {
			t.Errorf("%s: hash %x, want %x", name, gotHash, hash)
		}
		if got != want {
			t.Errorf("%s: %d keys differ", name, changedKeys(want, got))
		}
	}
}

func TestCheckNotices(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	l.report("bob-1", federation.One, item)
	l.record("author", "g", true, federation.One)
	l.mustCheck()
	v, err := l.s.View()
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	if err := v.scan([]byte{0}, []byte{0xff}, func(k, _ []byte) (bool, error) {
		keys = append(keys, slices.Clone(k))
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	v.Close()
	unchecked := map[keyKind]bool{}
	for _, k := range keys {
		if len(l.without(k)) == 0 {
			unchecked[keyKind(k[0])] = true
		}
	}
	// Primary records that stand alone, and what only time or a later command reads.
	for _, kind := range []keyKind{kindMeta, kindFeed, kindChange, kindShown, kindDeltas, kindAgentTotals, kindRater, kindEvidence, kindCounter, kindReceipt, kindSweep, kindDecision, kindLedger, kindTurn, kindSeries} {
		delete(unchecked, kind)
	}
	for kind := range unchecked {
		t.Errorf("nothing notices that a key of kind %x is gone", kind)
	}
}

// without lists what the checker says when a key is missing.
func (l *lab) without(k []byte) []string {
	l.t.Helper()
	db := l.s.gen.db
	old, closer, err := db.Get(k)
	if err != nil {
		l.t.Fatal(err)
	}
	value := slices.Clone(old)
	if err := errors.Join(closer.Close(), db.Delete(k, nil)); err != nil {
		l.t.Fatal(err)
	}
	v, err := l.s.View()
	if err != nil {
		l.t.Fatal(err)
	}
	problems := check(v)
	v.Close()
	if err := db.Set(k, value, nil); err != nil {
		l.t.Fatal(err)
	}
	return problems
}
