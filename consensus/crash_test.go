package consensus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// testMutation is set by CAIRN_MUTATION to a number of the mutation constants.
// The tests are expected to fail with it; see DESIGN.md.
func testMutation() mutation {
	n, _ := strconv.Atoi(os.Getenv("CAIRN_MUTATION"))
	return mutation(n)
}

// crashRig drives the log store, the snapshot store and the runner without
// raft's timers, as one node would, and crashes at random.
type crashRig struct {
	t     *testing.T
	seed  int
	rng   *rand.Rand
	fs    *vfs.MemFS
	store *logStore
	snaps *snapshotStore
	sm    *kv
	run   *runner

	acked   uint64 // entries up to here were reported as stored
	term    uint64
	applied uint64 // entries handed over
	leads   bool   // the store may return before its sync has ended
	written map[uint64]*raft.Log
}

func (r *crashRig) open() {
	r.t.Helper()
	var err error
	r.store, err = openLogStore("log", r.fs, pebbleLogger{out: testLogger(), onFatal: func(err error) { panic(err) }}, newMetrics())
	if err != nil {
		r.t.Fatal(err)
	}
	r.store.broken = testMutation()
	r.store.ahead = func() bool { return r.leads }
	if r.snaps, err = openSnapshotStore(r.store, nil); err != nil {
		r.t.Fatal(err)
	}
	if r.sm, err = openKV(r.fs, "state"); err != nil {
		r.t.Fatal(err)
	}
	r.run = newRunner(r.sm, testLogger(), r.store.metrics, r.snaps)
	r.run.broken = testMutation()
}

func (r *crashRig) fatalf(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("seed %d: %s", r.seed, fmt.Sprintf(format, args...))
}

