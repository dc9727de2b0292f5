package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"cairn/node/api"
	"cairn/web/client"
)

// dial opens a websocket with these headers.
func (st *site) dial(headers ...string) *websocket.Conn {
	st.t.Helper()
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	d := websocket.Dialer{Subprotocols: []string{feedProtocol}}
	conn, resp, err := d.DialContext(st.t.Context(), "ws"+strings.TrimPrefix(st.http.URL, "http")+feedPath, h)
	if err != nil {
		st.t.Fatalf("dial: %v", err)
	}
	if resp.Header.Get("Sec-Websocket-Protocol") != feedProtocol {
		st.t.Errorf("subprotocol = %q", resp.Header.Get("Sec-Websocket-Protocol"))
	}
	st.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// open dials and says hello with the agent's key.
func (st *site) open(cursor string, f api.FeedFilter) *websocket.Conn {
	st.t.Helper()
	conn := st.dial()
	if err := conn.WriteJSON(api.FeedHello{Type: "hello", Token: agentKey, Cursor: cursor, Filters: f}); err != nil {
		st.t.Fatal(err)
	}
	return conn
}

func next(t *testing.T, conn *websocket.Conn) api.FeedMessage {
	t.Helper()
	var m api.FeedMessage
	if err := conn.ReadJSON(&m); err != nil {
		t.Fatalf("read: %v", err)
	}
	return m
}

// closeCode reads until the server closes.
func closeCode(t *testing.T, conn *websocket.Conn) (code int, reason string) {
	t.Helper()
	for {
		_, _, err := conn.ReadMessage()
		var ce *websocket.CloseError
		if errors.As(err, &ce) {
			return ce.Code, ce.Text
		}
		if err != nil {
			t.Fatalf("read: %v", err)
		}
	}
}

func TestFeedResumesByCursor(t *testing.T) {
	st := newSite(t)
	st.fake.events.add(api.FeedMessage{Event: "experience.recorded", Experience: "e1"})
	st.fake.events.add(api.FeedMessage{Event: "experience.promoted", Experience: "e1"})
	conn := st.open("1:1.1", api.FeedFilter{Types: []string{"experience.promoted"}, Pools: []string{"own", "meta"}})
	if m := next(t, conn); m.Type != "welcome" || m.Cursor != "1:1.1" || m.Node != "n1" {
		t.Errorf("welcome = %+v", m)
	}
	m := next(t, conn)
	if m.Type != "event" || m.Cursor != "1:2.1" {
		t.Errorf("event = %+v", m)
	}
	if f := st.fake.last().args[2].(api.FeedFilter); strings.Join(f.Pools, " ") != "agent:planner-1 meta" || f.Types[0] != "experience.promoted" {
		t.Errorf("filter = %+v", f)
	}
	_ = conn.Close()
	st.fake.events.add(api.FeedMessage{Event: "citation.added"})
	conn = st.open(m.Cursor, api.FeedFilter{})
	if m = next(t, conn); m.Type != "welcome" {
		t.Errorf("second welcome = %+v", m)
	}
	if m = next(t, conn); m.Cursor != "1:3.1" {
		t.Errorf("next event = %+v, want 1:3.1 alone", m)
	}
	st.fake.events.add(api.FeedMessage{Event: "citation.added"})
	if m = next(t, conn); m.Cursor != "1:4.1" {
		t.Errorf("live event = %+v", m)
	}
}

func TestFeedHelloIsChecked(t *testing.T) {
	st := newSite(t)
	cases := []struct {
		name, hello string
		code        int
	}{
		{"no JSON", `hello`, closeBadHello},
		{"other type", `{"type":"hi","token":"` + agentKey + `"}`, closeBadHello},
		{"unknown field", `{"type":"hello","token":"` + agentKey + `","since":1}`, closeBadHello},
		{"wrong type", `{"type":"hello","token":7}`, closeBadHello},
		{"key twice", `{"type":"hello","type":"hello"}`, closeBadHello},
		{"wildcard agent", `{"type":"hello","token":"` + agentKey + `","filters":{"agents":["*"]}}`, closeBadHello},
		{"event type", `{"type":"hello","token":"` + agentKey + `","filters":{"types":["PROMOTED"]}}`, closeBadHello},
		{"trust", `{"type":"hello","token":"` + agentKey + `","filters":{"min_trust":3}}`, closeBadHello},
		{"no token", `{"type":"hello"}`, closeDenied},
		{"unknown token", `{"type":"hello","token":"ck_x"}`, closeDenied},
		{"cursor form", `{"type":"hello","token":"` + agentKey + `","cursor":"7"}`, closeBadCursor},
		{"cursor number", `{"type":"hello","token":"` + agentKey + `","cursor":"1:99999999999999999999.1"}`, closeBadCursor},
		{"cursor newer than the log", `{"type":"hello","token":"` + agentKey + `","cursor":"1:7.1"}`, closeBadCursor},
	}
	for _, tc := range cases {
		conn := st.dial()
		_ = conn.WriteMessage(websocket.TextMessage, []byte(tc.hello))
		if code, reason := closeCode(t, conn); code != tc.code || reason == "" || strings.Contains(reason, "json") {
			t.Errorf("%s: closed with %d %q, want %d", tc.name, code, reason, tc.code)
		}
	}
	conn := st.dial()
	_ = conn.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"hello"}`))
	if code, _ := closeCode(t, conn); code != closeBadHello {
		t.Errorf("binary hello: closed with %d", code)
	}
	st.fake.fail("Feed", api.Denied("no"))
	conn = st.open("", api.FeedFilter{})
	if code, _ := closeCode(t, conn); code != closeDenied {
		t.Errorf("denied: closed with %d", code)
	}
	st.fake.fail("Feed", api.Unavailable("no leader", 0, nil))
	conn = st.open("", api.FeedFilter{})
	if code, _ := closeCode(t, conn); code != closeTryAgain {
		t.Errorf("unavailable: closed with %d", code)
	}
	st.fake.fail("Feed", errString("secret cause"))
	conn = st.open("", api.FeedFilter{})
	if code, reason := closeCode(t, conn); code != closeInternal || strings.Contains(reason, "secret") {
		t.Errorf("internal: closed with %d %q", code, reason)
	}
}

func TestFeedHelloMustComeInTime(t *testing.T) {
	st := newSite(t, func(o *Options) { o.FeedHello = time.Millisecond })
	if code, _ := closeCode(t, st.dial()); code != closeBadHello {
		t.Errorf("closed with %d", code)
	}
}

func TestFeedKeyInAHeader(t *testing.T) {
	st := newSite(t)
	conn := st.dial("Authorization", "Bearer "+agentKey)
	_ = conn.WriteJSON(api.FeedHello{Type: "hello"})
	if m := next(t, conn); m.Type != "welcome" {
		t.Errorf("first = %+v", m)
	}
	_ = conn.WriteJSON(api.FeedHello{Type: "hello"})
	if code, _ := closeCode(t, conn); code != closeBadHello {
		t.Errorf("second hello: closed with %d", code)
	}
	upgrade := []string{"Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	got := st.do("GET", feedPath, "", append(upgrade, "Authorization", "Bearer ck_x")...)
	got.want(t, "unknown key", 401, "unauthenticated", "")
	got = st.do("GET", feedPath, "", append(upgrade, "Origin", "https://evil.example")...)
	got.want(t, "foreign origin", 403, "denied", "header.Origin")
	got = st.do("GET", feedPath, "", append(upgrade, "Sec-WebSocket-Protocol", "chat")...)
	got.want(t, "other subprotocol", 422, "invalid", "header.Sec-WebSocket-Protocol")
	got = st.do("GET", feedPath+"?token=x", "", upgrade...)
	got.want(t, "query", 422, "invalid", "query.token")
	got = st.do("GET", feedPath, "", "Upgrade", "websocket", "Connection", "Upgrade")
	got.want(t, "no handshake", 400, "invalid", "header.Upgrade")
	got = st.do("GET", feedPath, "")
	got.want(t, "neither websocket nor event stream", 422, "invalid", "header.Accept")
}

func TestFeedEndsWithItsKey(t *testing.T) {
	st := newSite(t, func(o *Options) { o.FeedRecheck = time.Millisecond })
	conn := st.open("", api.FeedFilter{})
	next(t, conn)
	st.fake.fail("Authenticate", api.Unavailable("no state", 0, nil)) // an outage ends nothing
	st.fake.events.add(api.FeedMessage{Event: "citation.added"})
	next(t, conn)
	st.fake.removeKey(agentKey)
	st.fake.fail("Authenticate", nil)
	if code, reason := closeCode(t, conn); code != closeDenied || reason != "the key was removed" {
		t.Errorf("closed with %d %q", code, reason)
	}
}

func TestFeedEndsWhenRightsChange(t *testing.T) {
	st := newSite(t, func(o *Options) { o.FeedRecheck = time.Millisecond })
	conn := st.open("", api.FeedFilter{})
	next(t, conn)
	st.fake.mu.Lock()
	c := st.fake.keys[agentKey]
	c.Roles = []string{api.RoleCurator}
	st.fake.keys[agentKey] = c
	st.fake.mu.Unlock()
	if code, _ := closeCode(t, conn); code != closeChanged {
		t.Errorf("closed with %d", code)
	}
}

func TestFeedDrains(t *testing.T) {
	st := newSite(t)
	conn := st.open("", api.FeedFilter{})
	next(t, conn)
	done := make(chan error, 1)
	go func() { done <- st.web.Close(context.Background()) }()
	if code, _ := closeCode(t, conn); code != closeDrain {
		t.Errorf("closed with %d", code)
	}
	if err := <-done; err != nil || st.fake.events.streams() != 0 {
		t.Errorf("Close = %v, %d streams open", err, st.fake.events.streams())
	}
	upgrade := []string{"Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	got := st.do("GET", feedPath, "", upgrade...)
	got.want(t, "feed while draining", 503, "unavailable", "")
	got = st.do("GET", "/readyz", "")
	got.want(t, "ready while draining", 503, "unavailable", "")
}

func TestFeedCloseGivesUpWithItsContext(t *testing.T) {
	st := newSite(t)
	leave, ok := st.web.subscribe("sse")
	if !ok {
		t.Fatal("not subscribed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := st.web.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close = %v", err)
	}
	leave()
}

// pipes is a listener of connections in memory, which hold no bytes: a write waits for its reader. With them a test runs
// in the time of testing/synctest.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes() *pipes { return &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8750} }

// open dials, says hello and reads the welcome.
func (p *pipes) open(t *testing.T, cursor string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{Subprotocols: []string{feedProtocol}, NetDialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		p.dialled <- there
		return here, nil
	}}
	conn, _, err := d.Dial("ws://127.0.0.1:8750"+feedPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.WriteJSON(api.FeedHello{Type: "hello", Token: agentKey, Cursor: cursor}); err != nil {
		t.Fatal(err)
	}
	next(t, conn)
	return conn
}

// inBubble serves a fake with three events in the time of testing/synctest.
func inBubble(t *testing.T, test func(t *testing.T, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		web, err := New(f, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			f.events.add(api.FeedMessage{Event: "trust.changed"})
		}
		p := newPipes()
		srv := &http.Server{Handler: web.Handler(), ReadHeaderTimeout: time.Second}
		served := make(chan error, 1)
		go func() { served <- srv.Serve(p) }()
		test(t, p)
		if err := web.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_ = srv.Close()
		<-served
	})
}

func TestSlowReaderIsToldAndResumes(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes) {
		conn := p.open(t, "1:0.0")
		time.Sleep(15 * time.Second) // more than FeedWrite, less than twice that
		m := next(t, conn)
		if m.Cursor != "1:1.1" {
			t.Errorf("message under way = %+v", m)
		}
		if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, closeSlow) {
			t.Errorf("after a slow read: %v, want close %d", err, closeSlow)
		}
		_ = conn.Close()
		conn = p.open(t, m.Cursor)
		for _, want := range []string{"1:2.1", "1:3.1"} {
			if m = next(t, conn); m.Cursor != want {
				t.Errorf("after resuming = %+v, want %s", m, want)
			}
		}
		_ = conn.Close()
	})
}

func TestReaderThatNeverReadsIsDropped(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes) {
		conn := p.open(t, "1:0.0")
		time.Sleep(30 * time.Second)
		_, _, err := conn.ReadMessage()
		var ce *websocket.CloseError
		if err == nil || (errors.As(err, &ce) && ce.Code != websocket.CloseAbnormalClosure) {
			t.Errorf("after 30 s: %v", err)
		}
		_ = conn.Close()
	})
}

func TestIdleFeedIsPingedAndStays(t *testing.T) {
	inBubble(t, func(t *testing.T, p *pipes) {
		conn := p.open(t, "1:2.1")
		next(t, conn)
		pings := 0
		pong := conn.PingHandler()
		ended := make(chan error, 1)
		conn.SetPingHandler(func(data string) error { pings++; return pong(data) })
		go func() {
			_, _, err := conn.ReadMessage()
			ended <- err
		}()
		time.Sleep(5 * time.Minute)
		select {
		case err := <-ended:
			t.Errorf("an idle feed ended: %v", err)
		default:
		}
		_ = conn.Close()
		<-ended
		if pings < 11 || pings > 12 {
			t.Errorf("%d pings in five minutes", pings)
		}
	})
}

func TestSilentClientIsGivenUp(t *testing.T) {
	st := newSite(t, func(o *Options) { o.FeedPing, o.FeedPong = 5*time.Millisecond, 20*time.Millisecond })
	conn := st.open("", api.FeedFilter{})
	next(t, conn)
	pinged := make(chan struct{}, 64)
	conn.SetPingHandler(func(string) error { pinged <- struct{}{}; return nil }) // no pong
	if _, _, err := conn.ReadMessage(); err == nil {
		t.Error("a client that answers no ping was kept")
	}
	if len(pinged) == 0 {
		t.Error("no ping came")
	}
}

func TestServerSentEvents(t *testing.T) {
	st := newSite(t, func(o *Options) { o.FeedPing = 5 * time.Millisecond })
	st.fake.events.add(api.FeedMessage{Event: "experience.recorded"})
	st.fake.events.add(api.FeedMessage{Event: "experience.promoted"})
	req, err := http.NewRequestWithContext(t.Context(), "GET", st.http.URL+feedPath+"?types=experience.promoted,citation.added&pools=meta&cursor=1:0.0&min_trust=0.5", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+agentKey)
	req.Header.Set("Last-Event-ID", "1:1.1")
	resp, err := st.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream = %d %v", resp.StatusCode, resp.Header)
	}
	var ids, kinds []string
	pinged := false
	lines := bufio.NewScanner(resp.Body)
	for (len(kinds) < 2 || !pinged) && lines.Scan() {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			ids = append(ids, id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var m api.FeedMessage
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, m.Type)
		}
		pinged = pinged || line == ": ping"
	}
	if strings.Join(ids, " ") != "1:1.1 1:2.1" || strings.Join(kinds, " ") != "welcome event" {
		t.Errorf("ids %v, kinds %v", ids, kinds)
	}
	call := st.fake.last()
	if f := call.args[2].(api.FeedFilter); call.args[1] != "1:1.1" || len(f.Types) != 2 || f.MinTrust != .5 {
		t.Errorf("feed call = %+v", call)
	}
	got := st.do("GET", feedPath, "", "Accept", "text/event-stream", "Last-Event-ID", "x")
	got.want(t, "bad id", 422, "invalid", "header.Last-Event-ID")
	got = st.do("GET", feedPath+"?cursor=1:9.1", "", "Accept", "text/event-stream")
	got.want(t, "newer cursor", 422, "invalid", "query.cursor")
}

func TestServerSentEventsEndWithTheirKey(t *testing.T) {
	st := newSite(t, func(o *Options) { o.FeedRecheck = time.Millisecond })
	st.fake.events.add(api.FeedMessage{Event: "experience.recorded"})
	ended := make(chan reply, 1)
	go func() { ended <- st.do("GET", feedPath+"?cursor=1:0.0", "", "Accept", "text/event-stream") }()
	for st.fake.count() == 0 {
		st.do("GET", "/healthz", "")
	}
	st.fake.removeKey(agentKey)
	if got := <-ended; got.status != 200 {
		t.Errorf("stream = %d %s", got.status, got.body)
	}
}

// The client of this module against this server: one event each, over a lost server and back.
func TestClientFollowsTheFeed(t *testing.T) {
	st := newSite(t)
	c, err := client.New(st.http.URL, agentKey, client.WithSession(), client.WithHTTPClient(st.http.Client()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Feed(t.Context(), "", api.FeedFilter{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st.fake.events.add(api.FeedMessage{Event: "experience.recorded"})
	for _, want := range []string{"welcome", "event"} {
		if m, err := f.Next(t.Context()); err != nil || m.Type != want {
			t.Fatalf("got %+v, %v; want %s", m, err, want)
		}
	}
	st.fake.answers["AddExperience"] = api.Done[api.Experience]{Value: api.Experience{ID: "e"}, Index: 44, Status: 201}
	if done, err := c.AddExperience(t.Context(), api.AddExperience{Scenario: "s", Content: "c"}); err != nil || done.Index != 44 {
		t.Errorf("add = %+v, %v", done, err)
	}
	if _, err := c.Stats(t.Context()); err != nil || st.fake.reads[0].Index != 44 {
		t.Errorf("stats: %v, reads %+v", err, st.fake.reads)
	}
	_, err = c.Recall(t.Context(), api.RecallRequest{Task: " "})
	if e := api.AsError(err); e.Code != api.CodeInvalid || e.Fields[0].Location != "body.task" {
		t.Errorf("blank recall: %v", err)
	}
}
