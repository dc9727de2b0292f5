package store

import (
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"cairn/federation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// epoch is when the labs' site was made, Unix ms.
const epoch = int64(1_750_000_000_000) / day * day

// lab is a store with a log: commands are applied one an entry, and kept so that they can be applied elsewhere.
type lab struct {
	t   testing.TB
	s   *Store
	dir string
	ns  string
	now int64
	ids uint64

	log   [][]byte
	times []int64
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{t: t, dir: filepath.Join(t.TempDir(), "state"), ns: DefaultNamespace, now: epoch}
	l.open()
	t.Cleanup(func() {
		if err := l.s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	var made Bootstrapped
	l.do(KindBootstrap, Bootstrap{Site: "site-1", Admin: testKey("admin")}, &made)
	return l
}

func (l *lab) open() {
	l.t.Helper()
	s, err := Open(l.dir, slog.New(slog.DiscardHandler))
	if err != nil {
		l.t.Fatalf("open store: %v", err)
	}
	l.s = s
}

func (l *lab) reopen() {
	l.t.Helper()
	if err := l.s.Close(); err != nil {
		l.t.Fatalf("close store: %v", err)
	}
	l.open()
}

// id is the next id of the lab, in order.
func (l *lab) id() ID {
	l.ids++
	return numbered(l.ids)
}

func numbered(n uint64) ID {
	var id ID
	binary.BigEndian.PutUint64(id[8:], n)
	id[0] = 1
	return id
}

func testKey(name string) AgentKey {
	return AgentKey{ID: name, Hash: sha256.Sum256([]byte("key " + name))}
}

func (l *lab) entry(c Command) Result {
	l.t.Helper()
	data, err := c.Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	at, _ := l.s.Applied()
	l.log, l.times = append(l.log, data), append(l.times, l.now)
	results, err := l.s.Apply(at+1, 1, []int64{l.now}, [][]byte{data})
	if err != nil {
		l.t.Fatalf("apply kind %d: %v", c.Kind, err)
	}
	r, err := DecodeResult(results[0])
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *lab) command(kind Kind, body any) Command {
	l.t.Helper()
	c, err := NewCommand(kind, l.ns, body)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func (l *lab) try(kind Kind, body any) Result {
	l.t.Helper()
	return l.entry(l.command(kind, body))
}

// do applies a command that must be accepted.
func (l *lab) do(kind Kind, body, out any) {
	l.t.Helper()
	r := l.try(kind, body)
	if r.Reject != nil {
		l.t.Fatalf("kind %d was refused: %v", kind, r.Reject)
	}
	if out != nil {
		if err := DecodeBody(r.Body, out); err != nil {
			l.t.Fatal(err)
		}
	}
}

// refuse applies a command that must be refused with a code.
func (l *lab) refuse(kind Kind, body any, code string) *Reject {
	l.t.Helper()
	r := l.try(kind, body)
	if r.Reject == nil {
		l.t.Fatalf("kind %d was accepted, want refusal %s", kind, code)
	}
	if r.Reject.Code != code {
		l.t.Fatalf("kind %d was refused with %v, want code %s", kind, r.Reject, code)
	}
	return r.Reject
}

// read runs fn on a view.
func (l *lab) read(fn func(v *View, ns *Namespace)) {
	l.t.Helper()
	v, err := l.s.View()
	if err != nil {
		l.t.Fatal(err)
	}
	defer v.Close()
	ns, err := v.Namespace(l.ns)
	if err != nil || ns == nil {
		l.t.Fatalf("namespace %s: %v", l.ns, err)
	}
	fn(v, ns)
}

func (l *lab) agent(id, principal string) Agent {
	l.t.Helper()
	var a Agent
	l.do(KindCreateAgent, Agent{ID: id, Principal: principal, Roles: []string{"agent"}, Keys: []AgentKey{testKey(l.ns + id)}}, &a)
	return a
}

func textHash(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func (l *lab) lesson(text string) Experience {
	return Experience{
		ID: l.id(), Scenario: "when " + text, Content: text, Kind: federation.KindDirect, Hash: textHash(text),
		Status: federation.StatusActive, Strength: federation.One / 2, Judge: federation.One / 2, TaskType: "air",
	}
}

func testVectors() Vectors {
	return Vectors{Vectors: []Vector{PackVector("test", []float32{1, 0}), PackVector("test", []float32{0, 1})}}
}

// add records a lesson directly.
func (l *lab) add(agent, text string, with ...func(*Experience)) Added {
	l.t.Helper()
	e := l.lesson(text)
	e.Agent = agent
	for _, fn := range with {
		fn(&e)
	}
	var out Added
	l.do(KindAddExperience, AddExperience{Experience: e, Vectors: testVectors()}, &out)
	return out
}

func share(s federation.Share) func(*Experience) { return func(e *Experience) { e.Share = s } }

func (l *lab) get(id ID) *Experience {
	l.t.Helper()
	var out *Experience
	l.read(func(v *View, ns *Namespace) {
		e, err := v.Experience(ns, id)
		if err != nil {
			l.t.Fatal(err)
		}
		out = e
	})
	return out
}

func (l *lab) must(id ID) *Experience {
	l.t.Helper()
	e := l.get(id)
	if e == nil {
		l.t.Fatalf("experience %s is gone", id)
	}
	return e
}

func (l *lab) counter(name string) int64 {
	l.t.Helper()
	var n int64
	l.read(func(v *View, ns *Namespace) {
		var err error
		if n, err = v.Counter(ns, name); err != nil {
			l.t.Fatal(err)
		}
	})
	return n
}

func (l *lab) jobs() []Job {
	l.t.Helper()
	var out []Job
	l.read(func(v *View, _ *Namespace) {
		if err := v.Jobs(nil, func(_ []byte, j *Job) bool { out = append(out, *j); return true }); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

// lease takes all due jobs.
func (l *lab) lease() []Job {
	l.t.Helper()
	var out []Job
	for {
		var got Leased
		l.do(KindLeaseJobs, LeaseJobs{Node: "n1", Max: 64, Lease: 60_000}, &got)
		if len(got.Jobs) == 0 {
			return out
		}
		out = append(out, got.Jobs...)
	}
}

// leaseOf takes the due job of a kind about a subject and leaves the others in the queue.
func (l *lab) leaseOf(kind string, subject ID) (found Job, ok bool) {
	l.t.Helper()
	for _, j := range l.lease() {
		if j.Kind == kind && j.Subject == subject {
			found, ok = j, true
			continue
		}
		l.do(KindFinishJob, FinishJob{Job: ref(j), Stale: true}, nil)
	}
	return found, ok
}

func ref(j Job) JobRef { return JobRef{j.ID, j.Lease} }

// nominate runs the nomination job of an experience as the leader does, with the first jurors that are eligible.
func (l *lab) nominate(e *Experience, job Job, with ...func(*Nominate)) Nominated {
	l.t.Helper()
	body := l.nomination(e, job)
	for _, fn := range with {
		fn(&body)
	}
	var out Nominated
	l.do(KindNominate, body, &out)
	return out
}

func (l *lab) nomination(e *Experience, job Job) Nominate {
	l.t.Helper()
	body := Nominate{
		Job: ref(job), Original: Target{e.ID, e.Owner, e.Version}, Vectors: testVectors(),
		Copy:      Experience{ID: l.id(), Scenario: e.Scenario, Content: e.Content, Keywords: e.Keywords, Hash: e.Hash},
		Screening: federation.ScreeningPass,
	}
	l.read(func(v *View, ns *Namespace) {
		unit, eligible, err := v.Eligible(ns, e)
		if err != nil {
			l.t.Fatal(err)
		}
		body.Unit, body.Jurors = unit, eligible[:federation.JurySize(len(eligible))]
	})
	return body
}

// shelve adds a lesson that its author wants shared and nominates it.
func (l *lab) shelve(agent, text string) (original, candidate ID) {
	l.t.Helper()
	added := l.add(agent, text, share(federation.ShareCandidate))
	job, ok := l.leaseOf(JobNominate, added.ID)
	if !ok {
		l.t.Fatalf("no nomination job for %s", added.ID)
	}
	out := l.nominate(l.must(added.ID), job)
	if out.Reason != "" {
		l.t.Fatalf("not nominated: %s", out.Reason)
	}
	return added.ID, out.Candidate
}

// recall makes a receipt of what was given, without storing it.
func (l *lab) recall(agent string, items ...ID) Receipt {
	l.t.Helper()
	r := Receipt{Recall: l.id(), Agent: agent, TaskType: "air", Group: textHash("group"), At: l.now}
	for _, id := range items {
		e := l.must(id)
		item := ReceiptItem{ID: id, Version: e.Version, Hash: e.Hash}
		if e.Status == federation.StatusCandidate {
			item.Flags = FlagExploratory
		}
		r.Items = append(r.Items, item)
	}
	return r
}

func (l *lab) outcome(r Receipt, reward federation.Micro) Outcome {
	o := Outcome{Receipt: r, Reward: reward, Success: reward == federation.One, Evidence: federation.EvidenceVerified}
	for _, item := range r.Items {
		o.Credits = append(o.Credits, Credit{ID: item.ID, Version: item.Version, Credit: federation.One, Citation: l.id()})
	}
	return o
}

// report recalls items, reports them all as used, and returns what moved.
func (l *lab) report(agent string, reward federation.Micro, items ...ID) Reported {
	l.t.Helper()
	var out Reported
	l.do(KindOutcome, l.outcome(l.recall(agent, items...), reward), &out)
	return out
}

// promote runs the promotion job of a candidate, if there is one.
func (l *lab) promote(id ID) (Promoted, bool) {
	l.t.Helper()
	job, ok := l.leaseOf(JobPromote, id)
	if !ok {
		return Promoted{}, false
	}
	var out Promoted
	l.do(KindPromote, Promote{Job: ref(job), Target: Target{ID: id, Version: 1}, Decision: l.id()}, &out)
	return out, true
}

func (l *lab) tick() Ticked {
	l.t.Helper()
	var sum Ticked
	for {
		var out Ticked
		l.do(KindTick, Tick{}, &out)
		sum.Expired += out.Expired
		sum.Keys += out.Keys
		sum.Receipts += out.Receipts
		sum.Attempts += out.Attempts
		sum.Struck += out.Struck
		if !out.More {
			return sum
		}
	}
}

// record records attempts of the given rewards in a group.
func (l *lab) record(agent, group string, complete bool, rewards ...federation.Micro) Recorded {
	l.t.Helper()
	var out Recorded
	l.do(KindRecordTrajectory, l.recording(agent, group, complete, rewards...), &out)
	return out
}

func (l *lab) recording(agent, group string, complete bool, rewards ...federation.Micro) RecordTrajectory {
	b := RecordTrajectory{ID: l.id(), Agent: agent, Group: textHash(group), Task: group, TaskType: "air", Complete: complete}
	for _, r := range rewards {
		b.Attempts = append(b.Attempts, Attempt{
			HasReward: true, Reward: float64(r) / 1e6, Score: r, Success: r == federation.One, Expected: federation.One / 2,
			Scale: [2]float64{0, 1}, Steps: []Step{{Tool: "book", Args: []byte(`{}`)}},
		})
	}
	return b
}

// distil finishes a group's job with items.
func (l *lab) distil(traj ID, items ...DistilledItem) (Kept, *Reject) {
	l.t.Helper()
	job, ok := l.leaseOf(JobDistil, traj)
	if !ok {
		l.t.Fatalf("no distilling job for %s", traj)
	}
	var rec *Trajectory
	l.read(func(v *View, ns *Namespace) {
		var err error
		if rec, err = v.Trajectory(ns, traj); err != nil || rec == nil {
			l.t.Fatalf("trajectory %s: %v", traj, err)
		}
	})
	b := Distilled{Job: ref(job), Trajectory: traj, Owner: rec.Owner, Version: rec.Version, Items: items}
	for i := range rec.Version {
		b.Gate = append(b.Gate, GateRow{Attempt: i, Route: "long_term", HasReward: true})
	}
	r := l.try(KindDistilled, b)
	var out Kept
	if r.Reject == nil {
		if err := DecodeBody(r.Body, &out); err != nil {
			l.t.Fatal(err)
		}
	}
	return out, r.Reject
}

// item is what a lens says about a feature of a group.
func (l *lab) item(traj ID, feature, text string, success int) DistilledItem {
	e := l.lesson(text)
	e.Kind, e.Success = federation.KindSuccess, success
	e.Lineage = Lineage{Trajectories: []ID{traj}, Lens: "success", Feature: feature, Generator: "rule"}
	return DistilledItem{Experience: e, Vectors: testVectors()}
}
