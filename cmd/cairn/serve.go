package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"cairn/cmd/cairn/site"
	"cairn/consensus"
	"cairn/node"
	"cairn/node/llm"
	"cairn/node/screen"
)

type serveCmd struct {
	API             string        `name:"api" env:"CAIRN_API" default:"127.0.0.1:8750" help:"Address of the API; port 0 takes a free one (${env})." placeholder:"HOST:PORT"`
	Peer            string        `env:"CAIRN_PEER" default:"127.0.0.1:8751" help:"Address for the site's other nodes (${env})." placeholder:"HOST:PORT"`
	Join            []string      `env:"CAIRN_JOIN" help:"Peer address of a node to join, by name or number; srv:NAME looks one up (${env}, repeatable)." placeholder:"HOST:PORT"`
	BootstrapExpect int           `env:"CAIRN_BOOTSTRAP_EXPECT" help:"Nodes that a new site starts with (${env}); 1 unless --join is given." placeholder:"N"`
	PeerAdvertise   string        `env:"CAIRN_PEER_ADVERTISE" help:"Address that other nodes dial, where it is not --peer (${env})." placeholder:"HOST:PORT"`
	PeerCA          string        `name:"peer-ca" env:"CAIRN_PEER_CA" help:"Certificate of the site's own authority (${env})." placeholder:"FILE"`
	PeerCert        string        `env:"CAIRN_PEER_CERT" help:"This node's certificate for the peer port, read again when it changes (${env})." placeholder:"FILE"`
	PeerKey         string        `env:"CAIRN_PEER_KEY" help:"The certificate's key (${env})." placeholder:"FILE"`
	PeerInsecure    bool          `env:"CAIRN_PEER_INSECURE" help:"No TLS between nodes; loopback addresses only (${env})."`
	ReadyFile       string        `env:"CAIRN_READY_FILE" help:"File to write the addresses to once the node is ready (${env})." placeholder:"FILE"`
	Host            []string      `env:"CAIRN_HOSTS" help:"Further name under which the API may be called (${env}, repeatable)." placeholder:"NAME"`
	Origin          []string      `env:"CAIRN_ORIGINS" help:"Web page that may call the API from a browser (${env}, repeatable)." placeholder:"URL"`
	LogLevel        slog.Level    `env:"CAIRN_LOG_LEVEL" default:"info" help:"debug, info, warn or error (${env})." placeholder:"LEVEL"`
	LogFormat       string        `env:"CAIRN_LOG_FORMAT" default:"text" enum:"text,json" help:"text or json (${env})." placeholder:"FORMAT"`
	Grace           time.Duration `env:"CAIRN_GRACE" default:"10s" help:"How long requests under way may take at the end (${env})." placeholder:"10s"`
	ScreenURL       string        `name:"screen-url" env:"CAIRN_SCREEN_URL" help:"Service that screens texts after the built-in rules before they are shared; its key is CAIRN_SCREEN_KEY (${env})." placeholder:"URL"`
	embedderFlags
}

// AfterApply refuses the flags of clients: who gives --addr means --api, and would get a node somewhere else.
func (serveCmd) AfterApply(parsed *kong.Context) error {
	for _, p := range parsed.Path {
		if p.Flag != nil && (p.Flag.Name == "addr" || p.Flag.Name == "key-file") {
			return fmt.Errorf("--%s is for clients of a node; a node listens at --api", p.Flag.Name)
		}
	}
	return nil
}

// readyLimit is how long a node may take from its start until it is ready.
const readyLimit = 10 * time.Minute

// Run serves until the process is told to end.
func (c serveCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	log := newLogger(a.stderr, c.LogLevel, c.LogFormat)
	models, err := llm.FromEnv(os.Getenv)
	if err != nil {
		return usage("language model: %v", err)
	}
	l, err := site.Listen(site.Options{API: c.API, Hosts: c.Host, Origins: c.Origin, Logger: log, Version: version()}, c.stage())
	if err != nil {
		return err
	}
	log.Info("listening", "api", l.URL(), "status", c.stage())
	screener, err := c.screener()
	if err != nil {
		return errors.Join(err, c.stop(a.ctx, l))
	}
	encoder, err := c.open(a.ctx, a.globals.Data)
	if err != nil {
		return errors.Join(err, c.stop(a.ctx, l))
	}
	n, err := node.Open(a.ctx, node.Config{
		Encoder: encoder, Screener: screener,
		Dir: a.globals.Data, PeerAddr: c.Peer, PeerAdvertise: c.PeerAdvertise, BootstrapExpect: c.expect(), Join: c.Join,
		PeerTLS:      consensus.PeerFiles{CA: c.PeerCA, Cert: c.PeerCert, Key: c.PeerKey},
		PeerInsecure: c.PeerInsecure, LLM: &models, Logger: log,
	})
	if err != nil {
		err = errors.Join(err, c.stop(a.ctx, l))
		if a.ctx.Err() != nil {
			log.Info("told to end before the node was open", "reason", err)
			return nil
		}
		return fmt.Errorf("open node in %s: %w", a.globals.Data, err)
	}
	s, err := l.Start(n)
	if err != nil {
		return err
	}
	during, ended := untilRemoved(a.ctx, n)
	err = c.serve(during, a, s, n, log)
	if errors.Is(context.Cause(during), consensus.ErrRemoved) {
		err = errors.Join(err, fmt.Errorf("%w\n  the node ends itself; to use this machine again, delete %s and start with --join", consensus.ErrRemoved, a.globals.Data))
	}
	ended()
	err = errors.Join(err, c.stop(a.ctx, s))
	log.Info("node closed")
	return err
}

