package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"cairn/cmd/cairn-bench/bar"
)

// report is what a command prints.
type report struct {
	Command string   `json:"command"`
	Commit  string   `json:"commit"`
	Machine machine  `json:"machine"`
	Seed    uint64   `json:"seed"`
	Seconds float64  `json:"seconds"`
	Quick   bool     `json:"quick"`
	Rows    []row    `json:"rows"`
	Notes   []string `json:"notes"`

	start time.Time
	specs []rowSpec
}

// row is one figure. Low and high are the range over the rounds of the run, or an interval that a note names. Bar and op are null where nothing is
// demanded; ok is then true.
type row struct {
	Name      string   `json:"name"`
	Value     float64  `json:"value"`
	Unit      string   `json:"unit"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	Reference *float64 `json:"reference"`
	Bar       *float64 `json:"bar"`
	Op        *string  `json:"op"`
	OK        bool     `json:"ok"`
}

// rowSpec announces a row.
type rowSpec struct {
	Name string   `json:"name"`
	Unit string   `json:"unit"`
	Bar  *float64 `json:"bar"`
	Op   *string  `json:"op"`
	What string   `json:"what"`
}

// atMost is a row whose value must not exceed a bar.
func atMost(name, unit string, bar float64, what string) rowSpec {
	return rowSpec{Name: name, Unit: unit, Bar: &bar, Op: new("<="), What: what}
}

// figure is a row without a bar.
func figure(name, unit, what string) rowSpec { return rowSpec{Name: name, Unit: unit, What: what} }

func newReport(command string, o *options, specs []rowSpec) *report {
	return &report{
		Command: command, Commit: commit(), Machine: thisMachine(), Seed: o.Seed, Quick: o.Quick,
		Rows: []row{}, Notes: []string{}, start: time.Now(), specs: specs,
	}
}

// add puts a row into the report: the median of the rounds' values with their range. The name must be announced.
func (r *report) add(name string, rounds []float64) error {
	low, mid, high := spread(rounds)
	return r.addInterval(name, mid, low, high)
}

// addInterval puts a row with an interval of its own into the report; a note should say what the interval is.
func (r *report) addInterval(name string, value, low, high float64) error {
	for _, s := range r.specs {
		if s.Name == name {
			r.Rows = append(r.Rows, row{Name: name, Value: value, Unit: s.Unit, Low: low, High: high, Bar: s.Bar, Op: s.Op, OK: s.holds(value)})
			return nil
		}
	}
	return fmt.Errorf("row %s is not announced", name)
}

func (s rowSpec) holds(v float64) bool { return s.Bar == nil || bar.Holds(v, *s.Op, *s.Bar) }

func (r *report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// finish prints the report and says whether all bars hold.
func (r *report) finish(a *app) error {
	r.Seconds = float64(time.Since(r.start).Milliseconds()) / 1000
	if err := r.print(a); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if !row.OK {
			return fmt.Errorf("%w: %s is %g", errBar, row.Name, row.Value)
		}
	}
	return nil
}

func (r *report) print(a *app) error {
	if a.options.JSON {
		return printJSON(a.stdout, r)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%s, commit %s, %s, %d cores, seed %d, %.1f s\n\n", r.Command, r.Commit, r.Machine.CPU, r.Machine.Cores, r.Seed, r.Seconds)
	fmt.Fprintln(w, "row\tmedian\trange\tunit\tbar\tok")
	for _, x := range r.Rows {
		bar, ok := "", ""
		if x.Bar != nil {
			bar, ok = fmt.Sprintf("%s %g", *x.Op, *x.Bar), map[bool]string{true: "yes", false: "NO"}[x.OK]
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g to %.4g\t%s\t%s\t%s\n", x.Name, x.Value, x.Low, x.High, x.Unit, bar, ok)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	return w.Flush()
}

type listCmd struct{}

// listed is a command as `list` names it.
type listed struct {
	Command string    `json:"command"`
	What    string    `json:"what"`
	Rows    []rowSpec `json:"rows"`
}

// benches are all commands that measure.
var benches = []listed{
	{"api", "REST calls of one client on a one-node site on loopback, and an import", apiRows},
	{"cluster", "a site of three processes on loopback against etcd, the log store and snapshots against the usual ones of raft", clusterRows},
	{"index", "searches, filters, building, memory, encoders and keywords beside other libraries, one thread, equal recall", indexRows},
	{"eval retrieval", "quality of search on labelled data", retrievalRows},
	{"eval experience", "the way from recorded attempts to recalled experiences, by rules", experienceRows},
	{"eval screen", "what the screener finds, how far poisoned texts get, and what a citation costs", screenRows},
	{"eval trust", "the trust rule in simulated fleets of 2 to 24 principals over 84 days, with and without attackers", trustRows},
	{"eval replay", "gain of shared memory on recorded attempts, with the reader's ledger and with liars", replayRows},
}

// Run prints the commands with their rows.
func (listCmd) Run(a *app) error {
	if a.options.JSON {
		return printJSON(a.stdout, map[string]any{"commands": benches})
	}
	return printList(a.stdout)
}

func printList(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, b := range benches {
		fmt.Fprintf(w, "%s: %s\n", b.Command, b.What)
		for _, r := range b.Rows {
			bar := ""
			if r.Bar != nil {
				bar = fmt.Sprintf("%s %g", *r.Op, *r.Bar)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", r.Name, r.Unit, bar, r.What)
		}
	}
	return w.Flush()
}
