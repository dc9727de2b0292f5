package web

import (
	"bufio"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cairn/node/api"
)

// metrics has no ids in its labels: routes are the patterns of the mux.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	feeds    *prometheus.GaugeVec
	closes   *prometheus.CounterVec
}

func (m *metrics) register(reg *prometheus.Registry) error {
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cairn_http_requests_total", Help: "Requests answered, by method, route and status.",
	}, []string{"method", "route", "status"})
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "cairn_http_request_seconds", Help: "Time to answer a request, feeds left out.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"method", "route"})
	m.feeds = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "cairn_feed_subscribers", Help: "Open feeds.",
	}, []string{"transport"})
	m.closes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cairn_feed_closes_total", Help: "Feeds ended by the server, by close code.",
	}, []string{"code"})
	m.feeds.WithLabelValues("websocket")
	m.feeds.WithLabelValues("sse")
	return errors.Join(reg.Register(m.requests), reg.Register(m.seconds), reg.Register(m.feeds), reg.Register(m.closes))
}

// recorder notes what became of an answer.
type recorder struct {
	http.ResponseWriter
	route  string
	status int
	taken  bool // hijacked by a websocket
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	return rec.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the deadlines and the flusher.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// Hijack hands the connection to a websocket.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(rec.ResponseWriter).Hijack()
	if err == nil {
		rec.taken, rec.status = true, http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// finish counts the request and turns a panic into a 500 without a word about its cause.
func (s *Server) finish(rec *recorder, r *http.Request, began time.Time) {
	if v := recover(); v != nil {
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it this way
			panic(v)
		}
		s.log.ErrorContext(r.Context(), "handler panicked", slog.Any("panic", v), slog.String("route", rec.route), slog.String("stack", string(debug.Stack())))
		if rec.status == 0 {
			problem(api.CodeInternal, "internal error").write(rec)
		} else if !rec.taken {
			defer panic(http.ErrAbortHandler) // half an answer must not look like a whole one
		}
	}
	_, route, _ := strings.Cut(rec.route, " ")
	if route == "" {
		route = "none"
	}
	status := rec.status
	if status == 0 {
		status = http.StatusOK
	}
	s.metrics.requests.WithLabelValues(method(r), route, strconv.Itoa(status)).Inc()
	if route != feedPath {
		s.metrics.seconds.WithLabelValues(method(r), route).Observe(time.Since(began).Seconds())
	}
}
