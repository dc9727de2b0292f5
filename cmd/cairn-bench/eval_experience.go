package main

import (
	"errors"

	"cairn/cmd/cairn-bench/pipeline"
)

type experienceCmd struct{}

// experienceRows are the rows of `cairn-bench eval experience`.
var experienceRows = func() []rowSpec {
	var out []rowSpec
	for _, s := range pipeline.Specs {
		out = append(out, rowSpec{Name: s.Name, Unit: s.Unit, Bar: &s.Bar, Op: &s.Op, What: s.What})
	}
	return out
}()

// Run measures the way from attempts to recalled experiences.
func (experienceCmd) Run(a *app) error {
	r := newReport("eval experience", a.options, experienceRows)
	rows, notes, err := pipeline.Run(a.ctx, pipeline.Options{Data: a.options.Data, Quick: a.options.Quick, Seed: a.options.Seed})
	if err != nil {
		return err
	}
	var errs []error
	for _, x := range rows {
		errs = append(errs, r.addInterval(x.Name, x.Value, x.Low, x.High))
		if x.LowBar != nil {
			r.Rows[len(r.Rows)-1].OK = x.OK()
			r.note("%s: the low end of its interval has to be above %g too", x.Name, *x.LowBar)
		}
	}
	r.note("low and high are 95 %% intervals (Wilson; advice_lift: tasks drawn again) where a row is an estimate, else the value")
	for _, n := range notes {
		r.note("%s", n)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.finish(a)
}
