package federation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Limits of the signs of collusion. A sign carries the value that was seen and its limit.
const (
	juryShareLimit  = .5  // of all mass about one item, from one juror; twice an equal share if that is more
	juryShareMass   = 4.0 // mass an item must have before its concentration says something
	authorLimit     = .5  // of what was given of the shared items, from one author's; twice an equal share if that is more
	authorRecalls   = 50. // given in all before a share says something
	authorCount     = 3   // authors on the shelf
	signItems       = 20  // items that a sign of an author or juror names
	ringLimit       = .8  // mean lift that two principals give each other
	ringMass        = 3.0 // mass each gives the other at least
	contraryLimit   = .06 // mean distance of a juror's lift from the median of the others
	contraryErrors  = 4.  // the distance in standard errors
	reportError     = .25 // standard deviation of the lift in a report of mass 1
	contraryItems   = 3
	contraryJurors  = 3
	burstLimit      = .6 // of an item's citations within an hour
	burstCitations  = 10
	hourMS          = 3_600_000
	divisionLimit   = .2 // gap between the lift given to the own group and to the others
	divisionMass    = 6.0
	divisionMembers = 2
)

// Report is one citation of a shared item, as far as signs look at it.
type Report struct {
	Juror      string // unit that judges: "principal:NAME"
	Mass, Lift Micro
	At         int64 // Unix ms
}

// Opinion is what was said about one shared item, and how often it was given.
type Opinion struct {
	Item     string
	Author   string // unit of the author, named as jurors are
	Recalled Micro  // recalls that gave it, in micro-units
	Reports  []Report
}

// Sign is something an admin should look at. It is evidence of nothing and acts on nothing.
type Sign struct {
	Kind         string
	Value, Limit float64
	Members      []string // units
	Items        []string
	Detail       string
}

// Signs looks for signs of collusion among the live shared items, in the order of kinds below and within a kind in order of
// item or unit:
//
//   - evidence_concentration: most of what is said about an item comes from one of several jurors;
//   - recall_concentration: most of what is given of the shared items is one author's;
//   - reciprocity: two principals that praise each other;
//   - contrary_reports: a juror whose reports lie apart from those of the rest of its juries;
//   - burst: most citations of an item, spread over days, came within an hour;
//   - group_division: a principal that praises a group which praises it, and gives all others less.
//
// The order of list and of the reports in it does not matter.
func Signs(list []Opinion) []Sign {
	l := &ledgers{given: map[string]map[string]*Rater{}}
	for _, o := range list {
		l.add(o)
	}
	slices.SortFunc(l.items, func(a, b *tally) int { return strings.Compare(a.o.Item, b.o.Item) })
	var out []Sign
	for _, find := range []func(*ledgers) []Sign{
		juryConcentration, recallConcentration, reciprocity, contraryReports, bursts, groupDivision,
	} {
		out = append(out, find(l)...)
	}
	return out
}

// ledgers sums the reports by item and by pair of juror and author.
type ledgers struct {
	items []*tally
	given map[string]map[string]*Rater // juror -> author
}

type tally struct {
	o      Opinion
	jurors []string // sorted
	mass   map[string]*Rater
}

func (l *ledgers) add(o Opinion) {
	t := &tally{o: o, mass: map[string]*Rater{}}
	for _, r := range o.Reports {
		if t.mass[r.Juror] == nil {
			t.mass[r.Juror] = &Rater{}
		}
		t.mass[r.Juror].Add(r.Mass, r.Lift)
		if l.given[r.Juror] == nil {
			l.given[r.Juror] = map[string]*Rater{}
		}
		if l.given[r.Juror][o.Author] == nil {
			l.given[r.Juror][o.Author] = &Rater{}
		}
		l.given[r.Juror][o.Author].Add(r.Mass, r.Lift)
	}
	t.jurors = slices.Sorted(maps.Keys(t.mass))
	l.items = append(l.items, t)
}

