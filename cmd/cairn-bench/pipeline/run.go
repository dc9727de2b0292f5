package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"cairn/cmd/cairn-bench/bar"
)

// Options of Run.
type Options struct {
	Data  string       // folder of the data files; rows whose files are missing are left out with a note
	Quick bool         // smaller runs of the rows that drive a node
	Seed  uint64       // decides what is drawn at random
	Dir   string       // folder for the data of nodes; a temporary one when empty
	Log   func(string) // told what starts; nil for silence
}

// Spec announces a row: its bar is a bound on Value, upper when Op is "<=", lower when it is ">=". LowBar, where it is not
// nil, is a lower bound that Low has to exceed.
type Spec struct {
	Name   string
	Unit   string
	Op     string
	Bar    float64
	LowBar *float64
	What   string
}

// Row is a measured figure. Low and High are a 95 % interval where the row is an estimate, else the value itself.
type Row struct {
	Spec
	Value float64
	Low   float64
	High  float64
}

// OK reports whether the row meets its bar.
func (r Row) OK() bool {
	return (r.LowBar == nil || r.Low > *r.LowBar) && bar.Holds(r.Value, r.Op, r.Bar)
}

var zero = 0.0

// Specs are all rows in the order in which they are measured.
var Specs = []Spec{
	{"advice_lift_bash_points", "points", ">=", 10, &zero, "success of attempts at shell tasks whose first action follows advice distilled from other attempts at the task, minus that of those that do not, stratified by agent"},
	{"advice_lift_sql_points", "points", ">=", 10, &zero, "the same for database queries"},
	{"unknown_tools", "names", "<=", 0, nil, "tools and arguments that an experience names and its attempts lack"},
	{"routing_accuracy", "share", ">=", .90, nil, "tasks whose nearest tasks vote for their own task type"},
	{"silver_p5", "share", ">=", .87, nil, "of the first five library memories for a task, how many are about a tool that its solution calls"},
	{"dedupe_false_merge", "share", "<=", .01, nil, "pairs of labelled texts that say different things and would be merged"},
	{"dedupe_false_split", "share", "<=", .15, nil, "pairs of labelled texts that say the same and would both be kept"},
	{"wrong_step_agent_gain", "share", ">=", .10, nil, "failed runs whose culprit is found, above a random choice among those who spoke"},
	{"wrong_step_step_gain", "share", ">=", .10, nil, "failed runs whose first wrong step is found, above a random choice among the steps"},
	{"second_record_new", "experiences", "<=", 0, nil, "experiences that exist after every attempt was recorded a second time and did not before"},
	{"feedback_distilled", "experiences", "<=", 0, nil, "experiences that repeat recalled guidance which stood in a trajectory"},
	{"floor_false_return", "share", "<=", .15, nil, "questions whose memory was taken out that are answered all the same"},
	{"floor_true_top5", "share", ">=", .90, nil, "questions whose memory is among the first five"},
	{"groups_per_minute", "1/min", ">=", 150, nil, "groups of eight attempts recorded, distilled, embedded and stored by one node"},
	{"recall_p99_ms", "ms", "<=", 30, nil, "99th percentile of a recall with a text that was not seen before"},
}

// runner collects rows and notes.
type runner struct {
	ctx   context.Context
	opts  Options
	rows  []Row
	notes []string
}

// Run measures every row whose data is there and returns the rows in the order of Specs, with notes about what was
// measured and what was left out. It returns an error when a measurement could not be made; a missed bar is none.
func Run(ctx context.Context, o Options) ([]Row, []string, error) {
	r := &runner{ctx: ctx, opts: o}
	for _, step := range []struct {
		name    string
		measure func() error
	}{
		{"advice", r.advice}, {"tools", r.unknownTools}, {"routing", r.routing}, {"silver", r.silver}, {"dedupe", r.dedupe},
		{"wrong step", r.wrongStep}, {"second recording", r.secondRecording}, {"feedback", r.feedback}, {"floor", r.floor},
		{"speed", r.speed},
	} {
		if o.Log != nil {
			o.Log(step.name)
		}
		err := step.measure()
		if errors.Is(err, os.ErrNotExist) {
			r.note("%s left out: %v", step.name, err)
			continue
		}
		if err != nil {
			return r.rows, r.notes, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return r.rows, r.notes, nil
}

func (r *runner) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// add records a figure without an interval.
func (r *runner) add(name string, value float64) { r.addRange(name, value, value, value) }

func (r *runner) addRange(name string, value, low, high float64) {
	for _, s := range Specs {
		if s.Name == name {
			r.rows = append(r.rows, Row{Spec: s, Value: value, Low: low, High: high})
			return
		}
	}
	panic("pipeline: no row " + name) // a slip of the program
}

// addShare records hits of n with the 95 % interval of Wilson (1927).
func (r *runner) addShare(name string, hits, n int) {
	value, low, high := wilson(hits, n)
	r.addRange(name, value, low, high)
}

func wilson(hits, n int) (value, low, high float64) {
	if n == 0 {
		return 0, 0, 1
	}
	const z = 1.96
	p, m := float64(hits)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return p, max(0, mid-half), min(1, mid+half)
}
