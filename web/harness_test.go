package web

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a server over a fake, listening on loopback.
type site struct {
	t    *testing.T
	fake *fake
	web  *Server
	http *httptest.Server
	logs *lockedWriter
}

func newSite(t *testing.T, change ...func(*Options)) *site {
	t.Helper()
	st := &site{t: t, fake: newFake(), logs: &lockedWriter{}}
	o := Options{Logger: slog.New(slog.NewTextHandler(st.logs, nil)), Hosts: []string{"cairn.example"}, Origins: []string{"https://app.example"}}
	for _, c := range change {
		c(&o)
	}
	var err error
	if st.web, err = New(st.fake, o); err != nil {
		t.Fatal(err)
	}
	st.http = httptest.NewServer(st.web.Handler())
	t.Cleanup(func() {
		if err := st.web.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		st.http.Client().CloseIdleConnections()
		st.http.Close()
	})
	return st
}

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	body   string
	prob   Problem
	closes bool // the connection ends with it
}

// locations lists the fields a problem names.
func (r reply) locations() string {
	var out []string
	for _, f := range r.prob.Errors {
		out = append(out, f.Location)
	}
	return strings.Join(out, " ")
}

// do sends one request with the agent's key; a header of "-" removes what would be sent.
func (st *site) do(method, path, body string, headers ...string) reply {
	st.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(st.t.Context(), method, st.http.URL+path, in)
	if err != nil {
		st.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+agentKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i+1] == "-":
			req.Header.Del(headers[i])
		case headers[i] == "Host":
			req.Host = headers[i+1]
		default:
			req.Header[headers[i]] = []string{headers[i+1]}
		}
	}
	resp, err := st.http.Client().Transport.RoundTrip(req)
	if err != nil {
		st.t.Fatal(err)
	}
	return st.read(resp)
}

func (st *site) read(resp *http.Response) reply {
	st.t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, body: string(b), closes: resp.Close}
	if resp.StatusCode >= 400 && resp.Request != nil && resp.Request.Method != http.MethodHead {
		st.checkProblem(&r)
	}
	return r
}

// checkProblem holds every refusal to the contract: media type, type, code and status agree, nothing of Go shows.
func (st *site) checkProblem(r *reply) {
	st.t.Helper()
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		st.t.Errorf("content type of a %d = %q", r.status, got)
	}
	if err := json.Unmarshal([]byte(r.body), &r.prob); err != nil {
		st.t.Errorf("%d is no problem document: %v: %.200s", r.status, err, r.body)
		return
	}
	p := r.prob
	if p.Status != r.status || p.Type != "urn:cairn:error:"+string(p.Code) || p.Title == "" || p.Detail == "" {
		st.t.Errorf("problem of a %d = %.300s", r.status, r.body)
	}
	for _, leak := range []string{"json:", "Go struct", "secret cause", "\\u0000", "goroutine"} {
		if strings.Contains(r.body, leak) {
			st.t.Errorf("problem tells %q: %.300s", leak, r.body)
		}
	}
}

// raw sends bytes as they are and reads one answer; with half set it then stops sending for good.
func (st *site) raw(request string, half ...bool) reply {
	st.t.Helper()
	conn, err := net.Dial("tcp", st.http.Listener.Addr().String())
	if err != nil {
		st.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() {
		_, _ = io.WriteString(conn, request)
		if len(half) > 0 {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodPost})
	if err != nil {
		st.t.Fatal(err)
	}
	return st.read(resp)
}

// lockedWriter lets handlers log at the same time.
type lockedWriter struct {
	mu sync.Mutex
	w  strings.Builder
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lockedWriter) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.String()
}

// want compares status, code and fields of a refusal.
func (r reply) want(t *testing.T, name string, status int, code, locations string) {
	t.Helper()
	if r.status != status || string(r.prob.Code) != code || (locations != "*" && r.locations() != locations) {
		t.Errorf("%s = %d %s [%s], want %d %s [%s]\n%.400s", name, r.status, r.prob.Code, r.locations(), status, code, locations, r.body)
	}
}