// meanLift is .5 for who said nothing.
func meanLift(r *Rater) float64 {
	if r == nil || r.LW <= 0 {
		return .5
	}
	return float64(r.LS) / float64(r.LW)
}

func juryConcentration(l *ledgers) (out []Sign) {
	for _, t := range l.items {
		var total, most Micro
		who := ""
		for _, j := range t.jurors {
			w := t.mass[j].LW
			total += w
			if w > most {
				most, who = w, j
			}
		}
		if unit(total) < juryShareMass {
			continue
		}
		limit := max(juryShareLimit, 2/float64(len(t.jurors)))
		if share := float64(most) / float64(total); share > limit {
			out = append(out, Sign{
				"evidence_concentration", share, limit, []string{who}, []string{t.o.Item},
				fmt.Sprintf("%s brings %.0f %% of what is said about one item", who, 100*share),
			})
		}
	}
	return out
}

// recallConcentration holds the authors' shares of what was given against an equal share: with three authors one may
// have two thirds.
func recallConcentration(l *ledgers) (out []Sign) {
	given, total := map[string]Micro{}, Micro(0)
	for _, t := range l.items {
		given[t.o.Author] += t.o.Recalled
		total += t.o.Recalled
	}
	if len(given) < authorCount || unit(total) < authorRecalls {
		return nil
	}
	limit := max(authorLimit, 2/float64(len(given)))
	for _, a := range slices.Sorted(maps.Keys(given)) {
		share := float64(given[a]) / float64(total)
		if share <= limit {
			continue
		}
		var own []*tally
		for _, t := range l.items {
			if t.o.Author == a && t.o.Recalled > 0 {
				own = append(own, t)
			}
		}
		slices.SortStableFunc(own, func(a, b *tally) int { return cmp.Compare(b.o.Recalled, a.o.Recalled) })
		s := Sign{
			Kind: "recall_concentration", Value: share, Limit: limit, Members: []string{a},
			Detail: fmt.Sprintf("%.0f %% of what was given of the shared items is %s's", 100*share, a),
		}
		for _, t := range own[:min(len(own), signItems)] {
			s.Items = append(s.Items, t.o.Item)
		}
		out = append(out, s)
	}
	return out
}

func reciprocity(l *ledgers) (out []Sign) {
	for _, a := range slices.Sorted(maps.Keys(l.given)) {
		for _, b := range slices.Sorted(maps.Keys(l.given[a])) {
			there, back := l.given[a][b], l.given[b][a]
			if a >= b || back == nil || unit(back.LW) < ringMass || unit(there.LW) < ringMass {
				continue
			}
			if least := min(meanLift(there), meanLift(back)); least >= ringLimit {
				out = append(out, Sign{
					"reciprocity", least, ringLimit, []string{a, b}, nil,
					fmt.Sprintf("%s and %s report a mean lift of at least %.2f about each other's items", a, b, least),
				})
			}
		}
	}
	return out
}

// contraryReports measures each juror against the median of the others about the same items, which a minority that slanders
// or praises moves little, and all of them against the median juror: where many praise, who does not is not apart.
func contraryReports(l *ledgers) (out []Sign) {
	jurors := map[string]*distance{}
	for _, t := range l.items {
		for _, j := range t.jurors {
			own := t.mass[j]
			rest, ok := t.others(j)
			if !ok || own.LW <= 0 {
				continue
			}
			if jurors[j] == nil {
				jurors[j] = &distance{}
			}
			jurors[j].add(t.o.Item, unit(own.LW), meanLift(own)-rest)
		}
	}
	if len(jurors) < contraryJurors {
		return nil
	}
	var all []float64
	for _, d := range jurors {
		all = append(all, d.mean())
	}
	middle := median(all)
	for _, j := range slices.Sorted(maps.Keys(jurors)) {
		d := jurors[j]
		gap := d.mean() - middle
		size, side := gap, "above"
		if gap < 0 {
			size, side = -gap, "below"
		}
		if len(d.items) < contraryItems || size <= contraryLimit || size*math.Sqrt(d.mass) < contraryErrors*reportError {
			continue
		}
		out = append(out, Sign{
			"contrary_reports", size, contraryLimit, []string{j}, d.farthest(gap < 0),
			fmt.Sprintf("what %s reports lies %.2f %s the rest of its juries, over %d items", j, size, side, len(d.items)),
		})
	}
	return out
}

