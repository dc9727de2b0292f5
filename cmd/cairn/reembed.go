package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"cairn/node/api"
)

type reembedCmd struct {
	DryRun bool `help:"Only count what has vectors of another encoder, or none."`
	Detach bool `help:"Queue the work and do not wait for it."`
}

// The pause between two looks at how far the work is: a look reads every vector, so on a large site it takes long and is
// taken more rarely.
const (
	reembedPoll  = 300 * time.Millisecond
	reembedShare = 20 // a look may take this part of the time
)

// Run queues what has no vectors of the encoder in use, and shows how far the nodes are. Ended early, the work goes on.
func (c reembedCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.Reembed(a.ctx, c.DryRun)
	if err != nil {
		return err
	}
	out := done.Value
	if c.DryRun || c.Detach || out.Queued == 0 {
		return a.show(out, func(w io.Writer) { printReembedding(w, out) })
	}
	queued := out.Queued
	bar := a.progress(queued, "embed")
	pause := time.NewTimer(reembedPoll)
	defer pause.Stop()
	for out.Stale > out.Failed {
		select {
		case <-pause.C:
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
		start := time.Now()
		done, err := cl.Reembed(a.ctx, true)
		if err != nil {
			return err
		}
		pause.Reset(max(reembedPoll, reembedShare*time.Since(start)))
		out = done.Value
		_ = bar.Set(max(0, queued-out.Stale))
	}
	_ = bar.Finish()
	out.Queued = queued
	if err := a.show(out, func(w io.Writer) { printReembedding(w, out) }); err != nil {
		return err
	}
	if out.Failed > 0 {
		return fmt.Errorf("%d experiences could not be embedded; see the jobs with status dead", out.Failed)
	}
	return nil
}

func printReembedding(w io.Writer, r api.Reembedding) {
	fmt.Fprintf(w, "encoder\t%s\n", strings.Join(r.Embedders, ", "))
	fmt.Fprintf(w, "experiences\t%d, of which %d without its vectors\n", r.Experiences, r.Stale)
	fmt.Fprintf(w, "queued\t%d now, %d waiting, %d failed\n", r.Queued, r.Waiting, r.Failed)
}
