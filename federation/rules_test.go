package federation

import (
	"math"
	"testing"
)

const day = int64(24 * 60 * 60 * 1000)

func TestGoodStanding(t *testing.T) {
	const created = 1_000 * int64(24*60*60*1000)
	for _, test := range []struct {
		name     string
		standing Standing
		now      int64
		want     bool
	}{
		{"founder on the first day", Standing{AdmittedAt: created}, created, true},
		{"founder on the 14th day", Standing{AdmittedAt: created + 14*day - 1}, created + 14*day, true},
		{"no founder any more", Standing{AdmittedAt: created + 14*day}, created + 14*day, false},
		{"late, a moment too early", Standing{AdmittedAt: created + 30*day}, created + 44*day - 1, false},
		{"late, 14 days on", Standing{AdmittedAt: created + 30*day}, created + 44*day, true},
		{"anchor", Standing{AdmittedAt: created + 30*day, Anchor: true}, created + 30*day, true},
		{"suspended anchor", Standing{AdmittedAt: created, Anchor: true, Suspended: true}, created + 90*day, false},
	} {
		test.standing.NamespaceCreatedAt = created
		if got := GoodStanding(test.standing, test.now); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestJury(t *testing.T) {
	for outside, want := range map[int]int{-1: 0, 0: 0, 1: 1, 5: 5, 12: 12, 40: 12} {
		if got := JurySize(outside); got != want {
			t.Errorf("JurySize(%d) = %d, want %d", outside, got, want)
		}
	}
	p := DefaultProfile()
	for _, test := range []struct {
		name      string
		w         Micro
		age       int64
		candidate bool
		want      bool
	}{
		{"silent for 14 days", 499_999, 14 * day, true, true},
		{"a moment before", 0, 14*day - 1, true, false},
		{"heard", 500_000, 90 * day, true, false},
		{"promoted already", 0, 90 * day, false, false},
	} {
		if got := SeatStruck(test.w, 5*day, 5*day+test.age, test.candidate, p); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	for _, test := range []struct {
		jury     int
		replaced bool
		want     int
	}{{12, true, 12}, {12, false, 11}, {2, false, 1}, {1, false, 1}, {1, true, 1}} {
		if got := JuryAfterStrike(test.jury, test.replaced); got != test.want {
			t.Errorf("JuryAfterStrike(%d, %v) = %d, want %d", test.jury, test.replaced, got, test.want)
		}
	}
}

func TestInitialStrength(t *testing.T) {
	for delta, want := range map[Micro]Micro{0: 500_000, 500_000: 750_000, -One: One, 9 * One: One, math.MinInt64: One} {
		if got := InitialStrength(delta); got != want {
			t.Errorf("InitialStrength(%d) = %d, want %d", delta, got, want)
		}
	}
}

func TestStrengthAt(t *testing.T) {
	for _, test := range []struct {
		name        string
		uses, harms int
		hours       int64
		want        Micro
	}{
		{"now", 0, 0, 0, 800_000},
		{"before it was made", 0, 0, -5, 800_000},
		{"one half-life", 0, 0, 720, 400_000},
		{"two", 0, 0, 1440, 200_000},
		{"half of one", 0, 0, 360, 565_685},
		{"one use doubles it", 1, 0, 1440, 400_000},
		{"one harm halves it", 0, 1, 360, 400_000},
		{"use and harm", 3, 3, 720, 400_000},
		{"at most 360 days", 1000, 0, 12 * 720, 400_000},
		{"gone", 0, 0, math.MaxInt64, 0},
		{"nonsense", math.MinInt, math.MaxInt, math.MaxInt64, 0},
	} {
		if got := StrengthAt(800_000, test.uses, test.harms, test.hours); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	for h, got := range hourly {
		if want := math.Exp2(62 - float64(h)/720); math.Abs(float64(got)-want) > 1e-12*want {
			t.Fatalf("hourly[%d] = %d, want %.0f", h, got, want)
		}
	}
}

func TestStrengthSteps(t *testing.T) {
	if got := StrengthHelped(600_000); got != 700_000 {
		t.Errorf("helped: %d, want 700000", got)
	}
	if got := StrengthHelped(999_999); got != One {
		t.Errorf("helped near 1: %d, want 1000000", got)
	}
	if got := StrengthHarmed(600_000); got != 450_000 {
		t.Errorf("harmed: %d, want 450000", got)
	}
}

func TestUtilityDelete(t *testing.T) {
	none := Tally{}
	for _, test := range []struct {
		name string
		f, u Micro
		pool int
		base Tally
		want bool
	}{
		{"too few recalls", 4_999_999, 0, 50, none, false},
		{"never helped", 5 * One, 0, 50, none, true},
		{"exactly beta stays", 10 * One, 3 * One, 50, none, false},
		{"just below beta", 10 * One, 2_999_990, 50, none, true},
		{"middle pool", 10 * One, 4_900_000, 100, none, true},
		{"large pool", 10 * One, 5_900_000, 300, none, true},
		{"large pool, good enough", 10 * One, 6 * One, 300, none, false},
		{"hard domain: base 26 %", 10 * One, 3 * One, 300, Tally{26 * One, 100}, false},
		{"worse than the base", 10 * One, 2 * One, 300, Tally{26 * One, 100}, true},
		{"nothing ever succeeds", 10 * One, 0, 300, Tally{0, 100}, false},
		{"no recalls", 0, 0, 50, none, false},
	} {
		if got := UtilityDelete(test.f, test.u, test.pool, test.base, Alpha(FrequencyMiddle)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if UtilityDelete(0, 0, 50, none, 0) || UtilityDelete(0, 0, 50, none, -1) {
		t.Error("deleted without a single recall")
	}
	for f, want := range map[Frequency]int{FrequencyHigh: 3, FrequencyMiddle: 5, FrequencyLow: 10, "": 5} {
		if got := Alpha(f); got != want {
			t.Errorf("Alpha(%q) = %d, want %d", f, got, want)
		}
	}
}

func TestConfidenceAndPriors(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want Micro
	}{
		{"confidence at first", Confidence(700_000, 0, 0), 700_000},
		{"confidence after 8 of 10", Confidence(700_000, 8*One, 10*One), 783_333},
		{"own trust at first", OwnTrust(0, 0), 500_000},
		{"own trust after 3 of 4", OwnTrust(3*One, 4*One), 666_667},
		{"prior of 0", StrengthPrior(0), 800_000},
		{"prior of .5", TrustPrior(500_000), One},
		{"prior of 1", TrustPrior(One), 1_200_000},
		{"prior above 1", StrengthPrior(5 * One), 1_200_000},
	} {
		if test.got != test.want {
			t.Errorf("%s: %d, want %d", test.name, test.got, test.want)
		}
	}
}

func TestEnumerations(t *testing.T) {
	for _, kind := range []Kind{"success", "failure", "contrast", "tool_use", "reflection", "caution", "direct"} {
		if !kind.Valid() {
			t.Errorf("kind %q is not valid", kind)
		}
	}
	for _, status := range []Status{"active", "buffered", "candidate", "promoted", "dormant", "held", "quarantined",
		"archived", "revoked", "superseded"} {
		if !status.Valid() {
			t.Errorf("status %q is not valid", status)
		}
	}
	for _, route := range []Route{"long_term", "buffer", "discard"} {
		if !route.Valid() {
			t.Errorf("route %q is not valid", route)
		}
	}
	if Kind("").Valid() || Status("gone").Valid() || EvidenceKind("").Valid() || Share("maybe").Valid() || Route("").Valid() {
		t.Error("an unknown value is valid")
	}
	if !Share("").Valid() || !EvidenceSelf.Valid() {
		t.Error("a known value is not valid")
	}
}

func TestCombineShare(t *testing.T) {
	for _, test := range []struct {
		wishes []Share
		want   Share
	}{
		{nil, ShareAuto},
		{[]Share{"", ShareAuto}, ShareAuto},
		{[]Share{ShareAuto, ShareCandidate, ""}, ShareCandidate},
		{[]Share{ShareCandidate, ShareNever}, ShareNever},
		{[]Share{ShareNever, ShareCandidate}, ShareNever},
		{[]Share{ShareCandidate, "tomorrow"}, ShareNever},
	} {
		if got := CombineShare(test.wishes...); got != test.want {
			t.Errorf("CombineShare(%q) = %q, want %q", test.wishes, got, test.want)
		}
	}
}

func TestHighestRoute(t *testing.T) {
	if got := HighestRoute(); got != RouteDiscard {
		t.Errorf("of nothing: %s", got)
	}
	if got := HighestRoute(RouteBuffer, RouteLongTerm, RouteDiscard); got != RouteLongTerm {
		t.Errorf("of all: %s", got)
	}
}

func TestProfileValidate(t *testing.T) {
	for _, p := range []Profile{DefaultProfile(), StrictProfile()} {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	err := Profile{Name: "empty", Z: -1, PriorVariance: -1, DemoteBelow: 1}.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 10 {
		t.Errorf("want ten faults at once, got %v", err)
	}
}

func TestExpectedReward(t *testing.T) {
	near := []Neighbour{{Similarity: 900_000, Reward: One}, {Similarity: 300_000, Reward: 0}, {Similarity: 0, Reward: 0}}
	for _, test := range []struct {
		name                       string
		neighbours                 []Neighbour
		taskType, agent, namespace Tally
		want                       Micro
	}{
		{"no history", nil, Tally{}, Tally{}, Tally{}, 500_000},
		// neighbours .75 and mean .5 weigh the same
		{"neighbours and prior", near, Tally{}, Tally{}, Tally{}, 625_000},
		// namespace (4+2)/(16+4) = .3, agent (4+1.2)/(4+4) = .65, type (0+2.6)/(4+4) = .325
		{"mean shrunk twice", nil, Tally{0, 4}, Tally{4 * One, 4}, Tally{4 * One, 16}, 325_000},
		{"neighbours and mean", near, Tally{0, 4}, Tally{4 * One, 4}, Tally{4 * One, 16}, 537_500},
		{"reward out of range", []Neighbour{{Similarity: One, Reward: 9 * One}}, Tally{}, Tally{}, Tally{}, 750_000},
	} {
		if got := ExpectedReward(test.neighbours, test.taskType, test.agent, test.namespace); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	if got := ExpectedRewardShrunk(near, Tally{}, Tally{}, Tally{}, 0); got != 750_000 {
		t.Errorf("neighbours alone: %d, want 750000", got)
	}
}

func TestStoreNeverPanicsOrWraps(t *testing.T) {
	for _, test := range []struct {
		x    float64
		want Micro
	}{
		{math.NaN(), 0}, {math.Inf(1), math.MaxInt64}, {math.Inf(-1), math.MinInt64}, {1e300, math.MaxInt64},
		{.0000005, 1}, {-.0000005, 0}, {.4999999, 500_000},
	} {
		if got := store(test.x); got != test.want {
			t.Errorf("store(%v) = %d, want %d", test.x, got, test.want)
		}
	}
}
