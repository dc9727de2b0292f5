package federation

import "testing"

func TestExpectation(t *testing.T) {
	var good Recent
	for range 10 {
		good.Add(One)
	}
	for _, test := range []struct {
		name        string
		site, agent Tally
		recent      Recent
		want        Micro
	}{
		{"no history", Tally{}, Tally{}, Recent{}, 500_000},
		// (6+2)/(16+4) = .4
		{"site only", Tally{6 * One, 16}, Tally{}, Recent{}, 400_000},
		// m = (3 + 4*.4)/(4+4) = .575, e = m without recent outcomes
		{"agent over site", Tally{6 * One, 16}, Tally{3 * One, 4}, Recent{}, 575_000},
		// m = (10+2)/(10+4) = .857142, e = (4m + 8)/12
		{"recent outcomes", Tally{}, Tally{10 * One, 10}, good, 952_381},
		{"upper bound", Tally{One * 1000, 1000}, Tally{1000 * One, 1000}, good, 980_000},
		{"lower bound", Tally{0, 1000}, Tally{0, 1000}, Recent{Len: 8}, 20_000},
		{"broken counts", Tally{One, -5}, Tally{}, Recent{Len: 200, Next: 99}, 250_000},
	} {
		if got := Expectation(test.site, test.agent, test.recent); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestRecentKeepsTheLastEight(t *testing.T) {
	var r Recent
	for i := range 11 {
		r.Add(Micro(i) * 10_000)
	}
	if r.Sum() != 520_000 || r.N() != 8 {
		t.Errorf("sum %d of %d, want 3+...+10 hundredths of 8", r.Sum(), r.N())
	}
	r.Add(5 * One)
	if r.Sum() != 520_000-30_000+One {
		t.Errorf("sum %d: a reward above 1 must count as 1", r.Sum())
	}
}

func TestLift(t *testing.T) {
	for _, test := range []struct{ y, e, want Micro }{
		{One, 500_000, 750_000},
		{0, 500_000, 250_000},
		{One, 100_000, 950_000},
		{900_000, 900_000, 500_000},
		{7 * One, 500_000, 750_000},
		{-One, 500_000, 250_000},
	} {
		if got := Lift(test.y, test.e); got != test.want {
			t.Errorf("Lift(%d, %d) = %d, want %d", test.y, test.e, got, test.want)
		}
	}
	for e, want := range map[Micro]Micro{500_000: 67_500, 100_000: 27_500, 900_000: 27_500, 20_000: 9_900} {
		if got := NullVariance(e); got != want {
			t.Errorf("NullVariance(%d) = %d, want %d", e, got, want)
		}
	}
}

func TestMass(t *testing.T) {
	for _, test := range []struct {
		name        string
		used        Used
		rank        int
		exploratory bool
		kind        EvidenceKind
		want        Micro
	}{
		{"used, verified", UsedYes, 4, false, EvidenceVerified, One},
		{"used, judge", UsedYes, 0, false, EvidenceJudge, 600_000},
		{"used, self", UsedYes, 0, false, EvidenceSelf, 300_000},
		{"unused", UsedNo, 0, true, EvidenceVerified, 0},
		{"unknown, first", UsedUnknown, 0, false, EvidenceVerified, One},
		{"unknown, third", UsedUnknown, 2, false, EvidenceVerified, 333_333},
		{"unknown, third, judge", UsedUnknown, 2, false, EvidenceJudge, 200_000},
		{"unknown, exploratory", UsedUnknown, 4, true, EvidenceVerified, One},
		{"negative rank", UsedUnknown, -3, false, EvidenceVerified, One},
		{"unknown kind", UsedYes, 0, false, "rumour", 0},
	} {
		if got := Mass(Credit(test.used, test.rank, test.exploratory), Kappa(test.kind)); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestAccumulatorAdd(t *testing.T) {
	var a Accumulator
	var p Rater
	a.Add(600_000, 750_000, 67_500)
	a.Add(0, One, One)
	a.Add(-One, One, One)
	a.Add(One, 250_000, 27_500)
	p.Add(600_000, 750_000)
	p.Add(0, One)
	if want := (Accumulator{W: 1_600_000, S: 700_000, V: 68_000, Citations: 2}); a != want {
		t.Errorf("accumulator %+v, want %+v", a, want)
	}
	if want := (Rater{LW: 600_000, LS: 450_000}); p != want {
		t.Errorf("rater %+v, want %+v", p, want)
	}
}
