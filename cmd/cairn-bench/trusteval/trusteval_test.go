package trusteval

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"cairn/federation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTable prints the table with a number of seeds: CAIRN_TRUST_SEEDS=6 go test -run Table -v -timeout 2h. Names of cells
// in CAIRN_TRUST_CELLS, with commas between, choose among them; CAIRN_TRUST_FIRST is the first seed, 1 without it.
func TestTable(t *testing.T) {
	seeds, _ := strconv.Atoi(os.Getenv("CAIRN_TRUST_SEEDS"))
	if seeds == 0 {
		t.Skip("CAIRN_TRUST_SEEDS is not set")
	}
	o := Options{Seed: 1, Seeds: seeds}
	if first, err := strconv.ParseUint(os.Getenv("CAIRN_TRUST_FIRST"), 10, 64); err == nil {
		o.Seed = first
	}
	if only := os.Getenv("CAIRN_TRUST_CELLS"); only != "" {
		o.Only = strings.Split(only, ",")
	}
	rows, notes, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Logf("%-26s %.3f +- %.3f  %.2f..%.2f  %s %g %v", r.Name, r.Value, r.Error, r.Low, r.High, r.Op, r.Bar, r.OK())
	}
	t.Log(notes[0])
}

// small is a world that takes a second.
func small() world {
	w := fleet(4)
	w.perDay = 16
	w.bases = []float64{.3, .6}
	return w
}

func TestSimulationIsTheSameTwice(t *testing.T) {
	w := small().attacked(balancedRing, 2)
	var got [2]figures
	for i := range got {
		var err error
		if got[i], err = simulate(t.Context(), w, 3); err != nil {
			t.Fatal(err)
		}
	}
	if got[0].commands != got[1].commands || got[0].state != got[1].state {
		t.Errorf("one seed gave %+v and %+v", got[0], got[1])
	}
}

func TestSimulationShares(t *testing.T) {
	w := small()
	w.mix = mix{helpful: 0} // everything adds .3
	w.silence = 20
	f, err := simulate(t.Context(), w, 1)
	if err != nil {
		t.Fatal(err)
	}
	if f.nominated == 0 || f.goodEver == 0 || f.precision != 1 || f.harmful != 0 || f.silenceDemoted != 0 {
		t.Errorf("a world where everything helps gave %+v", f)
	}
	if !math.IsNaN(f.hostile) {
		t.Errorf("hostile share %v without attackers", f.hostile)
	}
}

func TestIsolatedSharesNothing(t *testing.T) {
	w := small()
	w.isolated = true
	f, err := simulate(t.Context(), w, 1)
	if err != nil {
		t.Fatal(err)
	}
	if f.nominated != 0 || f.goodEver != 0 || f.success <= 0 {
		t.Errorf("got %+v", f)
	}
}

func TestSimulationStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simulate(ctx, small(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, _, err := Run(ctx, Options{Seeds: 1, Only: []string{"honest2"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run gave %v", err)
	}
}

func TestChanceAddsWhatHolds(t *testing.T) {
	w := world{bases: []float64{.3, .9}}
	always := uint(1<<situations - 1)
	a := &item{kind: 0, valid: always, effect: .3}
	b := &item{kind: 0, valid: 1 << 4, effect: -.2}
	c := &item{kind: 1, valid: always, effect: .3}
	for _, x := range []struct {
		name string
		task task
		used []*item
		want float64
	}{
		{"nothing used", task{}, nil, .3},
		{"it holds", task{}, []*item{a}, .6},
		{"another situation", task{}, []*item{a, b}, .6},
		{"both hold", task{situation: 4}, []*item{a, b}, .4},
		{"another type", task{}, []*item{c}, .3},
		{"never certain", task{kind: 1}, []*item{c}, mostChance},
	} {
		if got := w.chance(x.task, x.used); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", x.name, got, x.want)
		}
	}
}

func TestReporters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		kind             federation.EvidenceKind
		success, failure float64 // how often each is called a success
	}{
		{federation.EvidenceVerified, 1, 0}, {federation.EvidenceJudge, .88, .12}, {federation.EvidenceSelf, 1, .3},
	} {
		var called [2]float64
		for range 10_000 {
			for i, y := range []bool{true, false} {
				if (reporter{kind: c.kind}).says(y, rng) {
					called[i] += 1. / 10_000
				}
			}
		}
		if math.Abs(called[0]-c.success) > .02 || math.Abs(called[1]-c.failure) > .02 {
			t.Errorf("%s: successes %.2f, failures %.2f; want %.2f, %.2f", c.kind, called[0], called[1], c.success, c.failure)
		}
	}
}

func TestRowsNameCells(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range table {
		if _, ok := cells[s.cell]; !ok || seen[s.name] {
			t.Errorf("row %s: cell %q is unknown, or the row stands twice", s.name, s.cell)
		}
		seen[s.name] = true
	}
	if len(Rows()) != len(table) {
		t.Error("Rows leaves some out")
	}
}

func TestRowBars(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want bool
	}{
		{Row{Value: .5, Op: ">=", Bar: .5}, true}, {Row{Value: .49, Op: ">=", Bar: .5}, false},
		{Row{Value: 0, Op: "<=", Bar: 0}, true}, {Row{Value: .1, Op: "<=", Bar: 0}, false}, {Row{Value: 9}, true},
	} {
		if got := c.row.OK(); got != c.want {
			t.Errorf("%+v: got %v", c.row, got)
		}
	}
}

func TestSpreadOfSeeds(t *testing.T) {
	mean, err := meanError([]float64{1, 2, 3})
	if mean != 2 || math.Abs(err-1/math.Sqrt(3)) > 1e-9 {
		t.Errorf("got %v +- %v", mean, err)
	}
	s := spec{cell: "a", less: "b", value: success}
	runs := map[string][]figures{"a": {{success: .6}, {success: math.NaN()}}, "b": {{success: .5}, {success: .5}}}
	if got := s.values(runs); len(got) != 1 || math.Abs(got[0]-.1) > 1e-9 {
		t.Errorf("differences %v", got)
	}
}