func (r *crashRig) closeAll() {
	r.t.Helper()
	if err := errors.Join(r.store.Close(), r.sm.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// append stores a batch and, once it is on disk, counts it as acknowledged.
func (r *crashRig) append() {
	r.t.Helper()
	last := max(r.lastIndex(), r.snapIndex())
	r.leads = r.rng.IntN(2) == 0
	batch := make([]*raft.Log, 1+r.rng.IntN(8))
	for i := range batch {
		index := last + 1 + uint64(i)
		batch[i] = &raft.Log{Index: index, Term: r.term, Data: kvCommand{Op: "inc", Key: "n", Value: fmt.Sprint(index)}.encode()}
	}
	if err := r.store.StoreLogs(batch); err != nil {
		r.t.Fatal(err)
	}
	for _, e := range batch {
		r.written[e.Index] = e
	}
	r.acked = r.store.committed(batch[len(batch)-1].Index)
}

func (r *crashRig) lastIndex() uint64 {
	r.t.Helper()
	last, err := r.store.LastIndex()
	if err != nil {
		r.t.Fatal(err)
	}
	return last
}

// apply hands over some entries that are stored, in a batch of random size.
func (r *crashRig) apply() {
	r.t.Helper()
	n := uint64(1 + r.rng.IntN(12))
	r.acked = r.store.committed(max(r.acked, r.lastIndex()))
	var batch []*raft.Log
	for index := r.applied + 1; index <= min(r.acked, r.applied+n); index++ {
		e := new(raft.Log)
		if err := r.store.GetLog(index, e); err != nil {
			r.t.Fatal(err)
		}
		batch = append(batch, e)
	}
	if len(batch) > 0 {
		r.run.ApplyBatch(batch)
		r.applied = batch[len(batch)-1].Index
	}
}

// snapshot compacts the log the way raft does.
func (r *crashRig) snapshot() {
	r.t.Helper()
	if r.applied <= r.snapIndex() {
		return
	}
	sink, err := r.snaps.Create(1, r.applied, r.term, raft.Configuration{}, 0, nil)
	if err == nil {
		err = thinSnapshot{r.run}.Persist(sink)
	}
	if err == nil {
		err = r.store.DeleteRange(0, r.applied-uint64(r.rng.IntN(int(min(r.applied, 4)))))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *crashRig) snapIndex() uint64 {
	if s := r.snaps.latest(); s != nil {
		return s.Index
	}
	return 0
}

// crash loses a random share of what was not synced and opens what is left.
func (r *crashRig) crash() {
	r.t.Helper()
	left := r.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.rng.IntN(101), RNG: r.rng})
	r.closeAll()
	r.fs = left
	r.open()
	r.check()
	r.term++
}

// check compares what came back with what was acknowledged.
func (r *crashRig) check() {
	r.t.Helper()
	first, _ := r.store.FirstIndex()
	last, _ := r.store.LastIndex()
	snap := r.snapIndex()
	if max(last, snap) < r.acked {
		r.fatalf("acknowledged up to %d, the log ends at %d, the snapshot at %d", r.acked, last, snap)
	}
	for index := first; index <= last && first > 0; index++ {
		var e raft.Log
		if err := r.store.GetLog(index, &e); err != nil {
			r.fatalf("%v", err)
		}
		if want := r.written[index]; want == nil || string(want.Data) != string(e.Data) {
			r.fatalf("entry %d differs from what was stored", index)
		}
	}
	index, _ := r.sm.Applied()
	if index < snap {
		r.fatalf("the state has %d, the snapshot promises %d", index, snap)
	}
	if index > max(last, snap) {
		r.fatalf("the state has %d, the log ends at %d", index, max(last, snap))
	}
	if got := r.sm.value("n"); got != "" && got != fmt.Sprint(index) || got == "" && index > 0 {
		r.fatalf("torn batch: the state has index %d and counter %q", index, got)
	}
	r.acked = max(last, snap)
	// Raft hands over again what came after the snapshot.
	r.applied = snap
	if snap == 0 {
		r.applied = max(first, 1) - 1
	}
}

// TestCrashes runs short histories that end in crashes, each from one seed.
func TestCrashes(t *testing.T) {
	for seed := range crashSeeds() {
		rng := rand.New(rand.NewPCG(uint64(seed), 0))
		r := &crashRig{t: t, seed: seed, rng: rng, fs: vfs.NewCrashableMem(), term: 1, written: map[uint64]*raft.Log{}}
		r.open()
		for range 2 + rng.IntN(3) {
			for range rng.IntN(12) {
				switch rng.IntN(8) {
				case 0:
					r.snapshot()
				case 1, 2, 3:
					r.apply()
				default:
					r.append()
				}
			}
			r.crash()
		}
		r.applyAll()
		if got := r.sm.value("n"); r.acked > 0 && got != fmt.Sprint(r.acked) {
			t.Fatalf("seed %d: after the replay the counter is %q, %d entries were acknowledged", seed, got, r.acked)
		}
		r.closeAll()
	}
}

func (r *crashRig) applyAll() {
	for r.applied < r.acked {
		r.apply()
	}
}

// crashSeeds is the number of histories; the race detector makes each tenfold
// dearer, so `go test` runs some and CAIRN_CRASH_SEEDS says how many else.
func crashSeeds() int {
	if n, err := strconv.Atoi(os.Getenv("CAIRN_CRASH_SEEDS")); err == nil {
		return n
	}
	return 100
}

// TestBatchCutsDoNotMatter cuts one log into batches at random and expects one
// state hash.
func TestBatchCutsDoNotMatter(t *testing.T) {
	const entries = 3000
	log := make([]*raft.Log, entries)
	for i := range log {
		log[i] = &raft.Log{Index: uint64(i + 1), Term: 1 + uint64(i)/700, Data: kvCommand{Op: "inc", Key: strconv.Itoa(i % 7)}.encode()}
		switch i % 50 {
		case 3:
			log[i].Data = nil
		case 4:
			log[i].Type = raft.LogConfiguration
		}
	}
	var want []byte
	var boundaries map[uint64][]byte
	for seed := range 10 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		sm, err := openKV(vfs.NewMem(), "state")
		if err != nil {
			t.Fatal(err)
		}
		r := newRunner(sm, testLogger(), newMetrics(), nil)
		for at := 0; at < entries; {
			n := min(1+rng.IntN(400), entries-at)
			r.ApplyBatch(log[at : at+n])
			at += n
		}
		if want == nil {
			want, boundaries = sm.StateHash(), r.hashes.all()
		}
		if string(sm.StateHash()) != string(want) {
			t.Errorf("seed %d: another state hash", seed)
		}
		if got := r.hashes.all(); len(got) != entries/hashEvery || fmt.Sprint(got) != fmt.Sprint(boundaries) {
			t.Errorf("seed %d: other hashes at the boundaries: %d", seed, len(got))
		}
		if err := sm.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
