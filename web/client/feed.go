package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"cairn/node/api"
)

const (
	feedProtocol = "cairn.feed.v1"
	// feedSilence is how long a connection may be silent: the server pings every 25 s and waits 10 s.
	feedSilence = 60 * time.Second
	feedWrite   = 10 * time.Second
)

// ErrFeedClosed is what Next returns after Close.
var ErrFeedClosed = errors.New("feed closed")

// Feed is a live event stream that comes back by itself: after a lost connection it goes on strictly after the last
// message that Next returned, so nothing is left out and nothing comes twice. Next belongs to one goroutine; Close and
// Cursor may be called from any.
type Feed struct {
	c      *Client
	filter api.FeedFilter
	tries  int

	mu      sync.Mutex
	conn    *websocket.Conn
	welcome *api.FeedMessage // read by connect, not yet returned
	cursor  string
	closed  bool
}

// Feed opens the event stream strictly after cursor; an empty cursor means from now on. It returns when the server has
// accepted the hello, or with an *api.Error when it refused: denied, or invalid with location "cursor".
func (c *Client) Feed(ctx context.Context, cursor string, filter api.FeedFilter) (*Feed, error) {
	f := &Feed{c: c, filter: filter, cursor: cursor}
	for try := 1; ; try++ {
		err := closeError(f.connect(ctx))
		if err == nil {
			return f, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if final(err) || try >= c.attempts || c.wait(ctx, pauseOf(err, try)) != nil {
			return nil, err
		}
	}
}

// Cursor is the place after the last message that Next returned.
func (f *Feed) Cursor() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor
}

// Next returns the next message. The first one of every connection is the welcome; a gap says that events between two
// cursors are no longer kept. Next connects again after a lost connection, with growing pauses, until ctx ends or the
// server says that coming back is of no use. When ctx ends, the connection is dropped and a later Next resumes.
func (f *Feed) Next(ctx context.Context) (api.FeedMessage, error) {
	for {
		conn, err := f.current(ctx)
		if err != nil {
			return api.FeedMessage{}, err
		}
		if m := f.takeWelcome(); m != nil {
			f.advance(*m)
			return *m, nil
		}
		m, err := readMessage(ctx, conn)
		if err == nil {
			f.tries = 0
			f.advance(m)
			return m, nil
		}
		f.drop(conn)
		if err = f.after(ctx, err); err != nil {
			return api.FeedMessage{}, err
		}
	}
}

// Close ends the stream and makes a waiting Next return ErrFeedClosed.
func (f *Feed) Close() error {
	f.mu.Lock()
	conn := f.conn
	f.conn, f.welcome, f.closed = nil, nil, true
	f.mu.Unlock()
	if conn == nil {
		return nil
	}
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
	return conn.Close()
}

// current is the open connection, made again where it was lost.
func (f *Feed) current(ctx context.Context) (*websocket.Conn, error) {
	for {
		f.mu.Lock()
		conn, closed := f.conn, f.closed
		f.mu.Unlock()
		if closed {
			return nil, ErrFeedClosed
		}
		if conn != nil {
			return conn, nil
		}
		if err := f.connect(ctx); err != nil {
			if err = f.after(ctx, err); err != nil {
				return nil, err
			}
		}
	}
}

// after decides what follows an error: nil means that another connection should be tried.
func (f *Feed) after(ctx context.Context, err error) error {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return ErrFeedClosed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err = closeError(err); final(err) {
		return err
	}
	f.tries++
	return f.c.wait(ctx, pauseOf(err, f.tries))
}

func (f *Feed) takeWelcome() *api.FeedMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.welcome
	f.welcome = nil
	return m
}

func (f *Feed) advance(m api.FeedMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Type == "gap" && m.To != "":
		f.cursor = m.To
	case m.Cursor != "":
		f.cursor = m.Cursor
	}
}

func (f *Feed) drop(conn *websocket.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conn == conn {
		f.conn, f.welcome = nil, nil
	}
	_ = conn.Close()
}

// connect dials, says hello and reads the welcome, in whose place a refusal comes.
func (f *Feed) connect(ctx context.Context) error {
	u := f.c.base.JoinPath("v1", "feed")
	u.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
	header := http.Header{"User-Agent": {f.c.agent}}
	if f.c.key != "" {
		header.Set("Authorization", "Bearer "+f.c.key)
	}
	conn, resp, err := f.c.dialer().DialContext(ctx, u.String(), header)
	if err != nil {
		return dialError(resp, err)
	}
	hello := api.FeedHello{Type: "hello", Cursor: f.Cursor(), Filters: f.filter}
	_ = conn.SetWriteDeadline(time.Now().Add(feedWrite))
	if err := conn.WriteJSON(hello); err != nil {
		_ = conn.Close()
		return fmt.Errorf("feed hello: %w", err)
	}
	keepAlive(conn)
	welcome, err := readMessage(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		_ = conn.Close()
		return ErrFeedClosed
	}
	f.conn, f.welcome = conn, &welcome
	return nil
}

// dialer uses the TLS settings and proxy of the HTTP client's transport.
func (c *Client) dialer() *websocket.Dialer {
	d := &websocket.Dialer{Subprotocols: []string{feedProtocol}, HandshakeTimeout: 10 * time.Second}
	if t, ok := c.http.Transport.(*http.Transport); ok && t != nil {
		d.TLSClientConfig, d.Proxy, d.NetDialContext = t.TLSClientConfig, t.Proxy, t.DialContext
	} else {
		d.Proxy = http.ProxyFromEnvironment
	}
	return d
}

// keepAlive answers pings and takes each as a sign of life.
func keepAlive(conn *websocket.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(feedSilence))
	conn.SetPingHandler(func(data string) error {
		_ = conn.SetReadDeadline(time.Now().Add(feedSilence))
		err := conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(feedWrite))
		if errors.Is(err, websocket.ErrCloseSent) {
			return nil
		}
		return err
	})
}

func readMessage(ctx context.Context, conn *websocket.Conn) (api.FeedMessage, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var m api.FeedMessage
	_, data, err := conn.ReadMessage()
	if err != nil {
		return m, err
	}
	_ = conn.SetReadDeadline(time.Now().Add(feedSilence))
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("feed message: %w", err)
	}
	return m, nil
}

func dialError(resp *http.Response, err error) error {
	if resp == nil {
		return fmt.Errorf("feed connect: %w", err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return decodeError(answer{status: resp.StatusCode, header: resp.Header, body: body})
}

// closeError turns the server's last words into an *api.Error where coming back is of no use.
func closeError(err error) error {
	var ce *websocket.CloseError
	if !errors.As(err, &ce) || ce.Code < 4500 || ce.Code > 4999 {
		return err
	}
	e := &api.Error{Code: api.CodeInvalid, Detail: ce.Text, Cause: ce}
	switch ce.Code {
	case 4503:
		e.Code = api.CodeDenied
	case 4504:
		e.Fields = []api.Field{{Location: "cursor", Message: ce.Text}}
	}
	return e
}

// final tells whether another connection would meet the same answer.
func final(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrFeedClosed) || certificate(err) {
		return true
	}
	var e *api.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code != api.CodeUnavailable && e.Code != api.CodeOverloaded && e.Code != api.CodeInternal
}

func pauseOf(err error, try int) time.Duration {
	var e *api.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return backoff(try)
}
