package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"cairn/node/api"
)

// script answers the n-th connection (from 1) after its hello.
type script func(t *testing.T, n int, conn *websocket.Conn, hello api.FeedHello)

func feedServer(t *testing.T, s script) *Client {
	var n atomic.Int32
	up := websocket.Upgrader{Subprotocols: []string{feedProtocol}}
	return start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer ck_test" {
			reply(w, 401, map[string]any{"code": "unauthenticated", "detail": "no key"})
			return
		}
		conn, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		var hello api.FeedHello
		if err := conn.ReadJSON(&hello); err != nil || hello.Type != "hello" || hello.Token != "" {
			t.Errorf("hello = %+v, %v", hello, err)
			return
		}
		s(t, int(n.Add(1)), conn, hello)
	})
}

func say(t *testing.T, conn *websocket.Conn, kind, cursor string) {
	if err := conn.WriteJSON(api.FeedMessage{Type: kind, Cursor: cursor}); err != nil {
		t.Error(err)
	}
}

func bye(conn *websocket.Conn, code int, text string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
	_, _, _ = conn.ReadMessage() // until the other side has taken note
}

func TestFeedResumesByCursor(t *testing.T) {
	c := feedServer(t, func(t *testing.T, n int, conn *websocket.Conn, hello api.FeedHello) {
		switch n {
		case 1:
			say(t, conn, "welcome", "1:5.0")
			say(t, conn, "event", "1:6.1")
			bye(conn, 4008, "slow reader")
		case 2:
			if hello.Cursor != "1:6.1" || len(hello.Filters.Types) != 1 {
				t.Errorf("second hello = %+v", hello)
			}
			say(t, conn, "welcome", hello.Cursor)
			_ = conn.WriteJSON(api.FeedMessage{Type: "gap", From: "1:6.1", To: "1:9.2"})
			_ = conn.NetConn().Close() // no goodbye
		default:
			if hello.Cursor != "1:9.2" {
				t.Errorf("third hello = %+v", hello)
			}
			say(t, conn, "welcome", hello.Cursor)
			bye(conn, 4504, "newer than the log")
		}
	})
	f, err := c.Feed(t.Context(), "1:5.0", api.FeedFilter{Types: []string{"experience.promoted"}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, want := range []string{"welcome", "event", "welcome", "gap", "welcome"} {
		m, err := f.Next(t.Context())
		if err != nil || m.Type != want {
			t.Fatalf("message %d = %+v, %v; want %s", i, m, err, want)
		}
	}
	_, err = f.Next(t.Context())
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeInvalid || e.Fields[0].Location != "cursor" {
		t.Errorf("last error = %v", err)
	}
}

func TestFeedRefusedAtOnce(t *testing.T) {
	c := feedServer(t, func(_ *testing.T, _ int, conn *websocket.Conn, _ api.FeedHello) { bye(conn, 4503, "denied") })
	if _, err := c.Feed(t.Context(), "", api.FeedFilter{}); api.AsError(err).Code != api.CodeDenied {
		t.Errorf("denied feed: %v", err)
	}
	c.key = "other"
	_, err := c.Feed(t.Context(), "", api.FeedFilter{})
	if api.AsError(err).Code != api.CodeUnauthenticated || Status(err) != 401 {
		t.Errorf("feed without a right key: %v", err)
	}
}

func TestFeedCloseAndCancel(t *testing.T) {
	said := make(chan struct{}, 4)
	c := feedServer(t, func(t *testing.T, _ int, conn *websocket.Conn, _ api.FeedHello) {
		say(t, conn, "welcome", "1:5.0")
		said <- struct{}{}
		_, _, _ = conn.ReadMessage()
	})
	f, err := c.Feed(t.Context(), "", api.FeedFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-said
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = f.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Next: %v", err)
	}
	if m, err := f.Next(t.Context()); err != nil || m.Type != "welcome" {
		t.Errorf("Next after a cancel = %+v, %v; want a new welcome", m, err)
	}
	done := make(chan error)
	go func() { _, err := f.Next(t.Context()); done <- err }()
	_ = f.Close()
	if err := <-done; !errors.Is(err, ErrFeedClosed) {
		t.Errorf("Next after Close: %v", err)
	}
}
