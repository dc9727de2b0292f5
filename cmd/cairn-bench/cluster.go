package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"cairn/cmd/cairn-bench/clusterbench"
)

type clusterCmd struct {
	Peers string `help:"Folder that peers/cluster.sh has filled." placeholder:"DIR"`
	Rows  string `help:"Measure only the rows whose name contains TEXT." placeholder:"TEXT"`
}

// clusterRows are the rows of `cairn-bench cluster`.
var clusterRows = func() []rowSpec {
	var out []rowSpec
	for _, x := range clusterbench.Rows() {
		s := announced(x.Name, x.Op, x.Bar, x.What)
		s.Unit = x.Unit
		out = append(out, s)
	}
	return out
}()

// Run measures a site of three against etcd, and the log store and snapshots against the usual ones of raft. The temporary
// folder has to be on disk.
func (c clusterCmd) Run(a *app) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	r := newReport("cluster", a.options, clusterRows)
	rows, notes, err := clusterbench.Run(a.ctx, clusterbench.Options{
		Quick: a.options.Quick, Program: program, Peers: c.Peers, Rows: c.Rows,
		Progress: func(text string) { fmt.Fprintln(a.stderr, "cairn-bench: cluster:", text) },
	})
	if err != nil {
		return err
	}
	var errs, open []error
	for _, x := range rows {
		switch {
		case x.NotRun == "":
			errs = append(errs, r.addCompared(x.Name, x.Value, x.Low, x.High, x.Reference, x.OK()))
		case strings.Contains(x.Name, c.Rows):
			r.note("%s: not run: %s", x.Name, x.NotRun)
			if !x.OK() {
				open = append(open, fmt.Errorf("%s was not run and its bar stays open", x.Name))
			}
		}
	}
	return errors.Join(r.finishNoted(a, notes, errors.Join(errs...)), errors.Join(open...))
}

// clusterProcessCmd are the processes that a measurement of a site starts.
type clusterProcessCmd struct {
	Node  clusterNodeCmd  `cmd:""`
	Load  clusterLoadCmd  `cmd:""`
	Probe clusterProbeCmd `cmd:""`
}

type clusterNodeCmd struct {
	Dir    string   `required:""`
	Peer   string   `required:""`
	Client string   `required:""`
	Join   []string `required:""`
	Expect int      `required:""`
}

// Run is a node until SIGTERM.
func (c clusterNodeCmd) Run(a *app) error {
	return clusterbench.Node(a.ctx, clusterbench.NodeOptions{
		Dir: c.Dir, Peer: c.Peer, Client: c.Client, Join: c.Join, Expect: c.Expect, Log: a.stderr,
	})
}

type clusterLoadCmd struct {
	Addr    string  `required:""`
	Op      string  `required:"" enum:"put,get,fill"`
	Clients int     `required:""`
	Seconds float64 `required:""`
	Size    int     `required:""`
	Keys    int     `required:""`
}

// Run is a number of clients.
func (c clusterLoadCmd) Run(a *app) error {
	return clusterbench.Load(a.ctx, clusterbench.LoadOptions{
		Addr: c.Addr, Op: c.Op, Clients: c.Clients, Seconds: c.Seconds, Size: c.Size, Keys: c.Keys,
	}, a.stdout)
}

type clusterProbeCmd struct {
	Addr  string        `required:""`
	Every time.Duration `required:""`
	Size  int           `required:""`
}

// Run writes at a fixed pace.
func (c clusterProbeCmd) Run(a *app) error {
	return clusterbench.Probe(a.ctx, clusterbench.ProbeOptions{Addr: c.Addr, Every: c.Every, Size: c.Size}, a.stdout)
}
