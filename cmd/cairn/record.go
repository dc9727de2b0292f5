package main

import (
	"fmt"
	"io"
	"time"

	"cairn/node/api"
)

type recordCmd struct {
	Experience recordExperienceCmd `cmd:"" help:"Record a lesson directly, by flags or as JSON."`
	Trajectory recordTrajectoryCmd `cmd:"" help:"Record attempts at a task, as JSON."`
}

type recordExperienceCmd struct {
	File         string            `arg:"" optional:"" help:"JSON of POST /v1/experiences; - is standard input. Flags override its fields."`
	Scenario     string            `help:"When the lesson applies."`
	Content      string            `help:"The lesson."`
	Keyword      []string          `help:"Keyword (repeatable)."`
	Tool         []string          `help:"Tool that it needs (repeatable)."`
	TaskType     string            `help:"Task type."`
	Precondition map[string]string `help:"Precondition, as key=value (repeatable)." placeholder:"KEY=VALUE"`
	ValidUntil   string            `help:"End of validity, RFC 3339."`
	Share        string            `help:"auto, candidate or never."`
}

// Run records the experience.
func (c recordExperienceCmd) Run(a *app) error {
	var req api.AddExperience
	if c.File != "" {
		if err := a.decodeFrom(c.File, &req); err != nil {
			return err
		}
	}
	c.override(&req)
	if req.Scenario == "" || req.Content == "" {
		return usage("record experience needs --scenario and --content, or a file that has both")
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.AddExperience(a.ctx, req)
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) { printRecorded(w, done.Value) })
}

func (c recordExperienceCmd) override(req *api.AddExperience) {
	setText(&req.Scenario, c.Scenario)
	setText(&req.Content, c.Content)
	setText(&req.TaskType, c.TaskType)
	setText(&req.ValidUntil, c.ValidUntil)
	setText(&req.Share, c.Share)
	if len(c.Keyword) > 0 {
		req.Keywords = c.Keyword
	}
	if len(c.Tool) > 0 {
		req.Tools = c.Tool
	}
	if len(c.Precondition) > 0 {
		req.Preconditions = c.Precondition
	}
}

func setText(field *string, value string) {
	if value != "" {
		*field = value
	}
}

func printRecorded(w io.Writer, e api.Experience) {
	if e.MergedInto != "" {
		fmt.Fprintf(w, "already known\t%s\n", e.MergedInto)
		return
	}
	fmt.Fprintf(w, "experience\t%s\nstatus\t%s\nindex\t%d\n", e.ID, e.Status, e.Index)
}

type recordTrajectoryCmd struct {
	File     string        `arg:"" default:"-" help:"JSON of POST /v1/trajectories; - is standard input."`
	TaskType string        `help:"Task type, instead of the file's."`
	GroupKey string        `help:"Group key, instead of the file's."`
	Share    string        `help:"auto, candidate or never, instead of the file's."`
	Complete bool          `help:"The group is complete: distil it now."`
	Wait     time.Duration `help:"Wait for what was distilled, at most 60s." placeholder:"10s"`
}

// Run records the attempts.
func (c recordTrajectoryCmd) Run(a *app) error {
	var req api.RecordTrajectory
	if err := a.decodeFrom(c.File, &req); err != nil {
		return err
	}
	setText(&req.TaskType, c.TaskType)
	setText(&req.GroupKey, c.GroupKey)
	setText(&req.Share, c.Share)
	req.Complete = req.Complete || c.Complete
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.RecordTrajectory(a.ctx, req, c.Wait)
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) { printTrajectory(w, done.Value) })
}

func printTrajectory(w io.Writer, t api.RecordedTrajectory) {
	fmt.Fprintf(w, "trajectory\t%s\nrecorded\t%d attempts, %d already known\n", t.ID, t.Recorded, t.Known)
	for _, f := range t.Warnings {
		fmt.Fprintf(w, "warning\t%s: %s\n", f.Location, f.Message)
	}
	for _, g := range t.Gate {
		fmt.Fprintf(w, "attempt %d\t%s\t%s\n", g.Attempt, g.Route, g.Reason)
	}
	for _, e := range t.Experiences {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.ID, e.Kind, oneLine(e.Content, 100))
	}
	for _, d := range t.Discarded {
		fmt.Fprintf(w, "discarded\t%s\t%s\n", d.Reason, oneLine(d.Detail, 100))
	}
}
