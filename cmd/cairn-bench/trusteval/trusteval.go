package trusteval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"cairn/cmd/cairn-bench/bar"
)

// The seeds of a cell.
const (
	quickSeeds = 6
	fullSeeds  = 20
)

const gcPercent = 400

// Options of Run.
type Options struct {
	Seed    uint64 // of the first run of each cell; the others follow it
	Seeds   int    // runs a cell; 0 means 6 in a quick run, else 20
	Quick   bool
	Workers int      // runs at a time; 0 means 2
	Only    []string // cells to run; empty means all
}

// Row is one figure: the mean over seeds with its standard error, and the least and greatest value of a seed.
type Row struct {
	Name      string
	Value     float64
	Error     float64 // standard error of Value
	Low, High float64
	Reference *float64
	Op        string // ">=", "<=", or "" where nothing is demanded
	Bar       float64
	What      string
}

// OK reports whether the row holds its bar.
func (r Row) OK() bool { return bar.Holds(r.Value, r.Op, r.Bar) }

// Rows names the rows without values, in order.
func Rows() []Row {
	out := make([]Row, len(table))
	for i, s := range table {
		out[i] = s.row()
	}
	return out
}

func (s spec) row() Row {
	r := Row{Name: s.name, Op: s.op, Bar: s.bar, What: s.what}
	if !math.IsNaN(s.reference) {
		r.Reference = &s.reference
	}
	return r
}

// Run simulates every cell from every seed and returns the rows with notes. Rows without a value, where no run had anything
// to count, are left out with a note.
func Run(ctx context.Context, o Options) ([]Row, []string, error) {
	if o.Seeds <= 0 {
		if o.Seeds = fullSeeds; o.Quick {
			o.Seeds = quickSeeds
		}
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	runs, err := simulateAll(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	var rows []Row
	notes := []string{
		fmt.Sprintf("mean of %d seeds a cell; the range is that of single seeds", o.Seeds),
		"references are those of a prototype in a world of its own; bars were set by it",
	}
	for _, s := range table {
		values := s.values(runs)
		if len(values) == 0 {
			notes = append(notes, s.name+" left out: nothing to count")
			continue
		}
		r := s.row()
		r.Value, r.Error = meanError(values)
		r.Low, r.High = slices.Min(values), slices.Max(values)
		rows = append(rows, r)
		notes = append(notes, fmt.Sprintf("%s: standard error %.3f", r.Name, r.Error))
	}
	return rows, notes, nil
}

// values are the row's value in each run, without runs that have nothing to count.
func (s spec) values(runs map[string][]figures) []float64 {
	var out []float64
	for i, f := range runs[s.cell] {
		v := s.value(f)
		if s.less != "" {
			if len(runs[s.less]) == 0 {
				return nil
			}
			v -= s.value(runs[s.less][i])
		}
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

func meanError(values []float64) (mean, stderr float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sum / (n - 1) / n)
}

// simulateAll runs the cells, some runs at a time, and stops at the first error.
func simulateAll(ctx context.Context, o Options) (map[string][]figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A state of some 100 MB of small records is expensive to trace, and there is memory for a few of them.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	runs := map[string][]figures{}
	slots := make(chan struct{}, o.Workers)
	var wg sync.WaitGroup
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		if len(o.Only) > 0 && !slices.Contains(o.Only, cell) {
			continue
		}
		list := make([]figures, o.Seeds)
		runs[cell] = list
		for i := range list {
			slots <- struct{}{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer func() { <-slots }()
				if ctx.Err() != nil {
					return
				}
				f, err := simulate(ctx, cells[cell], o.Seed+uint64(i))
				if err != nil {
					cancel(fmt.Errorf("cell %s, seed %d: %w", cell, o.Seed+uint64(i), err))
				}
				list[i] = f
			}()
		}
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	return runs, ctx.Err()
}
