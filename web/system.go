package web

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"cairn/node/api"
)

const tagSystem = "System"

func (s *Server) registerSystem() {
	list(s, route{path: "/v1/jobs", id: "list-jobs", summary: "Background work", tag: tagSystem},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
			Status string `query:"status" enum:"queued,leased,done,dead"`
		}) (api.List[api.Job], error) {
			return s.svc.Jobs(ctx, c, in.Status, in.page())
		})
	write(s, route{method: http.MethodPost, path: "/v1/jobs/{id}/retry", id: "retry-job", summary: "Queue a dead job again", tag: tagSystem},
		func(ctx context.Context, c api.Caller, in *changeParams, w api.Write) (api.Done[api.Job], error) {
			return s.svc.RetryJob(ctx, c, in.ID, w)
		})
	get(s, route{path: "/v1/stats", id: "get-stats", summary: "Counts of the namespace, now and over time", tag: tagSystem},
		func(ctx context.Context, c api.Caller, _ *struct{ ReadParams }) (api.Stats, error) {
			return s.svc.Stats(ctx, c)
		})
	get(s, route{path: "/v1/stats/predictor", id: "get-predictor-stats", summary: "How well rewards are foreseen", tag: tagSystem},
		func(ctx context.Context, c api.Caller, _ *struct{ ReadParams }) (api.PredictorStats, error) {
			return s.svc.PredictorStats(ctx, c)
		})
	s.handle(http.MethodGet+" "+feedPath, routing{feed: true}, s.feed)
	s.describe(feedOperation())
}

// registerOutside has what answers without a key.
func (s *Server) registerOutside() {
	open := routing{keyless: true}
	s.handle("GET /healthz", open, func(w http.ResponseWriter, _ *http.Request) { status(w, "ok") })
	s.handle("GET /readyz", open, s.ready)
	s.handle("GET /openapi.json", open, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(s.openapi)
	})
	shown := promhttp.HandlerFor(s.opt.Registry, promhttp.HandlerOpts{})
	s.handle("GET /metrics", open, func(w http.ResponseWriter, r *http.Request) {
		if p := s.metricsAllowed(r); p != nil {
			p.write(w)
			return
		}
		shown.ServeHTTP(w, r)
	})
	s.handle("GET /signin", open, s.useLink)
	s.handle("POST /signin", routing{keyless: true, body: true}, s.signIn)
	s.handle("POST /signout", open, s.signOut)
	for _, op := range []huma.Operation{
		{Path: "/healthz", OperationID: "healthz", Summary: "The process answers"},
		{Path: "/readyz", OperationID: "readyz", Summary: "The node may be sent requests"},
		{Path: "/metrics", OperationID: "metrics", Summary: "Prometheus metrics; from this machine, or with a key of an admin or auditor"},
	} {
		op.Method, op.Tags, op.Security = http.MethodGet, []string{tagSystem}, []map[string][]string{}
		op.Responses = map[string]*huma.Response{"200": {Description: "OK"}}
		s.describe(op)
	}
}

// handle adds a route that is not huma's.
func (s *Server) handle(pattern string, to routing, h http.HandlerFunc) {
	s.routes[pattern] = to
	s.mux.HandleFunc(pattern, h)
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.closed() {
		s.refused(r.Context(), api.Unavailable("the node is shutting down", time.Second, nil)).write(w)
		return
	}
	if err := s.svc.Ready(r.Context()); err != nil {
		s.refused(r.Context(), err).write(w)
		return
	}
	status(w, "ready")
}

func status(w http.ResponseWriter, text string) {
	sendJSON(w, map[string]string{"status": text})
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has gone; there is nobody left to tell
}
