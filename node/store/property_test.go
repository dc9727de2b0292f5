package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"cairn/federation"
)

// kinds of evidence that a history draws from; verified twice, so that items get anywhere.
var kinds = []federation.EvidenceKind{
	federation.EvidenceVerified, federation.EvidenceVerified, federation.EvidenceJudge, federation.EvidenceSelf,
}

// TestStoredDecisionsReplay draws histories of outcomes about items and computes every stored decision again from its own
// inputs. CAIRN_HISTORIES sets how many; 10,000 take some minutes.
func TestStoredDecisionsReplay(t *testing.T) {
	histories := 150
	if n, err := strconv.Atoi(os.Getenv("CAIRN_HISTORIES")); err == nil {
		histories = n
	}
	rng := rand.New(rand.NewPCG(1, 7))
	l := fleet(t, "bob", "carol", "dan")
	for i := range histories {
		_, item := l.shelve("author", fmt.Sprintf("history %d", i))
		luck := rng.Float64()
		for range 4 + rng.IntN(12) {
			juror := []string{"bob-1", "carol-1", "dan-1"}[rng.IntN(3)]
			o := l.outcome(l.recall(juror, item), federation.Micro(rng.IntN(2))*federation.One)
			if rng.Float64() < luck {
				o.Reward, o.Success = federation.One, true
			}
			o.Evidence = kinds[rng.IntN(len(kinds))]
			l.do(KindOutcome, o, nil)
			l.promote(item)
		}
	}
	counted := map[string]int{}
	l.read(func(v *View, ns *Namespace) {
		if err := v.DecisionsOf(ns, nil, func(_ []byte, d *Decision) bool {
			counted[d.Action]++
			jurors := make([]federation.Juror, len(d.Score.Terms))
			for i, term := range d.Score.Terms {
				jurors[i] = term.Juror()
			}
			score := federation.Trust(jurors, d.Score.Jury, d.Profile)
			verdict, _ := federation.Decide(score, d.Before, d.Profile)
			if verdict != d.Verdict || score.Trust != d.Score.Trust || score.Rule != d.Score.Rule || len(d.Jurors) != len(jurors) {
				t.Errorf("decision %s replays as %s with trust %d, stored %s with %d", d.ID, verdict, score.Trust, d.Verdict, d.Score.Trust)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
	})
	if counted["promote"] == 0 || counted["demote"] == 0 {
		t.Errorf("decisions %v: histories without promotions or demotions check too little", counted)
	}
}

// twoItems is a lab with two shared items, and what its jurors say about them.
func twoItems(t testing.TB) (*lab, [2]ID) {
	l := fleet(t, "bob", "carol")
	var items [2]ID
	for i := range items {
		_, items[i] = l.shelve("author", fmt.Sprintf("item %d", i))
	}
	return l, items
}

type said struct {
	juror   string
	success bool
	kind    federation.EvidenceKind
}

// reports draws what jurors say about an item.
var reports = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) said {
	return said{
		rapid.SampledFrom([]string{"bob-1", "carol-1"}).Draw(t, "juror"), rapid.Bool().Draw(t, "success"),
		rapid.SampledFrom(kinds).Draw(t, "kind"),
	}
}), 0, 6)

func (l *lab) say(s said, taskType string, item ID) {
	reward := federation.Micro(0)
	if s.success {
		reward = federation.One
	}
	r := l.recall(s.juror, item)
	r.TaskType = taskType
	o := l.outcome(r, reward)
	o.Evidence = s.kind
	l.do(KindOutcome, o, nil)
}

func (l *lab) accumulators(item ID) string {
	out := ""
	l.read(func(v *View, ns *Namespace) {
		e, err := v.Experience(ns, item)
		if err != nil || e == nil {
			l.t.Fatalf("item %s: %v", item, err)
		}
		jury, err := v.Jury(ns, item)
		if err != nil || jury == nil {
			l.t.Fatalf("jury of %s: %v", item, err)
		}
		list, names, err := v.Jurors(ns, e, jury)
		if err != nil {
			l.t.Fatal(err)
		}
		out = fmt.Sprintf("%v %+v", names, list)
	})
	return out
}

// TestOrderOfOutcomesOfDifferentItems: outcomes about two items of different task types may come in any order between them.
func TestOrderOfOutcomesOfDifferentItems(t *testing.T) {
	for seed := range 8 {
		first, second := reports.Example(2*seed), reports.Example(2*seed+1)
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		var want [2]string
		for turn := range 2 {
			l, items := twoItems(t)
			for a, b := first, second; len(a)+len(b) > 0; {
				if len(b) == 0 || len(a) > 0 && (turn == 0 || rng.IntN(2) == 0) {
					l.say(a[0], "air", items[0])
					a = a[1:]
				} else {
					l.say(b[0], "rail", items[1])
					b = b[1:]
				}
			}
			got := [2]string{l.accumulators(items[0]), l.accumulators(items[1])}
			if turn == 0 {
				want = got
			} else if got != want {
				t.Errorf("seed %d: one order gave\n%v\nanother\n%v", seed, want, got)
			}
		}
	}
}

// TestAuthorsOwnEvidenceChangesNothing: what the author's principal reports about its shared item moves no accumulator.
func TestAuthorsOwnEvidenceChangesNothing(t *testing.T) {
	l, items := twoItems(t)
	l.agent("author-2", "alice")
	l.report("bob-1", federation.One, items[0])
	before, trust := l.accumulators(items[0]), *l.must(items[0]).Trust
	for _, who := range []string{"author", "author-2"} {
		for i := range 6 {
			if out := l.report(who, federation.Micro(i%2)*federation.One, items[0]); len(out.Citations)+len(out.Trust) != 0 {
				t.Errorf("%s was cited: %+v", who, out)
			}
		}
	}
	if l.accumulators(items[0]) != before || l.must(items[0]).Trust.Trust != trust.Trust {
		t.Error("evidence of the author's principal moved trust")
	}
}
