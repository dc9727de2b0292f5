package store

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"cairn/federation"
)

type trustVector struct {
	Case      string `json:"case"`
	Jury      int    `json:"jury"`
	Citations int64  `json:"citations"`
	Promoted  bool   `json:"promoted_before"`
	Jurors    []struct {
		Count, W, S, V, LW, LS int64
	} `json:"jurors"`
	N, Mu, Trust, Upper int64
	Heard, Quorum       int
	Decision            string
}

// juror is what one juror reported: rewards about the item, and about another one.
type goldenJuror struct {
	item   []string
	others int
	other  string
}

// TestTrustVectorsThroughOutcomes reaches golden rows of the trust rule by outcomes alone. Each outcome is of a task type
// without history, so .5 is expected; rows that need other expectations are left to package federation.
func TestTrustVectorsThroughOutcomes(t *testing.T) {
	good, bad := "1", "0"
	times := func(n int, y string) (out []string) {
		for range n {
			out = append(out, y)
		}
		return out
	}
	cases := map[string][]goldenJuror{
		"no evidence": nil,
		"2 principals, one juror, 8 of 8 at e=.5, no other evidence (b = 0)": {{item: times(8, good)}},
		"3 principals, 2 jurors, 4 of 5 each at e=.5, other items as expected": {
			{[]string{good, good, good, good, bad}, 20, ".5"}, {[]string{good, good, good, good, bad}, 20, ".5"},
		},
		"cap: one of 5 jurors reports 40 times, others unheard": {{times(40, ".9"), 15, ".5"}},
		"promoted, 9 jurors at 1 of 3, e=.5: no better than expected": repeat(9, goldenJuror{
			[]string{good, bad, bad}, 40, ".54",
		}),
		"promoted, 4 jurors at 2 of 3 and 5 at 1 of 2, e=.5: below .48, kept by hysteresis": append(
			repeat(4, goldenJuror{[]string{good, good, bad}, 40, ".52"}),
			repeat(5, goldenJuror{[]string{good, bad}, 40, ".48"})...),
		"rich fleet: 2 jurors, 5 of 5 each at e=.5, 5 other items equally good (b = .179; with the item in b: .479, wait)": repeat(2,
			goldenJuror{times(5, good), 25, good}),
	}
	seen := 0
	for _, v := range trustVectors(t) {
		jurors, ok := cases[v.Case]
		if !ok {
			continue
		}
		seen++
		t.Run(v.Case, func(t *testing.T) { checkTrustVector(t, v, jurors) })
	}
	if seen != len(cases) {
		t.Errorf("%d of %d cases are in the golden file", seen, len(cases))
	}
}

func repeat(n int, j goldenJuror) (out []goldenJuror) {
	for range n {
		out = append(out, j)
	}
	return out
}

func trustVectors(t *testing.T) []trustVector {
	t.Helper()
	data, err := os.ReadFile("../../federation/testdata/trust_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []trustVector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

func checkTrustVector(t *testing.T, v trustVector, jurors []goldenJuror) {
	var names []string
	for i := range v.Jury {
		names = append(names, fmt.Sprintf("p%02d", i))
	}
	l := fleet(t, names...)
	_, item := l.shelve("author", "item")
	_, other := l.shelve("author", "other")
	types := 0
	say := func(juror int, id ID, reward string) {
		var y float64
		if _, err := fmt.Sscan(reward, &y); err != nil {
			t.Fatal(err)
		}
		r := l.recall(names[juror]+"-1", id)
		types++
		r.TaskType = fmt.Sprintf("type-%d", types)
		l.do(KindOutcome, l.outcome(r, federation.Micro(y*1e6+.5)), nil)
	}
	for i, j := range jurors {
		for range j.others {
			say(i, other, j.other)
		}
	}
	for i, j := range jurors {
		for _, y := range j.item {
			say(i, item, y)
		}
	}
	l.compareRows(v, item)
	e := l.must(item)
	got := [...]int64{e.Trust.N, e.Trust.Mu, e.Trust.Trust, e.Trust.Upper, int64(e.Trust.Heard), int64(e.Trust.Quorum), e.Trust.Citations}
	want := [...]int64{v.N, v.Mu, v.Trust, v.Upper, int64(v.Heard), int64(v.Quorum), v.Citations}
	if v.Promoted {
		want[6] = got[6] // the file counts citations of before
	}
	if got != want {
		t.Errorf("n, mean, trust, upper, heard, quorum, citations are %v, want %v", got, want)
	}
	if promote := l.job(JobPromote, item) != nil; !v.Promoted && promote != (v.Decision == "promote") {
		t.Errorf("asked for promotion: %v, want %s", promote, v.Decision)
	}
	l.mustCheck()
}

// compareRows compares accumulators and raters with the file's rows, in order of juror.
func (l *lab) compareRows(v trustVector, item ID) {
	l.t.Helper()
	at := 0
	for _, row := range v.Jurors {
		for range row.Count {
			juror := fmt.Sprintf("principal:p%02d", at)
			at++
			l.read(func(view *View, ns *Namespace) {
				acc, err := view.Accumulator(ns, item, 1, juror)
				rater, rerr := view.Rater(ns, juror)
				if err != nil || rerr != nil {
					l.t.Fatal(err, rerr)
				}
				got := [...]int64{acc.W, acc.S, acc.V, rater.LW, rater.LS}
				want := [...]int64{row.W, row.S, row.V, row.LW, row.LS}
				if got != want {
					l.t.Errorf("%s: w, s, v, lw, ls are %v, want %v", juror, got, want)
				}
			})
		}
	}
}
