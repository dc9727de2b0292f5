// Package site puts a node's HTTP face on a listener: what `cairn serve`, `cairn demo` and the benchmarks run.
package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cairn/node/api"
	"cairn/web"
)

// Node is the server that a site answers for; *node.Node is one.
type Node interface {
	api.Service
	Close() error
	// AdminKey is the key made at the first start, "" on a node that joined others.
	AdminKey() string
	AdminKeyFile() string
	PeerAddr() string
	NodeID() string
	Registry() *prometheus.Registry
}

// Options of a Site.
type Options struct {
	// API is the address to listen on, as host:port; port 0 takes a free one.
	API string
	// Hosts and Origins are further names and web pages that may call the API; see web.Options.
	Hosts, Origins []string
	// Logger gets what goes wrong. Default: slog.Default().
	Logger *slog.Logger
	// Version is shown in the OpenAPI document.
	Version string
}

// Site is a node that answers over HTTP. It is safe for concurrent use.
type Site struct {
	node   Node
	web    *web.Server
	http   *http.Server
	addr   string
	served chan error // receives the end of serving, once
}

// Start listens and serves until Close. It takes over the node: an error closes it.
func Start(n Node, o Options) (*Site, error) {
	s, err := start(n, o)
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return s, nil
}

func start(n Node, o Options) (*Site, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	w, err := web.New(n, web.Options{
		Logger: o.Logger, Registry: n.Registry(), Hosts: o.Hosts, Origins: o.Origins, Version: o.Version,
	})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.API)
	if err != nil {
		return nil, fmt.Errorf("listen for the API: %w", err)
	}
	s := &Site{node: n, web: w, addr: l.Addr().String(), served: make(chan error, 1)}
	s.http = &http.Server{
		Handler:           w.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

// Addr is the address of the API as host:port.
func (s *Site) Addr() string { return s.addr }

// URL is the base address of the API.
func (s *Site) URL() string { return "http://" + s.addr }

// SignInLink is a link that signs a browser in once with the node's admin key, "" if the node has none.
func (s *Site) SignInLink() string { return s.SignInLinkFor(s.node.AdminKey()) }

// SignInLinkFor is a link that signs a browser in once with key, "" for an empty key.
func (s *Site) SignInLinkFor(key string) string {
	if key == "" {
		return ""
	}
	return s.web.SignInLink(s.URL(), key)
}

// AwaitReady waits until the node is ready.
func (s *Site) AwaitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.node.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node is not ready: %w", errors.Join(err, ctx.Err()))
		case <-tick.C:
		}
	}
}

// Wait returns when ctx ends, with nil, or when serving ended by itself, with its error.
func (s *Site) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.served:
		s.served <- err
		return fmt.Errorf("serve the API: %w", err)
	}
}

// Close ends the feeds, lets requests under way finish until ctx ends, and closes the node.
func (s *Site) Close(ctx context.Context) error {
	err := errors.Join(s.web.Close(ctx), s.http.Shutdown(ctx))
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	if end := <-s.served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	s.served <- http.ErrServerClosed
	return errors.Join(err, s.node.Close())
}
