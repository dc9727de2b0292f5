package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"cairn/node/api"
)

// Options of a Server. The zero value works.
type Options struct {
	// Logger gets internal errors and panics, never content or keys. Default: slog.Default().
	Logger *slog.Logger
	// Registry is where the server's metrics are registered and what /metrics shows. Default: a new one.
	Registry *prometheus.Registry
	// Hosts are further names under which the node may be called, as "name" (any port) or "name:port". Loopback names and
	// the address a connection came in on are always allowed.
	Hosts []string
	// Origins are web pages of other addresses that may call the API with a key of their own, as "https://host[:port]".
	Origins []string
	// Version is shown in the OpenAPI document. Default: "dev".
	Version string

	// FeedPing is the pause between websocket pings. Default 25 s.
	FeedPing time.Duration
	// FeedPong is how long an answer to a ping may take. Default 10 s.
	FeedPong time.Duration
	// FeedHello is how long a client may take to say hello. Default 10 s.
	FeedHello time.Duration
	// FeedWrite is how long one message may take to be written before its reader counts as slow. Default 10 s.
	FeedWrite time.Duration
	// FeedRecheck is the pause between checks that a feed's key still stands. Default 30 s.
	FeedRecheck time.Duration
}

func (o *Options) ensureDefaults() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.FeedPing, 25 * time.Second},
		{&o.FeedPong, 10 * time.Second},
		{&o.FeedHello, 10 * time.Second},
		{&o.FeedWrite, 10 * time.Second},
		{&o.FeedRecheck, 30 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
}

func (o *Options) validate() error {
	var errs []error
	for _, h := range o.Hosts {
		if h == "" || strings.ContainsAny(h, "/ *") {
			errs = append(errs, fmt.Errorf("host %q: want name or name:port", h))
		}
	}
	for _, s := range o.Origins {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Path != "" || strings.Contains(s, "*") {
			errs = append(errs, fmt.Errorf("origin %q: want https://host[:port]", s))
		}
	}
	return errors.Join(errs...)
}

// Server answers for one node. It is safe for concurrent use.
type Server struct {
	svc     api.Service
	opt     Options
	log     *slog.Logger
	mux     *http.ServeMux
	api     huma.API
	routes  map[string]routing // by mux pattern
	openapi []byte
	metrics metrics
	signin  signin

	drain    chan struct{} // closed by Close
	draining sync.Once
	feedsMu  sync.Mutex // guards adding to feeds against Close waiting for them
	feeds    sync.WaitGroup
}

// routing says what a request needs before its handler runs.
type routing struct {
	body     bool // takes a JSON body
	optional bool // the body may be left out
	upload   bool // takes a body of any size, which its handler reads
	keyless  bool // answers without a key
	feed     bool // a websocket may bring its key in the hello
}

// New makes a server for svc. It starts nothing; Close ends the feeds.
func New(svc api.Service, o Options) (*Server, error) {
	o.ensureDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("web options: %w", err)
	}
	s := &Server{
		svc: svc, opt: o, log: o.Logger,
		mux: http.NewServeMux(), routes: map[string]routing{}, drain: make(chan struct{}),
	}
	s.signin.init(time.Now)
	if err := s.metrics.register(o.Registry); err != nil {
		return nil, fmt.Errorf("web metrics: %w", err)
	}
	s.api = newAPI(s.mux, o.Version)
	s.registerAgents()
	s.registerNamespaces()
	s.registerTrajectories()
	s.registerExperiences()
	s.registerExplanations()
	s.registerPools()
	s.registerCuration()
	s.registerAudit()
	s.registerRecall()
	s.registerSystem()
	s.registerOperations()
	s.registerOutside()
	if err := s.registerPage(); err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	var err error
	if s.openapi, err = s.api.OpenAPI().MarshalJSON(); err != nil {
		return nil, fmt.Errorf("web openapi: %w", err)
	}
	return s, nil
}

// Handler is the whole outside of the node.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Close ends every feed with 1001 and waits until they are gone or ctx ends. Requests are the http.Server's to drain;
// /readyz answers 503 from now on. Close may be called more than once.
func (s *Server) Close(ctx context.Context) error {
	s.draining.Do(func() {
		s.feedsMu.Lock()
		close(s.drain)
		s.feedsMu.Unlock()
	})
	gone := make(chan struct{})
	go func() {
		s.feeds.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close feeds: %w", ctx.Err())
	}
}

func (s *Server) closed() bool {
	select {
	case <-s.drain:
		return true
	default:
		return false
	}
}

// serve takes a request through everything that comes before its handler.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	rec := &recorder{ResponseWriter: w}
	defer s.finish(rec, r, time.Now())
	secure(rec.Header())
	if p := s.checkCaller(rec, r); p != nil {
		p.write(rec)
		return
	}
	if s.preflight(rec, r) {
		return
	}
	if !plainPath(r.URL.Path) {
		problem(api.CodeNotFound, "no such path").write(rec)
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern == "" {
		unrouted(rec, r, h)
		return
	}
	rec.route = pattern
	r, p := s.enter(rec, r, s.routes[pattern])
	if p != nil {
		p.write(rec)
		return
	}
	s.mux.ServeHTTP(rec, r)
}
