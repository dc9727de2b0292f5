package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"cairn/node/api"
	"cairn/web"
)

// Listener answers for a node that does not have the site's state yet: /healthz says what it is doing, everything else is
// refused with 503 and Retry-After. It is safe for concurrent use.
type Listener struct {
	options Options
	http    *http.Server
	addr    string
	handler atomic.Pointer[http.Handler]
	served  chan error // receives the end of serving, once
}

// Listen opens the API's port and answers until Close. stage is what /healthz says meanwhile: "joining" or "starting".
func Listen(o Options, stage string) (*Listener, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	conn, err := net.Listen("tcp", o.API)
	if err != nil {
		return nil, fmt.Errorf("listen for the API: %w", err)
	}
	l := &Listener{options: o, addr: conn.Addr().String(), served: make(chan error, 1)}
	l.serve(early(stage))
	l.http = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*l.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	go func() { l.served <- l.http.Serve(conn) }()
	return l, nil
}

func (l *Listener) serve(h http.Handler) { l.handler.Store(&h) }

// early answers before there is a node.
func early(stage string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"status": stage})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(web.Problem{
			Type: "urn:cairn:error:" + string(api.CodeUnavailable), Title: "Unavailable", Status: http.StatusServiceUnavailable,
			Code: api.CodeUnavailable, Detail: "the node is " + stage + ": it does not have the site's state yet",
		})
	})
	return mux
}

// Start answers for n from now on. It takes over the node and the listener: an error closes both.
func (l *Listener) Start(n Node) (*Site, error) {
	o := l.options
	w, err := web.New(n, web.Options{
		Logger: o.Logger, Registry: n.Registry(), Hosts: o.Hosts, Origins: o.Origins, Version: o.Version,
	})
	if err != nil {
		return nil, errors.Join(err, l.Close(context.Background()), n.Close())
	}
	l.serve(w.Handler())
	return &Site{Listener: l, node: n, web: w}, nil
}

// Addr is the address of the API as host:port.
func (l *Listener) Addr() string { return l.addr }

// URL is the base address of the API.
func (l *Listener) URL() string { return "http://" + l.addr }

// Wait returns when ctx ends, with nil, or when serving ended by itself, with its error.
func (l *Listener) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-l.served:
		l.served <- err
		return fmt.Errorf("serve the API: %w", err)
	}
}

// Close lets requests under way finish until ctx ends, and closes the port.
func (l *Listener) Close(ctx context.Context) error {
	err := l.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, l.http.Close())
	}
	if end := <-l.served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	l.served <- http.ErrServerClosed
	return err
}
