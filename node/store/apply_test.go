package store

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"cairn/federation"
)

func TestClientSequenceAppliesOnce(t *testing.T) {
	l := newLab(t)
	c := l.command(KindCreatePrincipal, PrincipalID{"alice"})
	c.Client, c.Seq = "node/1", 7
	first := l.entry(c)
	again := l.entry(c)
	if first.Reject != nil || again.Reject != nil {
		t.Fatalf("got %v and %v, want the first answer twice", first.Reject, again.Reject)
	}
	if !again.Replayed || again.Index != first.Index || string(again.Body) != string(first.Body) {
		t.Errorf("the repeat answered %+v, the first %+v", again, first)
	}
}

func TestClientSequenceKeepsARefusal(t *testing.T) {
	l := newLab(t)
	l.do(KindCreatePrincipal, PrincipalID{"alice"}, nil)
	c := l.command(KindCreatePrincipal, PrincipalID{"alice"})
	c.Client, c.Seq = "node/1", 1
	first := l.entry(c)
	again := l.entry(c)
	if first.Reject == nil || again.Reject == nil || again.Index != first.Index {
		t.Errorf("got %+v, then %+v, want one refusal", first, again)
	}
}

func TestOldClientSequenceIsRefused(t *testing.T) {
	l := newLab(t)
	for _, seq := range []uint64{1, 1 + clientSlots} {
		c := l.command(KindCreatePrincipal, PrincipalID{"p" + string(rune('a'+seq%26))})
		c.Client, c.Seq = "node/1", seq
		if r := l.entry(c); r.Reject != nil {
			t.Fatal(r.Reject)
		}
	}
	c := l.command(KindCreatePrincipal, PrincipalID{"late"})
	c.Client, c.Seq = "node/1", 1
	if r := l.entry(c); r.Reject == nil || r.Reject.Code != "conflict" {
		t.Errorf("got %+v, want conflict", r)
	}
}

func TestIdempotencyKey(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	make := func(kind Kind, body any, hash string) Result {
		c := l.command(kind, body)
		c.Actor, c.Idem = "a1", &Idempotency{Key: "k", Hash: textHash(hash)}
		return l.entry(c)
	}
	first := make(KindCreatePrincipal, PrincipalID{"bob"}, "x")
	if again := make(KindCreatePrincipal, PrincipalID{"bob"}, "x"); !again.Replayed || again.Index != first.Index {
		t.Errorf("the same request answered %+v, want the first answer %+v", again, first)
	}
	if other := make(KindCreatePrincipal, PrincipalID{"carl"}, "y"); other.Reject == nil || other.Reject.Code != "conflict" {
		t.Errorf("another body answered %+v, want conflict", other)
	}
	if other := make(KindUpdatePrincipal, UpdatePrincipal{ID: "bob"}, "x"); other.Reject == nil || other.Reject.Code != "conflict" {
		t.Errorf("another kind of request answered %+v, want conflict", other)
	}
	l.now += idempotencyTTL
	if late := make(KindCreatePrincipal, PrincipalID{"carl"}, "y"); late.Reject != nil {
		t.Errorf("after a day the key answered %v, want it free", late.Reject)
	}
	l.mustCheck()
	l.now += idempotencyTTL
	if out := l.tick(); out.Keys != 1 {
		t.Errorf("the tick dropped %d keys, want 1", out.Keys)
	}
	l.mustCheck()
}

func (l *lab) mustCheck() {
	l.t.Helper()
	v, err := l.s.View()
	if err != nil {
		l.t.Fatal(err)
	}
	defer v.Close()
	for _, problem := range check(v) {
		l.t.Error(problem)
	}
}

func TestRefusalWritesNothing(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	added := l.add("a1", "one")
	before := l.dump()
	l.refuse(KindPatchExperience, PatchExperience{ID: added.ID, Owner: a.Number, Version: 9}, "precondition")
	l.refuse(KindOutcome, Outcome{Receipt: l.recall("a1", added.ID), Reward: 1, Evidence: "verified",
		Credits: []Credit{{ID: numbered(999), Version: 1, Credit: 1, Citation: l.id()}}}, "invalid")
	if after := l.dump(); after != before {
		t.Errorf("a refused command changed the state:\n%s\nwas\n%s", after, before)
	}
}