// screener is the external one, or nil for the built-in rules alone.
func (c serveCmd) screener() (screen.Screener, error) {
	if c.ScreenURL == "" {
		return nil, nil
	}
	r, err := screen.NewRemote(c.ScreenURL, os.Getenv("CAIRN_SCREEN_KEY"), 0)
	if err != nil {
		return nil, usage("%v", err)
	}
	return r, nil
}

// stop closes what serves, within the time that requests under way have.
func (c serveCmd) stop(ctx context.Context, s interface{ Close(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Grace)
	defer cancel()
	return s.Close(ctx)
}

// stage is what /healthz says before the node has the site's state.
func (c serveCmd) stage() string {
	if len(c.Join) > 0 {
		return "joining"
	}
	return "starting"
}

// untilRemoved makes a context that ends with the site's decision to remove the node, and says so as its cause.
func untilRemoved(ctx context.Context, n *node.Node) (during context.Context, ended func()) {
	during, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-n.Removed():
			cancel(consensus.ErrRemoved)
		case <-during.Done():
		}
	}()
	return during, func() { cancel(nil) }
}

func (c serveCmd) serve(ctx context.Context, a *app, s *site.Site, n site.Node, log *slog.Logger) error {
	ready, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	if err := s.AwaitReady(ready); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if c.ReadyFile != "" {
		if err := writeReady(c.ReadyFile, s, n); err != nil {
			return err
		}
	}
	log.Info("node is ready", "api", s.URL(), "peer", n.PeerAddr(), "node", n.NodeID(), "data", a.globals.Data)
	if link := s.SignInLink(); link != "" {
		fmt.Fprintf(a.stdout, "Sign in, once and within 10 minutes: %s\n", link)
	}
	return s.Wait(ctx)
}

func (c serveCmd) expect() int {
	if c.BootstrapExpect == 0 && len(c.Join) == 0 {
		return 1
	}
	return c.BootstrapExpect
}

func (c serveCmd) check() error {
	for _, addr := range append([]string{c.API, c.Peer}, c.Join...) {
		if name, ok := strings.CutPrefix(addr, "srv:"); ok && name != "" && slices.Contains(c.Join, addr) {
			continue
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return usage("%q is no HOST:PORT", addr)
		}
	}
	if err := c.checkEmbedder(); err != nil {
		return err
	}
	if c.BootstrapExpect < 0 || c.BootstrapExpect > 5 {
		return usage("--bootstrap-expect must be 1..5, not %d", c.BootstrapExpect)
	}
	if c.PeerInsecure && !loopback(c.Peer) {
		return usage("--peer-insecure is for loopback addresses only, not %s", c.Peer)
	}
	return c.checkPeer()
}

// checkPeer refuses a peer port that would speak to others in the open.
func (c serveCmd) checkPeer() error {
	given := 0
	for _, file := range []string{c.PeerCA, c.PeerCert, c.PeerKey} {
		if file != "" {
			given++
		}
	}
	switch {
	case given == 1 || given == 2:
		return usage("--peer-ca, --peer-cert and --peer-key go together")
	case given == 3 && c.PeerInsecure:
		return usage("--peer-insecure and --peer-cert exclude each other")
	case given == 0 && !c.PeerInsecure && (len(c.Join) > 0 || c.BootstrapExpect > 1 || !loopback(c.Peer)):
		return usage("to speak to other nodes, give --peer-ca, --peer-cert and --peer-key (`cairn cluster ca init` and `cairn cluster cert NODE` make them)")
	case c.BootstrapExpect > 1 && len(c.Join) == 0:
		return usage("--bootstrap-expect %d needs --join with the addresses of all nodes", c.BootstrapExpect)
	}
	return nil
}

// ready is what a ready file holds. Addresses are host:port; AdminKeyFile is null on a node that joined.
type ready struct {
	API          string  `json:"api"`
	URL          string  `json:"url"`
	Peer         string  `json:"peer"`
	Node         string  `json:"node"`
	AdminKeyFile *string `json:"admin_key_file"`
}

// writeReady makes the file appear whole, so that a script may read it as soon as it is there.
func writeReady(path string, s *site.Site, n site.Node) error {
	r := ready{API: s.Addr(), URL: s.URL(), Peer: n.PeerAddr(), Node: n.NodeID()}
	if n.AdminKey() != "" {
		file, err := filepath.Abs(n.AdminKeyFile())
		if err != nil {
			return fmt.Errorf("ready file: %w", err)
		}
		r.AdminKeyFile = &file
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	if err := os.WriteFile(path+".tmp", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	return nil
}

func newLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
