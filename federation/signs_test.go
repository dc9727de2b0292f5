package federation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// said makes n reports of a juror, an hour and a bit apart, of mass 1.
func said(juror string, n int, lift float64) (out []Report) {
	for i := range n {
		out = append(out, Report{Juror: juror, Mass: One, Lift: Micro(lift * 1e6), At: int64(i) * (hourMS + 1)})
	}
	return out
}

// lighter makes reports count less.
func lighter(by float64, reports ...[]Report) []Report {
	out := slices.Concat(reports...)
	for i := range out {
		out[i].Mass = Micro(by * 1e6)
	}
	return out
}

func about(item, author string, reports ...[]Report) Opinion {
	return Opinion{Item: item, Author: author, Reports: slices.Concat(reports...)}
}

// spread moves reports to a time, step ms apart.
func spread(reports []Report, from, step int64) []Report {
	for i := range reports {
		reports[i].At = from + int64(i)*step
	}
	return reports
}

func shelf(recalled ...int) (out []Opinion) {
	for i, n := range recalled {
		out = append(out, Opinion{Item: fmt.Sprint("i", i), Author: string(rune('a' + i)), Recalled: Micro(n) * One})
	}
	return out
}

// mutual is a group of n whose members report about each other's items, and about those of two outsiders.
func mutual(n int, inside, outside float64) (out []Opinion) {
	for author := range n + 2 {
		o := Opinion{Item: fmt.Sprint("i", author), Author: fmt.Sprint("p", author)}
		for juror := range n {
			lift := inside
			if author >= n {
				lift = outside
			}
			if juror != author {
				o.Reports = append(o.Reports, said(fmt.Sprint("p", juror), 4, lift)...)
			}
		}
		out = append(out, o)
	}
	return out
}

