package federation

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// report is one report of a juror about an item.
type report struct {
	juror, item int
	mass        Micro
	reward      Micro
	expectation Micro
}

func reports(t *rapid.T) []report {
	one := rapid.Custom(func(t *rapid.T) report {
		return report{
			juror:       rapid.IntRange(0, 4).Draw(t, "juror"),
			item:        rapid.IntRange(0, 3).Draw(t, "item"),
			mass:        rapid.SampledFrom([]Micro{One, 600_000, 300_000, 333_333, 60_000}).Draw(t, "mass"),
			reward:      rapid.SampledFrom([]Micro{0, One, 250_000, 990_000}).Draw(t, "reward"),
			expectation: rapid.Int64Range(minExpectation, maxExpectation).Draw(t, "expectation"),
		}
	})
	return rapid.SliceOfN(one, 0, 60).Draw(t, "reports")
}

// count applies reports as the state machine does and returns the jurors of each item.
func count(list []report) (items [4][]Juror) {
	var raters [5]Rater
	var accumulators [4][5]Accumulator
	for _, r := range list {
		lift := Lift(r.reward, r.expectation)
		accumulators[r.item][r.juror].Add(r.mass, lift, NullVariance(r.expectation))
		raters[r.juror].Add(r.mass, lift)
	}
	for item := range items {
		for juror := range raters {
			items[item] = append(items[item], Juror{Acc: accumulators[item][juror], Rater: raters[juror]})
		}
	}
	return items
}

func TestOrderOfEvidenceDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := reports(t)
		shuffled := slices.Clone(list)
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		a, b := count(list), count(shuffled)
		for item := range a {
			sameScore(t, Trust(a[item], 5, DefaultProfile()), Trust(b[item], 5, DefaultProfile()))
		}
	})
}

func TestOrderOfJurorsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jurors := count(reports(t))[0]
		permuted := rapid.Permutation(jurors).Draw(t, "permuted")
		a, b := Trust(jurors, 5, StrictProfile()), Trust(permuted, 5, StrictProfile())
		sameScore(t, a, b)
		for i, term := range b.Terms {
			if term.Juror() != permuted[i] {
				t.Fatalf("term %d is not of juror %d", i, i)
			}
		}
	})
}

func sameScore(t *rapid.T, a, b Score) {
	a.Terms, b.Terms = nil, nil
	if a.N != b.N || a.Mu != b.Mu || a.Half != b.Half || a.Trust != b.Trust || a.Upper != b.Upper ||
		a.Heard != b.Heard || a.Citations != b.Citations {
		t.Fatalf("scores differ:\n%+v\n%+v", a, b)
	}
}

// A success at the expectation that all evidence was given at, by a juror that reported on nothing else, never
// lowers trust. (With leniency it can: what counts is the lift less what the juror gives everything.)
func TestGoodCitationNeverLowersTrust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Int64Range(minExpectation, maxExpectation).Draw(t, "expectation")
		list := reports(t)
		for i := range list {
			list[i].item, list[i].expectation = 0, e
		}
		before := Trust(count(list)[0], 5, DefaultProfile())
		more := report{juror: rapid.IntRange(0, 4).Draw(t, "by"), mass: One, reward: One, expectation: e}
		after := Trust(count(append(list, more))[0], 5, DefaultProfile())
		const rounding = 3 // micro: each report is rounded when it is added
		if after.Trust < before.Trust-rounding {
			t.Fatalf("trust fell from %d to %d", before.Trust, after.Trust)
		}
		if after.Mu < before.Mu-rounding {
			t.Fatalf("mean fell from %d to %d", before.Mu, after.Mu)
		}
	})
}

