package store

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cairn/federation"
)

func (l *lab) hours(from int64) (out []Hour) {
	l.t.Helper()
	l.read(func(v *View, ns *Namespace) {
		if err := v.Hours(ns, from, func(h *Hour) bool { out = append(out, *h); return true }); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

func TestHoursCountWhatHappenedInThem(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	l.now += 5 * hour
	l.report("bob-1", federation.One, item)
	l.do(KindReceipts, Receipts{Receipts: []Receipt{l.recall("bob-1")}}, nil)
	l.now += hour
	l.report("bob-1", 0, item)
	hours := l.hours(epoch + 5*hour)
	if len(hours) != 2 || hours[0].Start != epoch+5*hour || hours[1].Start != epoch+6*hour {
		t.Fatalf("hours %+v, want the fifth and the sixth", hours)
	}
	for name, want := range map[string][2]int64{
		"recalls": {2, 1}, "recalls/empty": {1, 0}, "given": {1, 1}, "helped": {1, 0}, "outcomes": {1, 1}, "outcomes/guided": {1, 1},
		"outcomes/guided/reward": {federation.One, 0}, "citations": {1, 1}, "pools/candidates": {1, 1}, "nominations": {0, 0},
	} {
		if got := [2]int64{hours[0].Of(name), hours[1].Of(name)}; got != want {
			t.Errorf("%s is %v in the two hours, want %v", name, got, want)
		}
	}
}

// TestHoursAddUpToTheCounters holds for every sum: a command counts in both or in neither.
func TestHoursAddUpToTheCounters(t *testing.T) {
	l := fleet(t, "bob", "cid")
	_, item := l.shelve("author", "one")
	for i := range 30 {
		l.now += hour / 2
		l.report("bob-1", federation.One*federation.Micro(i%2), item)
		l.refuse(KindOutcome, Outcome{Receipt: Receipt{Agent: "bob-1"}, Evidence: "none"}, "invalid")
		l.record("author", "g", i%5 == 0, federation.One)
	}
	l.now += 20 * day
	l.tick()
	l.do(KindSpend, Spend{Lines: []SpendLine{{Agent: "bob-1", Role: "judge", Use: LLMUse{Calls: 2, PromptTokens: 70, Failed: 1}}}}, nil)
	sums, standing := SeriesNames()
	got := map[string]int64{}
	for _, h := range l.hours(0) {
		for _, name := range sums {
			got[name] += h.Of(name)
		}
		for _, name := range standing {
			got[name] = h.Of(name)
		}
	}
	for name, n := range got {
		if want := l.counter(name); n != want {
			t.Errorf("hours of %s give %d, the counter is %d", name, n, want)
		}
	}
	if got["llm/tokens"] != 70 || got["attempts"] == 0 {
		t.Errorf("tokens %d, attempts %d", got["llm/tokens"], got["attempts"])
	}
}

func TestOldHoursGo(t *testing.T) {
	l := fleet(t, "bob")
	_, item := l.shelve("author", "one")
	for range 150 {
		l.now += hour
		l.do(KindReceipts, Receipts{Receipts: []Receipt{l.recall("bob-1", item)}}, nil)
	}
	first := l.now
	l.now += SeriesKept + hour
	for range 3 {
		l.now += hour
		l.do(KindReceipts, Receipts{Receipts: []Receipt{l.recall("bob-1", item)}}, nil)
	}
	hours := l.hours(0)
	if len(hours) != 3 || slices.ContainsFunc(hours, func(h Hour) bool { return h.Start <= first }) {
		t.Errorf("%d hours are left, the first from %d; want 3 after %d", len(hours), hours[0].Start, first)
	}
}

func TestHourRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in, out Hour
		for i := range in.values {
			in.values[i] = rapid.SampledFrom([]int64{0, 0, 1, -1, 300, math.MaxInt64, math.MinInt64}).Draw(t, "value")
		}
		data := in.encode()
		if err := out.decode(data); err != nil || out != in {
			t.Fatalf("got %v, %v; want %v", out, err, in)
		}
		for cut := range data {
			if err := new(Hour).decode(data[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are taken for an hour", cut, len(data))
			}
		}
	})
}

func TestSlotsFit(t *testing.T) {
	if len(flows) > flowSlots || len(levels) > seriesSlots-flowSlots || len(slots) != len(flows)+len(levels) {
		t.Errorf("%d sums and %d levels, %d names", len(flows), len(levels), len(slots))
	}
}
