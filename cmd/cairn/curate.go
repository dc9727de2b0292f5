package main

import (
	"fmt"
	"io"
	"strings"

	"cairn/node/api"
)

// curation is what hold, release and revoke are asked with.
type curation struct {
	ID     string `arg:"" help:"Id of the experience."`
	Reason string `help:"Why; kept with the decision and shown to those it concerns."`
	Yes    bool   `help:"Do it. Without it the command lists what would change and changes nothing."`
}

type holdCmd struct{ curation }

// Run stops an experience until it is released.
func (c holdCmd) Run(a *app) error { return c.run(a, "hold") }

type releaseCmd struct{ curation }

// Run ends a hold.
func (c releaseCmd) Run(a *app) error { return c.run(a, "release") }

type revokeCmd struct{ curation }

// Run calls an experience back for good.
func (c revokeCmd) Run(a *app) error { return c.run(a, "revoke") }

func (c curation) run(a *app, action string) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.Curate(a.ctx, c.ID, action, api.CurateRequest{Reason: c.Reason, DryRun: !c.Yes})
	if err != nil {
		return err
	}
	if err := a.show(done.Value, func(w io.Writer) { printCurated(w, action, done.Value) }); err != nil {
		return err
	}
	if !c.Yes {
		fmt.Fprintf(a.stderr, "Nothing was changed. `cairn %s %s --yes` does it.\n", action, c.ID)
	}
	return nil
}

// past names what was done.
var past = map[string]string{"hold": "held", "release": "released", "revoke": "revoked"}

func printCurated(w io.Writer, action string, c api.Curated) {
	did := past[action]
	if c.DryRun {
		did = "would be " + did
	}
	fmt.Fprintf(w, "%s\t%s, with %d derived\n", did, c.Experience, len(c.Closes))
	for _, id := range c.Closes {
		fmt.Fprintf(w, "\t%s\n", id)
	}
	fmt.Fprintf(w, "status\t%s\n", c.Status)
	fmt.Fprintf(w, "was given to\t%s\n", orNone(c.Notifies))
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
