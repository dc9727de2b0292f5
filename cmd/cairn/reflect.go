package main

import (
	"fmt"
	"io"

	"cairn/node/api"
)

type reflectCmd struct {
	Receipt string `arg:"" help:"Receipt of the recall after which it failed."`
	File    string `arg:"" default:"-" help:"JSON of POST /v1/trajectories with the failure as its last attempt; - is standard input."`
}

// Run compares the failure with a past success.
func (c reflectCmd) Run(a *app) error {
	req := api.ReflectRequest{Receipt: c.Receipt}
	if err := a.decodeFrom(c.File, &req.Trajectory); err != nil {
		return err
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.Reflect(a.ctx, req)
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) { printAdvice(w, done.Value) })
}

type retriedCmd struct {
	ID      string `arg:"" help:"Id of the reflection."`
	File    string `arg:"" optional:"" help:"JSON of POST /v1/trajectories with the retry as its last attempt; - is standard input."`
	Success bool   `help:"The retry succeeded." xor:"result" required:""`
	Failure bool   `help:"The retry failed." xor:"result" required:""`
}

// Run reports how the retry ended.
func (c retriedCmd) Run(a *app) error {
	req := api.RetryRequest{Success: c.Success}
	if c.File != "" {
		req.Trajectory = new(api.RecordTrajectory)
		if err := a.decodeFrom(c.File, req.Trajectory); err != nil {
			return err
		}
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.RetryOutcome(a.ctx, c.ID, req)
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) { printAdvice(w, done.Value) })
}

func printAdvice(w io.Writer, r api.RetryAdvice) {
	fmt.Fprintf(w, "reflection\t%s\nstatus\t%s\n", r.ID, r.Status)
	for _, f := range r.Warnings {
		fmt.Fprintf(w, "warning\t%s: %s\n", f.Location, f.Message)
	}
	if r.Status != "open" {
		return
	}
	fmt.Fprintf(w, "retry\t%d, %d left after it\n", r.Attempt, r.RetriesLeft)
	if r.Hypothesis == "" {
		fmt.Fprintf(w, "hypothesis\tnone: nothing is known to compare with\n")
		return
	}
	fmt.Fprintf(w, "hypothesis\t%s\n", oneLine(r.Hypothesis, 2000))
	for _, id := range r.BasedOn {
		fmt.Fprintf(w, "based on\t%s\n", id)
	}
}
