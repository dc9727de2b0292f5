package main

import (
	"io"

	"cairn/cmd/cairn/lineage"
)

type provenanceCmd struct {
	ID   string `arg:"" help:"Id of the experience."`
	Dot  bool   `help:"Print Graphviz DOT." xor:"form"`
	Prov bool   `help:"Print W3C PROV-JSON." xor:"form"`
}

// Run prints the lineage as a tree from the experience back to its sources.
func (c provenanceCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	if c.Prov {
		doc, err := cl.ProvenanceJSON(a.ctx, c.ID)
		if err != nil {
			return err
		}
		return a.printJSON(doc)
	}
	g, err := cl.Provenance(a.ctx, c.ID)
	if err != nil {
		return err
	}
	if c.Dot {
		_, err := io.WriteString(a.stdout, lineage.Dot(g))
		return err
	}
	return a.show(g, func(w io.Writer) { _, _ = io.WriteString(w, lineage.Tree(g, c.ID)) })
}