// TestSigns holds each sign on both sides of its limits.
func TestSigns(t *testing.T) {
	// Of c it is known that it lies apart, d is one more that agrees.
	disagree := func(items, reports int, lift float64) (out []Opinion) {
		for i := range items {
			out = append(out, about(fmt.Sprint("i", i), "author",
				said("a", 2, .7), said("b", 2, .75), said("c", reports, lift-float64(i)/100), said("d", 2, .75)))
		}
		return out
	}
	cases := []struct {
		name    string
		list    []Opinion
		kind    string // "" for none of this kind
		without string // the kind that must be absent
		members []string
		items   []string
		value   float64
	}{
		{"nothing", nil, "", "burst", nil, nil, 0},
		{"one juror speaks most", []Opinion{about("x", "p", said("a", 4, .5), said("b", 1, .5), said("c", 1, .5), said("d", 1, .5))}, "evidence_concentration", "", []string{"a"}, []string{"x"}, 4. / 7},
		{"one says half", []Opinion{about("x", "p", said("a", 3, .5), said("b", 1, .5), said("c", 1, .5), said("d", 1, .5))}, "", "evidence_concentration", nil, nil, 0},
		{"two thirds of three", []Opinion{about("x", "p", said("a", 4, .5), said("b", 1, .5), said("c", 1, .5))}, "", "evidence_concentration", nil, nil, 0},
		{"more of three", []Opinion{about("x", "p", said("a", 5, .5), said("b", 1, .5), said("c", 1, .5))}, "evidence_concentration", "", []string{"a"}, []string{"x"}, 5. / 7},
		{"one juror alone", []Opinion{about("x", "p", said("a", 9, .5))}, "", "evidence_concentration", nil, nil, 0},
		{"too little said", []Opinion{about("x", "p", said("a", 3, .5), lighter(.1, said("b", 1, .5), said("c", 1, .5), said("d", 1, .5)))}, "", "evidence_concentration", nil, nil, 0},

		{"one author is given most", shelf(40, 10, 5, 5), "recall_concentration", "", []string{"a"}, []string{"i0"}, 40. / 60},
		{"half is the limit of four", shelf(30, 10, 10, 10), "", "recall_concentration", nil, nil, 0},
		{"two thirds are that of three", shelf(40, 10, 10), "", "recall_concentration", nil, nil, 0},
		{"more of three", shelf(42, 10, 10), "recall_concentration", "", []string{"a"}, []string{"i0"}, 42. / 62},
		{"two authors", shelf(60, 1), "", "recall_concentration", nil, nil, 0},
		{"hardly given", shelf(30, 10, 5, 4), "", "recall_concentration", nil, nil, 0},

		{"a pair praises", []Opinion{about("x", "a", said("b", 3, .9)), about("y", "b", said("a", 3, .8))}, "reciprocity", "", []string{"a", "b"}, nil, .8},
		{"one of them less", []Opinion{about("x", "a", said("b", 3, .9)), about("y", "b", said("a", 3, .79))}, "", "reciprocity", nil, nil, 0},
		{"one of them seldom", []Opinion{about("x", "a", said("b", 3, .9)), about("y", "b", said("a", 2, .9))}, "", "reciprocity", nil, nil, 0},
		{"one way only", []Opinion{about("x", "a", said("b", 9, .9))}, "", "reciprocity", nil, nil, 0},

		{"a juror apart", disagree(3, 6, .51), "contrary_reports", "", []string{"c"}, []string{"i2", "i1", "i0"}, .25},
		{"a juror that praises", disagree(3, 6, 1), "contrary_reports", "", []string{"c"}, []string{"i0", "i1", "i2"}, .24},
		{"a juror not far off", disagree(3, 600, .705), "", "contrary_reports", nil, nil, 0},
		{"apart by chance", disagree(3, 4, .51), "", "contrary_reports", nil, nil, 0},
		{"apart about two items", disagree(2, 40, .3), "", "contrary_reports", nil, nil, 0},
		{"two jurors, one of them apart", []Opinion{
			about("x", "p", said("a", 50, .9), said("b", 50, .1)), about("y", "p", said("a", 50, .9), said("b", 50, .1)),
			about("z", "p", said("a", 50, .9), said("b", 50, .1)),
		}, "", "contrary_reports", nil, nil, 0},
		{"a burst", []Opinion{about("x", "p", spread(said("a", 4, .5), 0, 24*hourMS), spread(said("b", 7, .5), 50*hourMS, 1000))}, "burst", "", []string{"b"}, []string{"x"}, 7. / 11},
		{"a small burst", []Opinion{about("x", "p", spread(said("a", 4, .5), 0, 24*hourMS), spread(said("b", 6, .5), 50*hourMS, 1000))}, "", "burst", nil, nil, 0},
		{"a busy first day", []Opinion{about("x", "p", spread(said("a", 20, .5), 0, 1000))}, "", "burst", nil, nil, 0},

		{"a group apart", mutual(4, .7, .45), "group_division", "", []string{"p0", "p1", "p2", "p3"}, nil, .25},
		{"a group that is fair outside", mutual(4, .7, .5), "", "group_division", nil, nil, 0},
		{"a pair is no group", mutual(2, .9, .3), "", "group_division", nil, nil, 0},
	}
	for _, c := range cases {
		found := map[string]Sign{}
		for _, s := range Signs(c.list) {
			if _, seen := found[s.Kind]; !seen {
				found[s.Kind] = s
			}
			if s.Limit <= 0 || s.Detail == "" || len(s.Members) == 0 {
				t.Errorf("%s: sign %+v lacks something", c.name, s)
			}
		}
		if s, ok := found[c.without]; ok {
			t.Errorf("%s: %+v, want none of it", c.name, s)
		}
		if c.kind == "" {
			continue
		}
		s, ok := found[c.kind]
		if !ok || !slices.Equal(s.Members, c.members) || !slices.Equal(s.Items, c.items) || math.Abs(s.Value-c.value) > 1e-9 {
			t.Errorf("%s: %v %+v, want %v %v %v", c.name, ok, s, c.members, c.items, c.value)
		}
	}
}

// TestSignsDoNotDependOnOrder shuffles the items and the reports about them.
func TestSignsDoNotDependOnOrder(t *testing.T) {
	list := slices.Concat(mutual(5, .85, .3), shelf(60, 1, 1, 1))
	for i := range list {
		list[i].Item = fmt.Sprint("item", i)
	}
	want := Signs(list)
	if len(want) < 10 {
		t.Fatalf("only %d signs", len(want))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, o := range list {
			rng.Shuffle(len(o.Reports), func(i, j int) { o.Reports[i], o.Reports[j] = o.Reports[j], o.Reports[i] })
		}
		if got := Signs(list); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	}
}
