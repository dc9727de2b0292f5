package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cairn/node/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves h and gives a client whose pauses take no time.
func start(t *testing.T, h http.HandlerFunc, opts ...Option) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := New(srv.URL, "ck_test", opts...)
	if err != nil {
		t.Fatal(err)
	}
	c.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	for _, bad := range []string{"", "ftp://host", "http://", "http://a b"} {
		if _, err := New(bad, ""); err == nil {
			t.Errorf("New(%q) = nil error", bad)
		}
	}
	c, err := New("127.0.0.1:8750/", "")
	if err != nil || c.base.String() != "http://127.0.0.1:8750" {
		t.Errorf("New(host:port) = %v, %v", c, err)
	}
}

func TestWriteIsRepeatedWithTheSameKey(t *testing.T) {
	var keys []string
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch len(keys) {
		case 1:
			w.Header().Set("Retry-After", "1")
			reply(w, 503, map[string]any{"code": "unavailable", "detail": "no leader"})
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks without an answer
		default:
			w.Header().Set("Cairn-Index", "812")
			w.Header().Set("Idempotent-Replay", "true")
			reply(w, 201, api.Experience{ID: "e1"})
		}
	})
	done, err := c.AddExperience(t.Context(), api.AddExperience{Scenario: "s", Content: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if done.Value.ID != "e1" || done.Index != 812 || !done.Replayed || done.Status != 201 || c.Index() != 812 {
		t.Errorf("done = %+v, index %d", done, c.Index())
	}
	if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("keys = %q, want one key three times", keys)
	}
}

func TestWriteUsesTheCallersKey(t *testing.T) {
	got := ""
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Idempotency-Key")
		w.WriteHeader(http.StatusNoContent)
	})
	if _, err := c.RemoveAgent(WithIdempotencyKey(t.Context(), "mine"), "a"); err != nil || got != "mine" {
		t.Errorf("key = %q, err %v", got, err)
	}
}

func TestErrorsAreDecoded(t *testing.T) {
	tries := 0
	c := start(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		w.Header().Set("Content-Type", "application/problem+json")
		reply(w, 422, map[string]any{
			"type": "urn:cairn:error:invalid", "code": "invalid", "detail": "body.k must be 1..50",
			"errors": []api.Field{{Location: "body.k", Message: "must be 1..50", Value: 99}},
		})
	})
	_, err := c.Recall(t.Context(), api.RecallRequest{Task: "x"})
	var e *api.Error
	if !errors.As(err, &e) {
		t.Fatalf("err = %v", err)
	}
	if e.Code != api.CodeInvalid || e.Detail != "body.k must be 1..50" || len(e.Fields) != 1 || e.Fields[0].Location != "body.k" {
		t.Errorf("error = %+v", e)
	}
	if Status(err) != 422 || tries != 1 {
		t.Errorf("status %d, tries %d", Status(err), tries)
	}
}

func TestForeignErrorPagesGetACode(t *testing.T) {
	cases := map[int]api.Code{
		401: api.CodeUnauthenticated, 404: api.CodeNotFound, 418: api.CodeInvalid, 429: api.CodeOverloaded,
		500: api.CodeInternal, 502: api.CodeUnavailable, 507: api.CodeStorageFull, 302: api.CodeInternal,
	}
	for status, want := range cases {
		e := decodeError(answer{status: status, body: []byte("<html>"), header: http.Header{}})
		if e.Code != want || Status(e) != status {
			t.Errorf("status %d = code %s, status %d; want %s", status, e.Code, Status(e), want)
		}
	}
}

func TestGivesUpAfterItsAttempts(t *testing.T) {
	tries := 0
	c := start(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		reply(w, 503, map[string]any{"code": "unavailable", "detail": "no leader"})
	}, WithAttempts(3))
	_, err := c.Stats(t.Context())
	if api.AsError(err).Code != api.CodeUnavailable || tries != 3 {
		t.Errorf("err %v after %d tries", err, tries)
	}
}

func TestSessionTokenAndConsistency(t *testing.T) {
	var index, query string
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		index, query = r.Header.Get("Cairn-Index"), r.URL.RawQuery
		w.Header().Set("Cairn-Index", "41")
		reply(w, 200, api.List[api.Experience]{})
	}, WithSession(), WithConsistency("session"))
	f := api.ListFilter{MinTrust: .25, Agent: "a", Page: api.Page{Limit: 3}}
	for range 2 {
		if _, err := c.Experiences(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if index != "41" || query != "agent=a&consistency=session&limit=3&min_trust=0.25" {
		t.Errorf("index %q, query %q", index, query)
	}
	c.SetIndex(7)
	if c.Index() != 41 {
		t.Errorf("index fell to %d", c.Index())
	}
}

func TestRequestsOfSpecialCalls(t *testing.T) {
	type seen struct{ method, path, query, match, accept string }
	var got seen
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		got = seen{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("If-Match"), r.Header.Get("Accept")}
		_, _ = w.Write([]byte("{}"))
	})
	ctx := t.Context()
	cases := []struct {
		do   func() error
		want seen
	}{
		{func() error { _, err := c.EraseExperience(ctx, "e/1", 3); return err }, seen{"DELETE", "/v1/experiences/e%2F1", "", `"3"`, "application/json"}},
		{func() error {
			_, err := c.RecordTrajectory(ctx, api.RecordTrajectory{}, 10*time.Second)
			return err
		}, seen{"POST", "/v1/trajectories", "wait=10s", "", "application/json"}},
		{func() error { _, err := c.ProvenanceJSON(ctx, "e"); return err }, seen{"GET", "/v1/experiences/e/provenance", "", "", "application/prov+json"}},
		{func() error { _, err := c.ReplayPromotion(ctx, "p"); return err }, seen{"POST", "/v1/promotions/p/replay", "", "", "application/json"}},
		{func() error { return c.Ready(ctx) }, seen{"GET", "/readyz", "", "", "application/json"}},
	}
	for _, tc := range cases {
		if err := tc.do(); err != nil || got != tc.want {
			t.Errorf("got %+v, err %v; want %+v", got, err, tc.want)
		}
	}
}

func TestCancelledContextEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := start(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		reply(w, 503, map[string]any{"code": "unavailable"})
	})
	if _, err := c.Cluster(ctx); err == nil || strings.Contains(err.Error(), "nil") {
		t.Errorf("err = %v", err)
	}
}
