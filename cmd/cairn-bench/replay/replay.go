package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync"

	"cairn/cmd/cairn-bench/bar"
)

const (
	quickSeeds = 8
	fullSeeds  = 16
)

// Options of Run.
type Options struct {
	Data    string // folder of trajectories-sql.jsonl and trajectories-bash.jsonl
	Seed    uint64 // of the first run; the others follow it
	Seeds   int    // runs of each kind; 0 means 8 in a quick run, else 16
	Quick   bool
	Workers int    // runs at a time; 0 means 2
	Dir     string // for the states of runs, removed after each; empty means the system's
}

// Row is one figure: the value over all seeds, and its range: the 95 % interval over tasks and seeds where What says so,
// else the least and greatest value of a seed.
type Row struct {
	Name      string
	Value     float64
	Low, High float64
	Reference *float64
	Op        string // ">=", "<=", ">" or "" where nothing is demanded
	Bar       float64
	What      string
}

// OK reports whether the row holds its bar.
func (r Row) OK() bool { return bar.Holds(r.Value, r.Op, r.Bar) }

// domains that have a signal, in order.
var domains = []string{"sql", "bash"}

// plan is a kind of run: a condition beside a share of attackers in tenths of all principals.
type plan struct {
	cond      condition
	attackers int
}

// attackersFor is the number of extra principals that make up tenths/10 of all.
func attackersFor(tenths int) int {
	return int(math.Round(honest * float64(tenths) / float64(10-tenths)))
}

var plans = []plan{
	{isolated, 0}, {ungated, 0}, {ledger, 0}, {off, 0}, {strict, 0}, {ungated, 3}, {ledger, 3}, {ungated, 5}, {ledger, 5},
	{off, 5}, {strict, 5},
}

func (p plan) String() string {
	if p.attackers == 0 {
		return p.cond.name
	}
	return fmt.Sprintf("%s, %d %% flip", p.cond.name, 10*p.attackers)
}

// spec is a row of one domain.
type spec struct {
	name      string // of the row, with the domain in the place of %s
	value     func(outcomes) (value, low, high float64)
	reference map[string]float64 // by domain: what a prototype gave
	op        string
	bar       float64
	what      string
}

var table = []spec{
	{"offline_share_%s", shareOfGain, map[string]float64{"sql": .85, "bash": .69}, ">=", .6,
		"what the reader's ledger keeps of the gain of sharing everything without a gate"},
	{"offline_gain_%s", gain(plan{ledger, 0}), nil, "", 0, "mean success with the ledger less that of isolated agents; 95 % interval over tasks and seeds"},
	{"offline_gain_%s_low", gainLow(plan{ledger, 0}), nil, ">", 0, "the low end of that interval"},
	{"offline_flip30_%s", gain(plan{ledger, 3}), map[string]float64{"sql": .113, "bash": .093}, ">=", .08, "the same with 30 % of the principals lying"},
	{"offline_flip50_%s", gain(plan{ledger, 5}), map[string]float64{"sql": .087, "bash": .078}, ">=", 0, "the same with 50 % of the principals lying"},
	{"offline_attackers_proven_%s", attackersProven, nil, "<=", .05, "share of attackers proven to an honest reader at the end, at 50 %"},
	{"offline_honest_proven_%s", honestProven, nil, "", 0, "share of honest authors proven to an honest reader at the end, no attackers"},
	{"offline_ungated_%s", gain(plan{ungated, 0}), nil, "", 0, "gain of sharing everything"},
	{"offline_ungated_flip50_%s", gain(plan{ungated, 5}), map[string]float64{"sql": -.253, "bash": -.059}, "", 0, "the same with 50 % lying"},
	{"offline_off_%s", gain(plan{off, 0}), nil, "", 0, "gain with promotion alone, no ledger"},
	{"offline_off_flip50_%s", gain(plan{off, 5}), nil, "", 0, "the same with 50 % lying"},
	{"offline_strict_%s", gain(plan{strict, 0}), nil, "", 0, "gain with the strict profile, unproven authors hidden"},
	{"offline_strict_flip50_%s", gain(plan{strict, 5}), nil, "", 0, "the same with 50 % lying"},
	{"offline_isolated_%s", success(plan{isolated, 0}), map[string]float64{"sql": .567, "bash": .315}, "", 0, "mean success of isolated agents"},
}

// outcomes are the runs of one domain.
type outcomes struct {
	runs map[string][]result // by plan, in order of seed
	seed uint64
}

// gains is the success of a plan less that of isolated agents, by seed and task.
func (o outcomes) gains(p plan) [][]float64 {
	base := o.runs[plan{isolated, 0}.String()]
	var out [][]float64
	for i, r := range o.runs[p.String()] {
		row := make([]float64, len(r.byTask))
		for t := range row {
			row[t] = r.byTask[t] - base[i].byTask[t]
		}
		out = append(out, row)
	}
	return out
}

func means(rows [][]float64) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = mean(row)
	}
	return out
}

func gain(p plan) func(outcomes) (value, low, high float64) {
	return func(o outcomes) (value, low, high float64) {
		rows := o.gains(p)
		low, high = interval(rows, o.seed)
		return mean(means(rows)), low, high
	}
}

