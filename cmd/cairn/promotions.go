package main

import (
	"fmt"
	"io"
	"strings"

	"cairn/node/api"
)

type promotionsCmd struct {
	List    promotionsListCmd    `cmd:"" help:"List decisions about the meta-pool."`
	Approve promotionsApproveCmd `cmd:"" help:"Let a waiting promotion happen."`
	Reject  promotionsRejectCmd  `cmd:"" help:"Refuse a waiting promotion."`
}

type promotionsListCmd struct {
	Status string `help:"pending, approved, rejected or automatic."`
	Limit  int    `help:"Items a page, 1..500."`
	Cursor string `help:"Where the page starts: next_cursor of the one before."`
}

// Run lists one page of decisions.
func (c promotionsListCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	list, err := cl.Promotions(a.ctx, c.Status, api.Page{Limit: c.Limit, Cursor: c.Cursor})
	if err != nil {
		return err
	}
	return a.show(list, func(w io.Writer) {
		fmt.Fprintln(w, "DECISION\tACTION\tSTATUS\tEXPERIENCE\tAUTHOR\tAT\tREASONS")
		for _, p := range list.Items {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.Action, p.Status, p.Experience, p.Author.Agent, p.At, oneLine(strings.Join(p.Reasons, "; "), 80))
		}
		nextPage(w, list.NextCursor)
	})
}

// decision is the answer to a promotion that waits.
type decision struct {
	ID     string `arg:"" help:"Id of the decision, as listed by promotions list."`
	Reason string `help:"Why; kept with the decision."`
}

type promotionsApproveCmd struct{ decision }

// Run lets the promotion happen.
func (c promotionsApproveCmd) Run(a *app) error { return c.run(a, true) }

type promotionsRejectCmd struct{ decision }

// Run refuses the promotion.
func (c promotionsRejectCmd) Run(a *app) error { return c.run(a, false) }

func (c decision) run(a *app, approve bool) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.DecidePromotion(a.ctx, c.ID, approve, api.DecideRequest{Reason: c.Reason})
	if err != nil {
		return err
	}
	p := done.Value
	return a.show(p, func(w io.Writer) {
		fmt.Fprintf(w, "decision\t%s %s\nexperience\t%s version %d by %s\n", p.ID, p.Status, p.Experience, p.Version, p.Author.Agent)
	})
}
