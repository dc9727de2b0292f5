package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"cairn/cmd/cairn/demo"
	"cairn/cmd/cairn/site"
	"cairn/node"
)

type demoCmd struct {
	Seed     uint64     `default:"1" help:"Seed of the world and of what agents try at random."`
	Tasks    int        `default:"600" help:"Tasks of the honest agents in each arm, 28..100000."`
	Exit     bool       `help:"End after the report instead of going on serving."`
	API      string     `name:"api" default:"127.0.0.1:0" help:"Address of the API; port 0 takes a free one." placeholder:"HOST:PORT"`
	LogLevel slog.Level `env:"CAIRN_LOG_LEVEL" default:"warn" help:"debug, info, warn or error (${env})." placeholder:"LEVEL"`
}

// Run starts a one-node site in a temporary folder, runs the three arms and prints what came of them. The folder is
// removed at the end.
func (c demoCmd) Run(a *app) (err error) {
	if c.Tasks < 28 || c.Tasks > 100_000 {
		return usage("--tasks must be 28..100000, not %d", c.Tasks)
	}
	dir, err := os.MkdirTemp("", "cairn-demo-*")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log := newLogger(a.stderr, c.LogLevel, "text")
	s, n, err := c.start(a.ctx, dir, log)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, s.Close(ctx))
	}()
	report, err := c.run(a, s, n)
	if err != nil {
		return err
	}
	if c.Exit {
		return nil
	}
	fmt.Fprintf(a.stderr, "\nThe site goes on at %s (data in %s, removed at the end). Ctrl-C ends it.\nSign in to the shared memory, once and within 10 minutes: %s\n",
		s.URL(), dir, s.SignInLinkFor(report.SharedKey))
	return s.Wait(a.ctx)
}

func (c demoCmd) start(ctx context.Context, dir string, log *slog.Logger) (*site.Site, site.Node, error) {
	n, err := node.Open(ctx, node.Config{Dir: dir, PeerAddr: "127.0.0.1:0", BootstrapExpect: 1, PeerInsecure: true, Logger: log})
	if err != nil {
		return nil, nil, fmt.Errorf("open node: %w", err)
	}
	s, err := site.Start(n, site.Options{API: c.API, Logger: log, Version: version()})
	if err != nil {
		return nil, nil, err
	}
	if err := s.AwaitReady(ctx); err != nil {
		return nil, nil, errors.Join(err, s.Close(ctx))
	}
	return s, n, nil
}

func (c demoCmd) run(a *app, s *site.Site, n site.Node) (*demo.Report, error) {
	conf := demo.Config{URL: s.URL(), AdminKey: n.AdminKey(), Seed: c.Seed, Tasks: c.Tasks}
	bar := a.progress(conf.Episodes(), "agents at work")
	conf.Done = func() { _ = bar.Add(1) }
	r, err := demo.Run(a.ctx, conf)
	_ = bar.Finish()
	if err != nil {
		return nil, err
	}
	return r, a.show(r, func(w io.Writer) { demo.Print(w, r) })
}
