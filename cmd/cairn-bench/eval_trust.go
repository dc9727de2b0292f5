package main

import (
	"errors"

	"cairn/cmd/cairn-bench/replay"
	"cairn/cmd/cairn-bench/trusteval"
)

type trustCmd struct{}

type replayCmd struct {
	Offline bool `required:"" help:"Run the state machine in this process, and let the whole visible pool count."`
}

// trustRows are the rows of `cairn-bench eval trust`, replayRows those of `cairn-bench eval replay`.
var (
	trustRows = func() []rowSpec {
		var out []rowSpec
		for _, x := range trusteval.Rows() {
			out = append(out, announced(x.Name, x.Op, x.Bar, x.What))
		}
		return out
	}()
	replayRows = func() []rowSpec {
		var out []rowSpec
		for _, x := range replay.Rows() {
			out = append(out, announced(x.Name, x.Op, x.Bar, x.What))
		}
		return out
	}()
)

// announced is a share; op is empty where nothing is demanded.
func announced(name, op string, bar float64, what string) rowSpec {
	s := figure(name, "share", what)
	if op != "" {
		s.Bar, s.Op = &bar, &op
	}
	return s
}

// Run simulates fleets on the state machine.
func (trustCmd) Run(a *app) error {
	r := newReport("eval trust", a.options, trustRows)
	rows, notes, err := trusteval.Run(a.ctx, trusteval.Options{Seed: a.options.Seed, Quick: a.options.Quick})
	if err != nil {
		return err
	}
	var errs []error
	for _, x := range rows {
		errs = append(errs, r.addCompared(x.Name, x.Value, x.Low, x.High, x.Reference, x.OK()))
	}
	return r.finishNoted(a, notes, errors.Join(errs...))
}

// Run replays recorded attempts on the state machine.
func (c replayCmd) Run(a *app) error {
	r := newReport("eval replay", a.options, replayRows)
	rows, notes, err := replay.Run(a.ctx, replay.Options{Data: a.options.Data, Seed: a.options.Seed, Quick: a.options.Quick})
	if err != nil {
		return err
	}
	var errs []error
	for _, x := range rows {
		errs = append(errs, r.addCompared(x.Name, x.Value, x.Low, x.High, x.Reference, x.OK()))
	}
	return r.finishNoted(a, notes, errors.Join(errs...))
}

// addCompared adds a row with an interval of its own and, if there is one, what it is compared with.
func (r *report) addCompared(name string, value, low, high float64, reference *float64, ok bool) error {
	if err := r.addInterval(name, value, low, high); err != nil {
		return err
	}
	last := &r.Rows[len(r.Rows)-1]
	last.Reference, last.OK = reference, ok
	return nil
}

func (r *report) finishNoted(a *app, notes []string, err error) error {
	if err != nil {
		return err
	}
	for _, n := range notes {
		r.note("%s", n)
	}
	return r.finish(a)
}