func TestUnknownInputHalts(t *testing.T) {
	future := func(edit func(*Command)) []byte {
		c := Command{Version: CommandVersion, Kind: KindTick, Body: cbor.RawMessage{0xa0}}
		edit(&c)
		data, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	newer, err := cbor.Marshal(map[int]any{1: 1, 2: int(KindTick), 9: map[int]int{}, 77: "a field of a later version"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{
		"kind":          future(func(c *Command) { c.Kind = 9999 }),
		"version":       future(func(c *Command) { c.Version = CommandVersion + 1 }),
		"version zero":  future(func(c *Command) { c.Version = 0 }),
		"body type":     future(func(c *Command) { c.Body = cbor.RawMessage{0x01} }),
		"body field":    future(func(c *Command) { c.Body = cbor.RawMessage{0xa1, 0x18, 0x63, 0x01} }),
		"command field": newer,
		"empty":         {},
		"garbage":       []byte("not a command"),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			at, _ := l.s.Applied()
			_, err := l.s.Apply(at+1, 1, []int64{l.now}, [][]byte{data})
			if !errors.Is(err, ErrUnknownCommand) {
				t.Fatalf("got %v, want ErrUnknownCommand", err)
			}
			if _, err := l.s.Apply(at+2, 1, []int64{l.now}, [][]byte{nil}); !errors.Is(err, ErrHalted) {
				t.Errorf("after the halt got %v, want ErrHalted", err)
			}
			if index, _ := l.s.Applied(); index != at {
				t.Errorf("applied moved to %d, want %d", index, at)
			}
		})
	}
}

func TestTextThatIsNotUTF8DoesNotHalt(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	b := l.recording("a1", "g", false, federation.One)
	b.Attempts[0].Steps[0].Observation = "cut \xff\xfe here"
	l.do(KindRecordTrajectory, b, nil)
	if err := l.s.Halted(); err != nil {
		t.Fatal(err)
	}
}

func TestTimesMustMatchCommands(t *testing.T) {
	l := newLab(t)
	if _, err := l.s.Apply(100, 1, nil, [][]byte{nil}); err == nil {
		t.Error("a command without a time was applied")
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	l := newLab(t)
	l.now = epoch + 5000
	l.do(KindCreatePrincipal, PrincipalID{"a"}, nil)
	l.now = epoch
	l.do(KindCreatePrincipal, PrincipalID{"b"}, nil)
	if got := l.s.Now(); got != epoch+5000 {
		t.Errorf("time is %d, want %d", got, epoch+5000)
	}
}

// sink applies a log to a store of its own, cut into batches by the given sizes, and returns the dump and hash.
func sink(t *testing.T, log [][]byte, times []int64, cut func(left int) int, reopen func(batch int) bool) (string, [32]byte) {
	t.Helper()
	l := &lab{t: t, dir: filepath.Join(t.TempDir(), "state"), ns: DefaultNamespace}
	l.open()
	defer func() {
		if err := l.s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for at, batch := 0, 0; at < len(log); batch++ {
		n := cut(len(log) - at)
		results, err := l.s.Apply(uint64(at)+1, 1, times[at:at+n], log[at:at+n])
		if err != nil {
			t.Fatal(err)
		}
		if len(results) != n {
			t.Fatalf("got %d results for %d commands", len(results), n)
		}
		if reopen != nil && reopen(batch) {
			l.reopen()
			// A crash loses what the log still has: everything from the start is offered again.
			if _, err := l.s.Apply(1, 1, times[:at+n], log[:at+n]); err != nil {
				t.Fatal(err)
			}
		}
		at += n
	}
	_, hash := l.s.Hash()
	return l.dump(), hash
}

// dump lists all keys and values but the position.
func (l *lab) dump() string {
	l.t.Helper()
	v, err := l.s.View()
	if err != nil {
		l.t.Fatal(err)
	}
	defer v.Close()
	var b strings.Builder
	err = v.scan([]byte{0}, []byte{0xff}, func(k, val []byte) (bool, error) {
		if string(k) != string(key(kindMeta).str(string(metaApplied))) {
			b.WriteString(hexLine(k, val))
		}
		return true, nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return b.String()
}

func hexLine(k, v []byte) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, part := range [][]byte{k, v} {
		for _, c := range part {
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
		b.WriteByte(' ')
	}
	return b.String() + "\n"
}

func TestAppliedEntriesAreSkipped(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	l.add("a1", "one")
	before, index := l.dump(), len(l.log)
	l.reopen()
	results, err := l.s.Apply(1, 1, l.times, l.log)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r != nil {
			t.Errorf("entry %d was answered again", i+1)
		}
	}
	if at, _ := l.s.Applied(); at != uint64(index) || l.dump() != before {
		t.Errorf("the log was applied twice")
	}
}

func TestNilCommandMovesThePosition(t *testing.T) {
	l := newLab(t)
	at, _ := l.s.Applied()
	_, hash := l.s.Hash()
	if _, err := l.s.Apply(at+3, 9, []int64{l.now + 1, l.now + 2}, [][]byte{nil, nil}); err != nil {
		t.Fatal(err)
	}
	index, term := l.s.Applied()
	if index != at+4 || term != 9 {
		t.Errorf("applied %d in term %d, want %d in 9", index, term, at+4)
	}
	if _, now := l.s.Hash(); now != hash {
		t.Error("an entry without a command changed the hash")
	}
}

// seedBodies adds a body of many kinds to a fuzz corpus and returns the lab that they belong to.
func seedBodies(f *testing.F) *lab {
	l := fleet(f, "bob")
	a := l.must(l.add("author", "one").ID)
	original, item := l.shelve("author", "two")
	job := l.add("author", "three", share(federation.ShareCandidate))
	leased, _ := l.leaseOf(JobNominate, job.ID)
	rec := l.record("author", "g", true, federation.One)
	for kind := range handlers {
		f.Add(uint16(kind), []byte{0xa0})
	}
	for _, seed := range []struct {
		kind Kind
		body any
	}{
		{KindOutcome, l.outcome(l.recall("bob-1", item), federation.One)},
		{KindReceipts, Receipts{[]Receipt{l.recall("author", a.ID, item)}}},
		{KindErase, Erase{Receipt: l.id(), Target: Target{original, a.Owner, 1}}},
		{KindRecordTrajectory, l.recording("author", "g", true, 0, federation.One)},
		{KindSettings, Settings{TaskTypes: map[string]TaskType{"air": {}}}},
		{KindNominate, l.nomination(l.must(job.ID), leased)},
		{KindAddExperience, AddExperience{Experience: l.lesson("four"), Vectors: testVectors()}},
		{KindDistilled, Distilled{Trajectory: rec.ID, Owner: a.Owner, Version: 1, Items: []DistilledItem{l.item(rec.ID, "f", "x", 1)}}},
		{KindCurate, Curate{Target: Target{ID: original, Owner: a.Owner}, Action: ActionRevoke}},
		{KindLeaseJobs, LeaseJobs{Node: "n", Max: 4, Lease: 1000}},
		{KindPatchExperience, PatchExperience{ID: a.ID, Owner: a.Owner, Version: 1, Content: "x", Hash: textHash("x")}},
	} {
		data, err := marshal(seed.body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint16(seed.kind), data)
	}
	return l
}

// FuzzApply: no command makes apply panic, and what is accepted leaves indexes and counters in order.
func FuzzApply(f *testing.F) {
	l := seedBodies(f)
	prelude, times := l.log, l.times
	f.Fuzz(func(t *testing.T, kind uint16, body []byte) {
		s, err := Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := s.Apply(1, 1, times, prelude); err != nil {
			t.Fatal(err)
		}
		at, _ := s.Applied()
		if _, err := s.Apply(at+1, 1, []int64{epoch}, [][]byte{fuzzed(kind, body)}); err != nil {
			return // a halt, never a panic
		}
		v, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if problems := check(v); len(problems) > 0 {
			t.Errorf("kind %d body %x: %s", kind, body, strings.Join(problems, "\n"))
		}
	})
}

// FuzzApplyDecoder is the same without a commit, many times faster.
func FuzzApplyDecoder(f *testing.F) {
	l := seedBodies(f)
	f.Fuzz(func(t *testing.T, kind uint16, body []byte) {
		batch := newStage(l.s.gen.db)
		pos := applied{Index: 1 << 30, Now: epoch}
		_, _, err := applyOne(batch, newHotValues(), pos, fuzzed(kind, body))
		if written := len(batch.held) + int(batch.batch.Count()); err != nil && written > 0 {
			t.Errorf("kind %d failed with %v and wrote %d keys", kind, err, written)
		}
		if err := batch.batch.Close(); err != nil {
			t.Error(err)
		}
	})
}

// fuzzed is a command with a body, or the body alone where it is not CBOR.
func fuzzed(kind uint16, body []byte) []byte {
	data, err := Command{Version: CommandVersion, Kind: Kind(kind), Namespace: DefaultNamespace, Body: body}.Encode()
	if err != nil {
		return body
	}
	return data
}
