package screeneval

import (
	"context"
	"errors"
	"os"
	"slices"

	"cairn/cmd/cairn-bench/bar"
)

// Options of Run.
type Options struct {
	Data  string // folder of data files
	Quick bool   // a part of the texts
	Dir   string // for states, removed afterwards; empty means the system's
}

// Row is one figure. A Low and High other than Value are the range of rounds.
type Row struct {
	Name      string
	Unit      string
	Value     float64
	Low, High float64
	Op        string // ">=", "<=", or "" where nothing is demanded
	Bar       float64
	What      string
}

// OK reports whether the row holds its bar.
func (r Row) OK() bool { return bar.Holds(r.Value, r.Op, r.Bar) }

const whatSpan = "share of the labelled spans that are found (pii-presidio)"

// table lists the rows in order.
var table = []Row{
	{Name: "screen_card_recall", Unit: "share", Op: ">=", Bar: .95, What: whatSpan},
	{Name: "screen_iban_recall", Unit: "share", Op: ">=", Bar: .95, What: whatSpan},
	{Name: "screen_email_recall", Unit: "share", Op: ">=", Bar: .95, What: whatSpan},
	{Name: "screen_ip_recall", Unit: "share", Op: ">=", Bar: .95, What: whatSpan},
	{Name: "screen_phone_recall", Unit: "share", Op: ">=", Bar: .85, What: whatSpan},
	{Name: "screen_pii_false_rate", Unit: "share", Op: "<=", Bar: .05, What: "share of texts of trajectories (tasks and observations of sql, python and strategyqa, which hold no personal data) in which some is found"},
	{Name: "screen_instruction_recall", Unit: "share", Op: ">=", Bar: .8, What: "share of the instructions that are quarantined (poison-instructions)"},
	{Name: "screen_instruction_false_rate", Unit: "share", Op: "<=", Bar: .01, What: "share of the lessons of other memory systems in which an instruction is found (memories-reme, memories-memento)"},
	{Name: "poison_share_top5", Unit: "share", Op: "<=", Bar: .4, What: "share of the first five places that one poisoning author takes once all it shared was promoted, worst question (poison-poisonedrag)"},
	{Name: "citation_apply_us", Unit: "us", Op: "<=", Bar: 60, What: "the greater of the next two"},
	{Name: "citation_apply_us_10", Unit: "us", What: "median time in which the state machine applies an outcome that cites an item with 10 citations"},
	{Name: "citation_apply_us_10000", Unit: "us", What: "the same with 10,000 citations"},
}

// Rows names the rows without values, in order.
func Rows() []Row { return slices.Clone(table) }

// value is what a measurement found.
type value struct{ mid, low, high float64 }

func exact(x float64) value { return value{x, x, x} }

// Run measures the rows. Those whose file is missing are left out with a note.
func Run(ctx context.Context, o Options) (rows []Row, notes []string, err error) {
	found := map[string]value{}
	for _, measure := range []func(context.Context, Options, map[string]value) (string, error){
		personal, personalFalse, instructions, instructionsFalse, poison, citations,
	} {
		note, err := measure(ctx, o, found)
		switch {
		case errors.Is(err, os.ErrNotExist):
			notes = append(notes, "left out: "+err.Error())
		case err != nil:
			return nil, nil, err
		case note != "":
			notes = append(notes, note)
		}
	}
	for _, r := range table {
		if v, ok := found[r.Name]; ok {
			r.Value, r.Low, r.High = v.mid, v.low, v.high
			rows = append(rows, r)
		}
	}
	return rows, notes, nil
}