// A juror whose mass is at the cap never lowers trust by a report better than its mean so far, whatever it gives
// everything else.
func TestBetterReportAtTheCapNeverLowersTrust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jurors := count(reports(t))[0]
		p := DefaultProfile()
		heavy := &jurors[0]
		e := rapid.Int64Range(minExpectation, maxExpectation).Draw(t, "expectation")
		for range 5 {
			heavy.Acc.Add(One, half, NullVariance(e))
			heavy.Rater.Add(One, half)
		}
		before := Trust(jurors, 5, p)
		lift := min(One, heavy.Acc.S*One/heavy.Acc.W+1)
		heavy.Acc.Add(One, lift, heavy.Acc.V*One/heavy.Acc.W)
		heavy.Rater.Add(One, lift)
		if after := Trust(jurors, 5, p); after.Trust < before.Trust-3 {
			t.Fatalf("trust fell from %d to %d", before.Trust, after.Trust)
		}
	})
}

func TestStoredTermsGiveTheScoreAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Trust(count(reports(t))[0], 5, DefaultProfile())
		var jurors []Juror
		for _, term := range s.Terms {
			jurors = append(jurors, term.Juror())
		}
		sameScore(t, s, Trust(jurors, s.Jury, DefaultProfile()))
	})
}

func TestTrustOfAnyInputIsInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64()
		juror := rapid.Custom(func(t *rapid.T) Juror {
			return Juror{
				Acc:   Accumulator{W: number.Draw(t, "w"), S: number.Draw(t, "s"), V: number.Draw(t, "v")},
				Rater: Rater{LW: number.Draw(t, "lw"), LS: number.Draw(t, "ls")},
			}
		})
		s := Trust(rapid.SliceOfN(juror, 0, 14).Draw(t, "jurors"), rapid.IntRange(-3, 20).Draw(t, "jury"), DefaultProfile())
		if s.Trust < 0 || s.Upper > One || s.Half < 0 {
			t.Fatalf("out of range: %+v", s)
		}
		Decide(s, rapid.Bool().Draw(t, "promoted"), DefaultProfile())
	})
}

func TestStrengthIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Int64Range(0, One).Draw(t, "strength")
		uses, harms := rapid.IntRange(0, 40).Draw(t, "uses"), rapid.IntRange(0, 40).Draw(t, "harms")
		hours := rapid.Int64Range(0, 20_000).Draw(t, "hours")
		now := StrengthAt(s, uses, harms, hours)
		if now < 0 || now > s {
			t.Fatalf("%d of %d", now, s)
		}
		if StrengthAt(s, uses, harms, hours+1) > now || StrengthAt(s, uses, harms+1, hours) > now {
			t.Fatal("rises with age or harm")
		}
		if StrengthAt(s, uses+1, harms, hours) < now {
			t.Fatal("falls with use")
		}
		if StrengthHelped(s) < s || StrengthHelped(s) > One || StrengthHarmed(s) > s || StrengthHarmed(s) < 0 {
			t.Fatal("a step in the wrong direction")
		}
	})
}

func TestThresholdsPassTheirShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ring DeltaRing
		deltas := rapid.SliceOfN(rapid.Int64Range(-One, One), 100, 400).Draw(t, "deltas")
		for _, delta := range deltas {
			ring.Observe(delta)
		}
		long, buffer := Thresholds(ring, ring.Count)
		if long < minThreshold || long > maxThreshold || buffer < minThreshold || buffer > long {
			t.Fatalf("thresholds %d and %d", long, buffer)
		}
		if len(ring.Deltas) > ringSize || ring.Count != int64(len(deltas)) {
			t.Fatalf("%d of %d kept", len(ring.Deltas), ring.Count)
		}
	})
}

func TestExpectedRewardDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) Neighbour {
			return Neighbour{rapid.Int64Range(0, One).Draw(t, "similarity"), rapid.Int64Range(0, One).Draw(t, "reward")}
		})
		list := rapid.SliceOfN(one, 0, 8).Draw(t, "neighbours")
		permuted := rapid.Permutation(list).Draw(t, "permuted")
		mean := Tally{3 * One, 7}
		if a, b := ExpectedReward(list, mean, mean, mean), ExpectedReward(permuted, mean, mean, mean); a != b {
			t.Fatalf("%d and %d", a, b)
		}
	})
}
