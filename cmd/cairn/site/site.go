// Package site puts a node's HTTP face on a listener: what `cairn serve`, `cairn demo` and the benchmarks run.
package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	*Listener
	node Node
	web  *web.Server
}

// Start listens and serves until Close. It takes over the node: an error closes it.
func Start(n Node, o Options) (*Site, error) {
	l, err := Listen(o, "starting")
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return l.Start(n)
}

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

// Close ends the feeds, lets requests under way finish until ctx ends, and closes the node.
func (s *Site) Close(ctx context.Context) error {
	return errors.Join(s.web.Close(ctx), s.Listener.Close(ctx), s.node.Close())
}
