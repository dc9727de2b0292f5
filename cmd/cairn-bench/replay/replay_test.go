package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"cairn/federation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTable prints the table for a folder of recorded attempts: CAIRN_REPLAY_DATA=DIR go test -run Table -v.
func TestTable(t *testing.T) {
	dir := os.Getenv("CAIRN_REPLAY_DATA")
	if dir == "" {
		t.Skip("CAIRN_REPLAY_DATA is not set")
	}
	rows, notes, err := Run(t.Context(), Options{Data: dir, Seed: 1, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		ref := ""
		if r.Reference != nil {
			ref = fmt.Sprintf("%g", *r.Reference)
		}
		t.Logf("%-32s %.3f  %.3f..%.3f  ref %-6s %s %g %v", r.Name, r.Value, r.Low, r.High, ref, r.Op, r.Bar, r.OK())
	}
	t.Log(strings.Join(notes, "\n"))
}

// sample writes a small domain: arm a works at even tasks, arm b at odd ones.
func sample(t *testing.T, tasks int) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for i := range tasks {
		for arm, success := range map[string]bool{"a": i%2 == 0, "b": i%2 == 1} {
			fmt.Fprintf(&b, `{"task_id":"t%d","task":"count the rows of table %d","agent":"%s_fs_1","success":%v,"steps":[{"tool":"sql","args":{"q":"%s %d"}}]}`+"\n",
				i, i, arm, success, arm, i)
			fmt.Fprintf(&b, `{"task_id":"t%d","task":"count the rows of table %d","agent":"%s_fs_2","success":%v,"steps":[{"tool":"sql","args":{}}]}`+"\n",
				i, i, arm, !success)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "trajectories-sql.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoadKeepsTheFirstAttemptOfAnArm(t *testing.T) {
	d, err := load(sample(t, 4), "sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.arms) != 2 || len(d.tasks) != 4 {
		t.Fatalf("got arms %v and %d tasks", d.arms, len(d.tasks))
	}
	for _, x := range d.tasks {
		if len(x.attempts) != 2 || x.attempts[0].success == x.attempts[1].success {
			t.Errorf("task %s: attempts %+v", x.id, x.attempts)
		}
	}
	if fixed, oracle := d.limits(); fixed != .5 || math.Abs(oracle-1) > 1e-9 {
		t.Errorf("limits %v and %v, want .5 and 1", fixed, oracle)
	}
}

func TestRunIsTheSameTwiceAndSharingHelps(t *testing.T) {
	d, err := load(sample(t, 20), "sql")
	if err != nil {
		t.Fatal(err)
	}
	var byTask [2][]float64
	for i := range byTask {
		res, err := replay(t.Context(), d, ledger, 4, t.TempDir(), 7)
		if err != nil {
			t.Fatal(err)
		}
		byTask[i] = res.byTask
		if res.attackersProven > .2 {
			t.Errorf("%.2f of the attackers are proven", res.attackersProven)
		}
	}
	if fmt.Sprint(byTask[0]) != fmt.Sprint(byTask[1]) {
		t.Errorf("one seed gave %v and %v", byTask[0], byTask[1])
	}
	alone, err := replay(t.Context(), d, isolated, 4, t.TempDir(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if mean(byTask[0]) <= mean(alone.byTask) {
		t.Errorf("success %.2f with the ledger, %.2f isolated", mean(byTask[0]), mean(alone.byTask))
	}
}

func TestRunWithoutData(t *testing.T) {
	rows, notes, err := Run(t.Context(), Options{Data: t.TempDir(), Seeds: 1})
	if err != nil || len(rows) != 0 || len(notes) != 3 {
		t.Errorf("got %d rows, notes %q, error %v", len(rows), notes, err)
	}
}

func TestBetaHasItsMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range [][2]float64{{1, 1}, {3, 1}, {1, 6}, {40, 20}} {
		sum := 0.0
		for range 20_000 {
			sum += beta(c[0], c[1], rng)
		}
		if got, want := sum/20_000, c[0]/(c[0]+c[1]); math.Abs(got-want) > .01 {
			t.Errorf("beta(%v, %v): mean %.3f, want %.3f", c[0], c[1], got, want)
		}
	}
}

func TestIntervalHoldsTheMean(t *testing.T) {
	values := [][]float64{{0, 1, 0, 1}, {1, 1, 0, 0}, {0, 1, 1, 1}}
	low, high := interval(values, 1)
	if m := mean(means(values)); low > m || high < m || low == high {
		t.Errorf("interval %v to %v of mean %v", low, high, m)
	}
}

func TestAttackersFor(t *testing.T) {
	for tenths, want := range map[int]int{0: 0, 1: 1, 3: 4, 5: 10} {
		if got := attackersFor(tenths); got != want {
			t.Errorf("%d tenths: %d attackers, want %d", tenths, got, want)
		}
	}
}

func TestDisprovedAuthorsWeighNothing(t *testing.T) {
	r := &run{cond: ledger, ledgers: [][]federation.Ledger{{{}, {Contradicted: 1}}, {}}}
	c := &claim{author: 1, status: federation.StatusCandidate}
	if w := r.weight(0, c); w != 0 {
		t.Errorf("weight %v of a disproved author", w)
	}
	c.status = federation.StatusPromoted
	if w := r.weight(0, c); w != 1 {
		t.Errorf("weight %v of a promoted experience", w)
	}
}
