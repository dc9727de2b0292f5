package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// Limits of the signs; an alert carries the value it saw and its limit.
const (
	shareLimit      = .5  // of all mass about one item, from one juror, with at least shareMass in it
	shareMass       = 4.0 // mass an item must have before its concentration says something
	ringLimit       = .8  // mean lift that two principals give each other
	ringMass        = 3.0 // mass each gives the other at least
	contraryLimit   = .25 // mean distance of a juror's lift from that of the rest of its juries
	contraryItems   = 3
	burstLimit      = .6 // of an item's citations within an hour, from 10 citations on
	burstCitations  = 10
	hourMS          = int64(3_600_000)
	deadJobsLimit   = 0
	alertsPerKind   = 50
	divisionLimit   = .2 // gap between the lift given to the own group and to the others
	divisionMass    = 6.0
	divisionMembers = 2
)

// opinions gathers what was said about shared items.
type opinions struct {
	items map[store.ID]*opinion
	given map[string]map[string]*federation.Rater // juror -> author principal -> mass and lift
}

type opinion struct {
	e      *store.Experience
	mass   map[string]*federation.Rater // by juror
	times  []int64
	jurors []string
}

// Alerts computes signs of collusion and ill health from the present state. It acts on nothing.
func (n *Node) Alerts(_ context.Context, c api.Caller) (api.List[api.Alert], error) {
	out := api.List[api.Alert]{Items: []api.Alert{}}
	if !privileged(c) {
		return out, api.Denied("needs the role admin, curator or auditor")
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return out, err
	}
	defer v.Close()
	standing, err := v.Alerts(ns)
	if err != nil {
		return out, err
	}
	found, err := n.signs(v, ns)
	listed := map[string]int{}
	for _, a := range found {
		if s, ok := standing[a.ID]; ok {
			a.RaisedAt = api.Time(s.At)
		}
		if listed[a.Kind]++; listed[a.Kind] <= alertsPerKind {
			out.Items = append(out.Items, a)
		}
	}
	return out, err
}

// signs are all that a look at a namespace finds, each with its id.
func (n *Node) signs(v *store.View, ns *store.Namespace) ([]api.Alert, error) {
	o, err := gather(v, ns)
	if err != nil {
		return nil, err
	}
	var out []api.Alert
	for _, find := range []func(*opinions) []api.Alert{concentration, rings, contrary, bursts, division} {
		out = append(out, find(o)...)
	}
	h, err := n.health(v, ns)
	if err != nil {
		return nil, err
	}
	out = append(out, h.alerts()...)
	dead, err := v.Counter(ns, "job/"+store.JobDead)
	if err != nil {
		return nil, err
	}
	if dead > deadJobsLimit {
		out = append(out, alert("dead_jobs", float64(dead), deadJobsLimit, nil, nil, "%d jobs gave up; see /v1/jobs?status=dead", dead))
	}
	for i := range out {
		out[i].ID = alertID(&out[i])
	}
	return out, nil
}

func gather(v *store.View, ns *store.Namespace) (*opinions, error) {
	o := &opinions{items: map[store.ID]*opinion{}, given: map[string]map[string]*federation.Rater{}}
	var failed error
	err := v.Pool(ns, store.SharedOwner, nil, func(_ []byte, e *store.Experience) bool {
		if e.Unit == "" && (e.Status == federation.StatusCandidate || e.Status == federation.StatusPromoted) {
			op := &opinion{e: e, mass: map[string]*federation.Rater{}}
			o.items[e.ID] = op
			failed = v.EvidenceOf(ns, e.ID, nil, func(_ []byte, ev *store.Evidence) bool {
				if ev.Version == e.Version {
					o.add(op, ev)
				}
				return true
			})
		}
		return failed == nil
	})
	return o, errors.Join(err, failed)
}

func (o *opinions) add(op *opinion, ev *store.Evidence) {
	if op.mass[ev.Juror] == nil {
		op.mass[ev.Juror] = &federation.Rater{}
		op.jurors = append(op.jurors, ev.Juror)
	}
	op.mass[ev.Juror].Add(ev.Mass, ev.Lift)
	op.times = append(op.times, ev.At)
	if o.given[ev.Juror] == nil {
		o.given[ev.Juror] = map[string]*federation.Rater{}
	}
	author := "principal:" + op.e.Principal
	if o.given[ev.Juror][author] == nil {
		o.given[ev.Juror][author] = &federation.Rater{}
	}
	o.given[ev.Juror][author].Add(ev.Mass, ev.Lift)
}

func (o *opinions) sorted() []*opinion {
	return slices.SortedFunc(maps.Values(o.items), func(a, b *opinion) int { return a.e.ID.Compare(b.e.ID) })
}

func meanLift(r *federation.Rater) float64 {
	if r == nil || r.LW <= 0 {
		return .5
	}
	return float64(r.LS) / float64(r.LW)
}

