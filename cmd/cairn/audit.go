package main

import (
	"fmt"
	"io"
	"strings"

	"cairn/node/api"
)

type auditCmd struct {
	Sample auditSampleCmd `cmd:"" help:"Draw items of the meta-pool to judge, and show what the verdicts say."`
	Judge  auditJudgeCmd  `cmd:"" help:"Give a verdict on a drawn item."`
}

type auditSampleCmd struct {
	N int `short:"n" default:"20" help:"Items to draw that nobody has judged, 0..500."`
}

// Run draws and lists.
func (c auditSampleCmd) Run(a *app) error {
	if c.N < 0 || c.N > 500 {
		return usage("-n must be 0..500, not %d", c.N)
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	s, err := cl.AuditSamples(a.ctx, c.N)
	if err != nil {
		return err
	}
	return a.show(s, func(w io.Writer) { printSamples(w, s) })
}

func printSamples(w io.Writer, s api.Samples) {
	for _, it := range s.Items {
		verdict := "not judged"
		if it.Verdict != "" {
			verdict = it.Verdict + " (" + it.By + ")"
		}
		e := it.Experience
		fmt.Fprintf(w, "%s  %s  by %s of %s%s\n   %s\n   %s\n", it.ID, verdict, e.Author.Agent, e.Author.Principal, trustOf(e), oneLine(e.Scenario, 160), oneLine(e.Content, 400))
	}
	if len(s.Items) == 0 {
		fmt.Fprintln(w, "the meta-pool has nothing to draw")
	}
	if s.Judged > 0 {
		fmt.Fprintf(w, "\n%d judged, share of bad ones %.2f [%.2f, %.2f] (95 %% Wilson interval)\n", s.Judged, s.Bad, s.Low, s.High)
	}
}

type auditJudgeCmd struct {
	ID      string `arg:"" help:"Id of the item, as listed by audit sample."`
	Verdict string `arg:"" enum:"good,bad,unsure" help:"good, bad or unsure."`
}

// Run keeps the verdict.
func (c auditJudgeCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.JudgeSample(a.ctx, c.ID, api.SampleVerdict{Verdict: c.Verdict})
	if err != nil {
		return err
	}
	s := done.Value
	return a.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s\t%s by %s\n", s.ID, s.Verdict, s.By) })
}

type alertsCmd struct{}

// Run lists signs of collusion or ill health.
func (alertsCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	list, err := cl.Alerts(a.ctx)
	if err != nil {
		return err
	}
	return a.show(list, func(w io.Writer) { printAlerts(w, list.Items) })
}

func printAlerts(w io.Writer, alerts []api.Alert) {
	if len(alerts) == 0 {
		fmt.Fprintln(w, "no alerts")
	}
	for _, al := range alerts {
		fmt.Fprintf(w, "%s  %s  %s (%.2f, limit %.2f)\n", al.Severity, strings.ReplaceAll(al.Kind, "_", " "), al.Detail, al.Value, al.Limit)
		if al.RaisedAt != "" {
			fmt.Fprintf(w, "   since %s\n", al.RaisedAt)
		}
		if len(al.Experiences) > 0 {
			fmt.Fprintf(w, "   see %s\n", strings.Join(al.Experiences, " "))
		}
	}
}