// others is the median of what the other jurors say; false when they say next to nothing.
func (t *tally) others(than string) (float64, bool) {
	var lifts []float64
	var mass Micro
	for _, j := range t.jurors {
		if r := t.mass[j]; j != than && r.LW > 0 {
			lifts = append(lifts, meanLift(r))
			mass += r.LW
		}
	}
	if mass < One {
		return 0, false
	}
	return median(lifts), true
}

// median sorts list, which holds something.
func median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

// distance is how far a juror is from the others, item by item.
type distance struct {
	mass, sum float64
	items     []apart
}

type apart struct {
	item string
	by   float64
}

func (d *distance) add(item string, mass, by float64) {
	d.mass += mass
	d.sum += mass * by
	d.items = append(d.items, apart{item, by})
}

func (d *distance) mean() float64 { return d.sum / d.mass }

// farthest names the items that the juror is farthest from the others about, on one side.
func (d *distance) farthest(below bool) []string {
	slices.SortStableFunc(d.items, func(a, b apart) int {
		if below {
			a, b = b, a
		}
		return cmp.Compare(b.by, a.by)
	})
	var out []string
	for _, x := range d.items[:min(len(d.items), signItems)] {
		out = append(out, x.item)
	}
	return out
}

func bursts(l *ledgers) (out []Sign) {
	for _, t := range l.items {
		if len(t.o.Reports) < burstCitations {
			continue
		}
		times := make([]int64, len(t.o.Reports))
		for i, r := range t.o.Reports {
			times[i] = r.At
		}
		slices.Sort(times)
		most, from, first := 0, 0, 0
		for to := range times {
			for times[to]-times[from] > hourMS {
				from++
			}
			if to-from+1 > most {
				most, first = to-from+1, from
			}
		}
		share := float64(most) / float64(len(times))
		if times[len(times)-1]-times[0] <= 24*hourMS || share <= burstLimit {
			continue
		}
		out = append(out, Sign{
			"burst", share, burstLimit, within(t.o.Reports, times[first], times[first+most-1]), []string{t.o.Item},
			fmt.Sprintf("%d of %d citations of one item came within an hour", most, len(times)),
		})
	}
	return out
}

// within lists who reported in [from, to].
func within(reports []Report, from, to int64) []string {
	var who []string
	for _, r := range reports {
		if from <= r.At && r.At <= to {
			who = append(who, r.Juror)
		}
	}
	slices.Sort(who)
	return slices.Compact(who)
}

func groupDivision(l *ledgers) (out []Sign) {
	for _, a := range slices.Sorted(maps.Keys(l.given)) {
		friends := []string{a}
		var in, outside Rater
		for _, b := range slices.Sorted(maps.Keys(l.given[a])) {
			r := l.given[a][b]
			if meanLift(r) > .5 && meanLift(l.given[b][a]) > .5 {
				friends = append(friends, b)
				in.LW, in.LS = in.LW+r.LW, in.LS+r.LS
				continue
			}
			outside.LW, outside.LS = outside.LW+r.LW, outside.LS+r.LS
		}
		gap := meanLift(&in) - meanLift(&outside)
		others := len(l.given[a]) + 1 - len(friends)
		if len(friends) <= divisionMembers || others < divisionMembers || unit(in.LW) < divisionMass ||
			unit(outside.LW) < divisionMass || gap <= divisionLimit {
			continue
		}
		out = append(out, Sign{
			"group_division", gap, divisionLimit, friends, nil,
			fmt.Sprintf("%s gives its group %.2f more than the others", a, gap),
		})
	}
	return out
}
