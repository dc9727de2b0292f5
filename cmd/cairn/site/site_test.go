package site

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"cairn/node/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNode is a node that becomes ready after some questions.
type fakeNode struct {
	api.Service
	key      string
	notReady atomic.Int32
	closed   atomic.Int32
}

func (f *fakeNode) Ready(context.Context) error {
	if f.notReady.Add(-1) >= 0 {
		return api.Unavailable("indexing", 0, nil)
	}
	return nil
}
func (f *fakeNode) Close() error                   { f.closed.Add(1); return nil }
func (f *fakeNode) AdminKey() string               { return f.key }
func (f *fakeNode) AdminKeyFile() string           { return "admin.key" }
func (f *fakeNode) PeerAddr() string               { return "127.0.0.1:1" }
func (f *fakeNode) NodeID() string                 { return "n1" }
func (f *fakeNode) Registry() *prometheus.Registry { return prometheus.NewRegistry() }

func TestServesUntilClosed(t *testing.T) {
	n := &fakeNode{key: "ck_admin"}
	n.notReady.Store(3)
	s, err := Start(n, Options{API: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(s.URL() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("healthz = %d", resp.StatusCode)
	}
	if link := s.SignInLink(); !strings.HasPrefix(link, s.URL()+"/signin?") || strings.Contains(link, "ck_admin") {
		t.Errorf("link = %q, want one of this site without the key in it", link)
	}
	if one, two := s.SignInLinkFor("ck_other"), s.SignInLinkFor("ck_other"); one == two || one == "" || s.SignInLinkFor("") != "" {
		t.Errorf("links %q and %q, want two that differ, and none without a key", one, two)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("the address still answers")
	}
}

func TestWait(t *testing.T) {
	s, err := Start(&fakeNode{}, Options{API: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if s.SignInLink() != "" {
		t.Error("a node without an admin key gives a link")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx); err != nil {
		t.Errorf("wait = %v, want nil when told to end", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Wait(t.Context()); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("wait = %v, want the end of serving", err)
	}
}

func TestNotReadyInTime(t *testing.T) {
	n := &fakeNode{}
	n.notReady.Store(1 << 30)
	s, err := Start(n, Options{API: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.AwaitReady(ctx); err == nil || !strings.Contains(err.Error(), "indexing") {
		t.Errorf("err = %v, want the reason", err)
	}
}

func TestBadAddressClosesTheNode(t *testing.T) {
	n := &fakeNode{}
	if _, err := Start(n, Options{API: "300.0.0.1:x"}); err == nil || n.closed.Load() != 1 {
		t.Errorf("err = %v, closed %d times", err, n.closed.Load())
	}
}

// TestAnswersBeforeThereIsANode: who looks after the process sees that it lives; who wants the API is told to come back.
func TestAnswersBeforeThereIsANode(t *testing.T) {
	l, err := Listen(Options{API: "127.0.0.1:0"}, "joining")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	ask := func(method, path string) (*http.Response, string) {
		req, err := http.NewRequest(method, l.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	if resp, body := ask("GET", "/healthz"); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"joining"`) {
		t.Errorf("healthz: %d %s", resp.StatusCode, body)
	}
	for _, r := range [][2]string{{"GET", "/readyz"}, {"GET", "/v1/experiences"}, {"POST", "/v1/recall"}, {"GET", "/"}, {"PUT", "/healthz"}} {
		resp, body := ask(r[0], r[1])
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, `"unavailable"`) {
			t.Errorf("%v: %d %v %s", r, resp.StatusCode, resp.Header, body)
		}
	}
	s, err := l.Start(&fakeNode{})
	if err != nil {
		t.Fatal(err)
	}
	if resp, body := ask("GET", "/healthz"); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"ok"`) {
		t.Errorf("healthz of the node: %d %s", resp.StatusCode, body)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCloseBeforeThereIsANode(t *testing.T) {
	l, err := Listen(Options{API: "127.0.0.1:0"}, "joining")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
