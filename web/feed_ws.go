package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"cairn/node/api"
)

const (
	feedProtocol   = "cairn.feed.v1"
	feedReadLimit  = 64 << 10
	closePatience  = 2 * time.Second // for the other side to close too
	maxCloseReason = 120             // bytes; the protocol allows 123
)

// Close codes: 4000-4499 and 1001 tell the client to come back with its cursor, 4500-4999 not to.
const (
	closeDrain     = websocket.CloseGoingAway
	closeChanged   = 4003 // the key's rights have changed
	closeSlow      = 4008
	closeInternal  = 4011
	closeTryAgain  = 4013
	closeBadHello  = 4501
	closeDenied    = 4503
	closeBadCursor = 4504
)

// ending is why the server closes a websocket.
type ending struct {
	code   int
	reason string
}

func websocketAsked(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }

// feedWebsocket takes the connection over and stays until the feed ends.
func (s *Server) feedWebsocket(w http.ResponseWriter, r *http.Request) {
	offered := websocket.Subprotocols(r)
	if len(offered) > 0 && !slices.Contains(offered, feedProtocol) {
		invalid("header.Sec-WebSocket-Protocol", "must be "+feedProtocol, nil).write(w)
		return
	}
	leave, ok := s.subscribe("websocket")
	if !ok {
		s.refused(r.Context(), api.Unavailable("the node is shutting down", time.Second, nil)).write(w)
		return
	}
	defer leave()
	up := websocket.Upgrader{
		Subprotocols:    []string{feedProtocol},
		CheckOrigin:     func(*http.Request) bool { return true }, // checked for every request
		ReadBufferSize:  1 << 10,
		WriteBufferSize: 4 << 10,
		Error: func(w http.ResponseWriter, _ *http.Request, code int, err error) {
			p := malformed("header.Upgrade", "is no websocket handshake of version 13")
			if code >= http.StatusInternalServerError {
				p = problem(api.CodeInternal, "internal error")
			}
			p.write(w)
		},
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Error has answered
	}
	f := &socket{s: s, conn: conn, cred: enteredOf(r.Context()).cred}
	f.close(f.run(r.Context()))
}

// socket is one websocket. The goroutine of its request is the only one that writes.
type socket struct {
	s      *Server
	conn   *websocket.Conn
	cred   credential
	caller api.Caller
	gone   chan struct{} // closed when nothing more can be read
	bad    chan ending   // the client said what it must not
}

// run serves the feed and returns why it ended; nil when the client went away.
func (f *socket) run(ctx context.Context) *ending {
	stream, end := f.hello(ctx)
	if end != nil {
		return end
	}
	f.gone, f.bad = make(chan struct{}), make(chan ending, 1)
	go f.read()
	p := startPump(ctx, stream)
	defer p.close()
	ping, recheck := time.NewTicker(f.s.opt.FeedPing), time.NewTicker(f.s.opt.FeedRecheck)
	defer ping.Stop()
	defer recheck.Stop()
	for {
		select {
		case m := <-p.messages:
			end = f.send(m)
		case err := <-p.failed:
			return f.s.endOf(ctx, err)
		case <-ping.C:
			if f.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(f.s.opt.FeedWrite)) != nil {
				return nil
			}
		case <-recheck.C:
			end = f.s.recheck(ctx, f.cred, f.caller)
		case <-f.s.drain:
			return &ending{closeDrain, "the node is shutting down"}
		case e := <-f.bad:
			return &e
		case <-f.gone:
			return nil
		}
		if end != nil {
			return end
		}
	}
}

// send writes one message. A write that takes longer than FeedWrite ends the feed as soon as it is through, so that a
// reader who comes round gets told; after twice that time the connection is given up, for nothing can follow half a frame.
func (f *socket) send(m api.FeedMessage) *ending {
	body, err := json.Marshal(m)
	if err != nil {
		return f.s.endOf(context.Background(), err)
	}
	began := time.Now()
	_ = f.conn.SetWriteDeadline(began.Add(2 * f.s.opt.FeedWrite))
	if err := f.conn.WriteMessage(websocket.TextMessage, body); err != nil || time.Since(began) > f.s.opt.FeedWrite {
		return &ending{closeSlow, "slow reader: come back with the cursor"}
	}
	return nil
}

