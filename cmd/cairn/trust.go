package main

import (
	"fmt"
	"io"

	"cairn/node/api"
	"cairn/web/client"
)

type trustCmd struct {
	ID     string `arg:"" optional:"" help:"Id of the experience."`
	Reader string `help:"Instead of an experience, show what the outcomes of this principal say about authors; 'me' is the caller's." placeholder:"PRINCIPAL"`
	Limit  int    `default:"50" help:"Most authors of a ledger to list, 1 to 500."`
	Cursor string `help:"Where the page of a ledger starts: next_cursor of the one before."`
}

// Run prints the terms of the score and what is missing for promotion, or a reader's ledger.
func (c trustCmd) Run(a *app) error {
	if (c.ID == "") == (c.Reader == "") {
		return usage("trust needs the id of an experience or --reader")
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	if c.Reader != "" {
		return c.ledger(a, cl)
	}
	t, err := cl.Trust(a.ctx, c.ID)
	if err != nil {
		return err
	}
	return a.show(t, func(w io.Writer) { printTrust(w, t) })
}

func printTrust(w io.Writer, t api.TrustDetail) {
	fmt.Fprintf(w, "experience\t%s version %d, %s\n", t.Experience, t.Version, t.Status)
	fmt.Fprintf(w, "trust\t%.3f\t= mean %.3f - half width %.3f (rule %s)\n", t.Trust.Value, t.Trust.Mean, t.Half, t.Rule)
	fmt.Fprintf(w, "interval\t%.3f to %.3f\tpromote from %.2f, demote below %.2f\n", t.Trust.Low, t.Trust.High, t.Threshold, t.DemoteAt)
	fmt.Fprintf(w, "jury\t%d of %d heard\tneeds %d\n", t.Heard, t.Jury, t.Quorum)
	fmt.Fprintf(w, "citations\t%d\tmass %.2f\n", t.Citations, t.Trust.Evidence)
	fmt.Fprintf(w, "verdict\t%s\n", t.Verdict)
	for _, m := range t.Missing {
		fmt.Fprintf(w, "missing\t%s\n", m)
	}
	if o := t.Own; o != nil {
		fmt.Fprintf(w, "own record\tcredit %.2f of %.2f, mean lift %.3f\n", o.Credit, o.Needed, o.MeanLift)
	}
	if len(t.Jurors) > 0 {
		fmt.Fprintln(w, "\nJUROR\tWEIGHT\tLIFT\tLENIENCY\tCOUNTED\tHEARD")
	}
	for _, j := range t.Jurors {
		fmt.Fprintf(w, "%s\t%.2f\t%.3f\t%+.3f\t%.2f\t%s\n", j.Juror, j.Weight, j.Lift, j.Leniency, j.Cap, heard(j))
	}
}

func heard(j api.JurorTerm) string {
	switch {
	case j.Struck:
		return "struck"
	case j.Heard:
		return "yes"
	}
	return "no"
}

func (c trustCmd) ledger(a *app, cl *client.Client) error {
	reader := c.Reader
	if reader == "me" {
		me, err := cl.Me(a.ctx)
		if err != nil {
			return err
		}
		reader = me.Principal
	}
	list, err := cl.Ledger(a.ctx, reader, api.Page{Limit: c.Limit, Cursor: c.Cursor})
	if err != nil {
		return err
	}
	return a.show(list, func(w io.Writer) {
		fmt.Fprintln(w, "AUTHOR\tAGREED\tCONTRADICTED\tPROOF")
		for _, e := range list.Items {
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", e.Author, e.Agreed, e.Contradicted, e.Proof)
		}
		nextPage(w, list.NextCursor)
	})
}
