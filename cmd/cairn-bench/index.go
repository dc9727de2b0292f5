package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cairn/cmd/cairn-bench/indexbench"
)

type indexCmd struct {
	Peers string `help:"Folder that peers/index.sh has filled; by default where it does by itself." env:"CAIRN_PEERS" placeholder:"DIR"`
	Rows  string `help:"Measure only the rows whose name contains TEXT, or one of several with commas between." placeholder:"TEXT"`
}

// indexRows are the rows of `cairn-bench index`.
var indexRows = func() []rowSpec {
	var out []rowSpec
	for _, x := range indexbench.Rows() {
		s := announced(x.Name, x.Op, x.Bar, x.What)
		s.Unit = x.Unit
		out = append(out, s)
	}
	return out
}()

// Run measures the index beside other libraries.
func (c indexCmd) Run(a *app) error {
	if c.Peers == "" {
		c.Peers = filepath.Join(os.TempDir(), "cairn-peers")
	}
	r := newReport("index", a.options, indexRows)
	options := indexbench.Options{
		Peers: c.Peers, Rows: c.Rows, Quick: a.options.Quick, Seed: a.options.Seed,
		Progress: func(text string) { fmt.Fprintln(a.stderr, "cairn-bench: index:", text) },
	}
	rows, notes, err := indexbench.Run(a.ctx, options)
	if err != nil {
		return err
	}
	var errs, open []error
	for _, x := range rows {
		switch {
		case x.NotRun == "":
			errs = append(errs, r.addInterval(x.Name, x.Value, x.Low, x.High))
		case options.Wanted(x.Name):
			r.note("%s: not run: %s", x.Name, x.NotRun)
			if !x.OK() && !a.options.Quick {
				open = append(open, fmt.Errorf("%s was not run and its bar stays open", x.Name))
			}
		}
	}
	return errors.Join(r.finishNoted(a, notes, errors.Join(errs...)), errors.Join(open...))
}