// read drains the connection: pongs and the close come this way. The client has nothing to say after its hello.
func (f *socket) read() {
	defer close(f.gone)
	alive := func(string) error {
		return f.conn.SetReadDeadline(time.Now().Add(f.s.opt.FeedPing + f.s.opt.FeedPong))
	}
	_ = alive("")
	f.conn.SetPongHandler(alive)
	for {
		if _, _, err := f.conn.NextReader(); err != nil {
			return
		}
		select {
		case f.bad <- ending{closeBadHello, "nothing may follow the hello"}:
		default:
		}
	}
}

// close says goodbye and waits a moment for the other side's, because a connection closed with unread bytes is reset and
// takes our last words with it.
func (f *socket) close(end *ending) {
	defer func() {
		_ = f.conn.Close()
		if f.gone != nil {
			<-f.gone
		}
	}()
	if end == nil {
		return
	}
	f.s.metrics.closes.WithLabelValues(strconv.Itoa(end.code)).Inc()
	reason := strings.ToValidUTF8(end.reason[:min(len(end.reason), maxCloseReason)], "")
	if f.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(end.code, reason), time.Now().Add(closePatience)) != nil {
		return
	}
	if f.gone == nil {
		f.gone = make(chan struct{})
		f.bad = make(chan ending, 1)
		go f.read()
	}
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	select {
	case <-f.gone:
	case <-patience.C:
	}
}

// hello reads the first message and opens the stream it asks for.
func (f *socket) hello(ctx context.Context) (api.FeedStream, *ending) {
	f.conn.SetReadLimit(feedReadLimit)
	_ = f.conn.SetReadDeadline(time.Now().Add(f.s.opt.FeedHello))
	kind, body, err := f.conn.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		return nil, &ending{closeBadHello, "hello did not come in time, in one text message"}
	}
	hello, reason := parseHello(body)
	if reason != "" {
		return nil, &ending{closeBadHello, reason}
	}
	if hello.Token != "" {
		f.cred = credential{given: true, bearer: hello.Token}
	}
	caller, p := f.s.authenticate(ctx, f.cred)
	if p != nil {
		return nil, endOfProblem(p)
	}
	f.caller = caller
	if hello.Cursor != "" && !validCursor(hello.Cursor) {
		return nil, &ending{closeBadCursor, "cursor must be epoch:index.sub"}
	}
	filter, bad := checkFilter(hello.Filters, caller)
	if bad != nil {
		return nil, &ending{closeBadHello, "filters." + bad.Location + " " + bad.Message}
	}
	stream, err := f.s.svc.Feed(ctx, caller, hello.Cursor, filter)
	if err != nil {
		return nil, f.s.endOf(ctx, err)
	}
	return stream, nil
}

// parseHello reads a hello; the reason says what is wrong with it.
func parseHello(body []byte) (hello api.FeedHello, reason string) {
	if f := checkJSON(body); f != nil {
		return hello, strings.Replace(f.location, "body", "hello", 1) + " " + f.message
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&hello); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return hello, "hello." + wrong.Field + " has the wrong type"
		}
		return hello, "hello has an unknown field"
	}
	if hello.Type != "hello" {
		return hello, `hello.type must be "hello"`
	}
	return hello, ""
}

// endOf translates a service's error into a close.
func (s *Server) endOf(ctx context.Context, err error) *ending {
	if ctx.Err() != nil {
		return nil
	}
	return endOfProblem(s.refused(ctx, err))
}

func endOfProblem(p *Problem) *ending {
	e := &ending{closeInternal, p.Detail}
	switch p.Code {
	case api.CodeUnauthenticated, api.CodeDenied, api.CodeNotFound:
		e.code = closeDenied
	case api.CodeInvalid:
		e.code = closeBadHello
		for _, f := range p.Errors {
			if strings.HasSuffix(f.Location, "cursor") {
				e.code = closeBadCursor
			}
		}
	case api.CodeUnavailable, api.CodeOverloaded:
		e.code = closeTryAgain
	}
	return e
}