func alert(kind string, value, limit float64, members, items []string, format string, args ...any) api.Alert {
	return api.Alert{
		Kind: kind, Severity: "warning", Detail: fmt.Sprintf(format, args...), Members: orEmpty(members),
		Experiences: orEmpty(items), Value: value, Limit: limit,
	}
}

// concentration finds items whose evidence comes mostly from one juror although others sit on the jury.
func concentration(o *opinions) []api.Alert {
	var out []api.Alert
	for _, op := range o.sorted() {
		total, most, who := 0.0, 0.0, ""
		for _, j := range op.jurors {
			w := score(op.mass[j].LW)
			total += w
			if w > most {
				most, who = w, j
			}
		}
		if len(op.jurors) > 1 && total >= shareMass && most/total > shareLimit {
			out = append(out, alert("evidence_concentration", most/total, shareLimit, []string{who}, []string{op.e.ID.String()},
				"%s brings %.0f %% of what is said about one item", who, 100*most/total))
		}
	}
	return out
}

// rings finds pairs of principals that praise each other.
func rings(o *opinions) []api.Alert {
	var out []api.Alert
	for _, a := range slices.Sorted(maps.Keys(o.given)) {
		for _, b := range slices.Sorted(maps.Keys(o.given[a])) {
			back := o.given[b][a]
			if a >= b || back == nil || score(back.LW) < ringMass || score(o.given[a][b].LW) < ringMass {
				continue
			}
			least := min(meanLift(o.given[a][b]), meanLift(back))
			if least >= ringLimit {
				out = append(out, alert("reciprocity", least, ringLimit, []string{a, b}, nil,
					"%s and %s report a mean lift of at least %.2f about each other's items", a, b, least))
			}
		}
	}
	return out
}

// contrary finds jurors whose reports disagree with the rest of their juries.
func contrary(o *opinions) []api.Alert {
	gap, count, items := map[string]float64{}, map[string]int{}, map[string][]string{}
	for _, op := range o.sorted() {
		for _, j := range op.jurors {
			var rest federation.Rater
			for _, other := range op.jurors {
				if other != j {
					rest.LW += op.mass[other].LW
					rest.LS += op.mass[other].LS
				}
			}
			if rest.LW < federation.One {
				continue
			}
			d := meanLift(op.mass[j]) - meanLift(&rest)
			gap[j] += max(d, -d)
			count[j]++
			items[j] = append(items[j], op.e.ID.String())
		}
	}
	var out []api.Alert
	for _, j := range slices.Sorted(maps.Keys(gap)) {
		if mean := gap[j] / float64(count[j]); count[j] >= contraryItems && mean > contraryLimit {
			out = append(out, alert("contrary_reports", mean, contraryLimit, []string{j}, items[j],
				"what %s reports lies %.2f from the rest of its juries, over %d items", j, mean, count[j]))
		}
	}
	return out
}

// bursts finds items most of whose citations came within one hour.
func bursts(o *opinions) []api.Alert {
	var out []api.Alert
	for _, op := range o.sorted() {
		if len(op.times) < burstCitations {
			continue
		}
		slices.Sort(op.times)
		most, from := 0, 0
		for to := range op.times {
			for op.times[to]-op.times[from] > hourMS {
				from++
			}
			most = max(most, to-from+1)
		}
		span := op.times[len(op.times)-1] - op.times[0]
		if share := float64(most) / float64(len(op.times)); span > 24*hourMS && share > burstLimit {
			out = append(out, alert("burst", share, burstLimit, op.jurors, []string{op.e.ID.String()},
				"%d of %d citations of one item came within an hour", most, len(op.times)))
		}
	}
	return out
}

// division finds groups that praise inside and slander outside: a principal that gives some authors far more than others,
// among whom it is given the same back. One outsider makes no division.
func division(o *opinions) []api.Alert {
	var out []api.Alert
	for _, a := range slices.Sorted(maps.Keys(o.given)) {
		friends := []string{a}
		var in, outside federation.Rater
		for _, b := range slices.Sorted(maps.Keys(o.given[a])) {
			r := o.given[a][b]
			if meanLift(r) > .5 && meanLift(o.given[b][a]) > .5 {
				friends = append(friends, b)
				in.LW, in.LS = in.LW+r.LW, in.LS+r.LS
				continue
			}
			outside.LW, outside.LS = outside.LW+r.LW, outside.LS+r.LS
		}
		gap := meanLift(&in) - meanLift(&outside)
		others := len(o.given[a]) + 1 - len(friends)
		if len(friends) > divisionMembers && others >= divisionMembers && score(in.LW) >= divisionMass && score(outside.LW) >= divisionMass && gap > divisionLimit {
			out = append(out, alert("group_division", gap, divisionLimit, friends, nil,
				"%s gives its group %.2f more than the others", a, gap))
		}
	}
	return out
}