func gainLow(p plan) func(outcomes) (value, low, high float64) {
	return func(o outcomes) (value, low, high float64) {
		low, _ = interval(o.gains(p), o.seed)
		return low, low, low
	}
}

func shareOfGain(o outcomes) (value, low, high float64) {
	ours, all := means(o.gains(plan{ledger, 0})), means(o.gains(plan{ungated, 0}))
	shares := make([]float64, len(ours))
	for i := range shares {
		shares[i] = ours[i] / all[i]
	}
	return mean(ours) / mean(all), slices.Min(shares), slices.Max(shares)
}

func over(o outcomes, p plan, value func(result) float64) (mid, low, high float64) {
	var list []float64
	for _, r := range o.runs[p.String()] {
		list = append(list, value(r))
	}
	return mean(list), slices.Min(list), slices.Max(list)
}

func success(p plan) func(outcomes) (value, low, high float64) {
	return func(o outcomes) (value, low, high float64) {
		return over(o, p, func(r result) float64 { return mean(r.byTask) })
	}
}

func attackersProven(o outcomes) (value, low, high float64) {
	return over(o, plan{ledger, 5}, func(r result) float64 { return r.attackersProven })
}

func honestProven(o outcomes) (value, low, high float64) {
	return over(o, plan{ledger, 0}, func(r result) float64 { return r.honestProven })
}

// Rows names the rows without values, in order.
func Rows() []Row {
	var out []Row
	for _, name := range domains {
		for _, s := range table {
			out = append(out, s.row(name))
		}
	}
	return out
}

func (s spec) row(domain string) Row {
	r := Row{Name: fmt.Sprintf(s.name, domain), Op: s.op, Bar: s.bar, What: s.what}
	if ref, ok := s.reference[domain]; ok {
		r.Reference = &ref
	}
	return r
}

// Run replays the recorded attempts of each domain under every condition and returns the rows with notes. Domains whose
// file is missing are left out with a note.
func Run(ctx context.Context, o Options) ([]Row, []string, error) {
	if o.Seeds <= 0 {
		if o.Seeds = fullSeeds; o.Quick {
			o.Seeds = quickSeeds
		}
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	var rows []Row
	notes := []string{fmt.Sprintf("recurring track, each task faced by %d of %d honest principals, %d seeds", visits, honest, o.Seeds)}
	for _, name := range domains {
		d, err := load(o.Data, name)
		if errors.Is(err, os.ErrNotExist) {
			notes = append(notes, fmt.Sprintf("%s left out: no %s", name, file("", name)))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		runs, err := replayAll(ctx, d, o)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range table {
			r := s.row(name)
			r.Value, r.Low, r.High = s.value(outcomes{runs, o.Seed})
			rows = append(rows, r)
		}
		notes = append(notes, d.notes(runs)...)
	}
	return rows, notes, nil
}

// notes say what the recorded choices allow at best, and what was promoted.
func (d *domain) notes(runs map[string][]result) []string {
	fixed, oracle := d.limits()
	out := []string{fmt.Sprintf("%s: %d tasks, %d arms; best fixed arm %.3f, oracle %.3f", d.name, len(d.tasks), len(d.arms), fixed, oracle)}
	for _, p := range slices.Sorted(maps.Keys(runs)) {
		promoted := 0
		for _, r := range runs[p] {
			promoted += r.promoted
		}
		if promoted > 0 {
			out = append(out, fmt.Sprintf("%s, %s: %.1f experiences promoted a run", d.name, p, float64(promoted)/float64(len(runs[p]))))
		}
	}
	return out
}

// limits are the success of the best single arm, where it was recorded, and of the best arm of each task.
func (d *domain) limits() (fixed, oracle float64) {
	wins, tries := make([]float64, len(d.arms)), make([]float64, len(d.arms))
	for _, t := range d.tasks {
		won := false
		for _, a := range t.attempts {
			tries[a.arm]++
			if a.success {
				wins[a.arm]++
				won = true
			}
		}
		if won {
			oracle += 1 / float64(len(d.tasks))
		}
	}
	for i := range wins {
		fixed = max(fixed, wins[i]/max(tries[i], 1))
	}
	return fixed, oracle
}

// replayAll does the runs of a domain, some at a time, and stops at the first error.
func replayAll(ctx context.Context, d *domain, o Options) (map[string][]result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs := map[string][]result{}
	slots := make(chan struct{}, o.Workers)
	var wg sync.WaitGroup
	for _, p := range plans {
		list := make([]result, o.Seeds)
		runs[p.String()] = list
		for i := range list {
			slots <- struct{}{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer func() { <-slots }()
				if ctx.Err() != nil {
					return
				}
				seed := o.Seed + uint64(i)
				res, err := replay(ctx, d, p.cond, attackersFor(p.attackers), o.Dir, seed)
				if err != nil {
					cancel(fmt.Errorf("%s, %s, seed %d: %w", d.name, p, seed, err))
				}
				list[i] = res
			}()
		}
	}
	wg.Wait()
	return runs, context.Cause(ctx)
}
