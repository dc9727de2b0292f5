package consensus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestWaitList(t *testing.T) {
	var l waitList
	l.advance(3)
	if err := l.wait(context.Background(), 3); err != nil {
		t.Errorf("reached index: %v", err)
	}
	done := make(chan error, 3)
	var started sync.WaitGroup
	for _, index := range []uint64{5, 4, 9} {
		started.Add(1)
		go func() {
			started.Done()
			done <- l.wait(context.Background(), index)
		}()
	}
	started.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.wait(ctx, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	l.advance(5)
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("waited for 4 or 5: %v", err)
		}
	}
	reason := errors.New("over")
	l.fail(reason)
	l.fail(errors.New("later"))
	if err := <-done; !errors.Is(err, reason) {
		t.Errorf("waited for 9: got %v", err)
	}
	if err := l.wait(context.Background(), 5); err != nil {
		t.Errorf("reached index after the end: %v", err)
	}
	if len(l.heap) > 0 {
		t.Errorf("%d waiters are left", len(l.heap))
	}
}

func TestByteGate(t *testing.T) {
	g := &byteGate{capacity: 10}
	ctx, cancel := context.WithCancel(context.Background())
	for _, n := range []int{6, 4} {
		if err := g.enter(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	big, small := make(chan error, 1), make(chan error, 1)
	go func() { big <- g.enter(ctx, 10) }()
	eventually(t, "the big one in the queue", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.queue) == 1
	})
	go func() { small <- g.enter(context.Background(), 1) }()
	eventually(t, "both in the queue", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.queue) == 2
	})
	g.leave(4) // room for the small one, which has to wait for its turn
	select {
	case <-small:
		t.Error("the small one overtook")
	default:
	}
	cancel()
	if err := <-big; !errors.Is(err, context.Canceled) {
		t.Errorf("big: got %v", err)
	}
	if err := <-small; err != nil {
		t.Errorf("small: %v", err)
	}
	g.leave(1)
	g.leave(6)
	if g.used != 0 || len(g.queue) != 0 {
		t.Errorf("left: %d bytes, %d waiting", g.used, len(g.queue))
	}
}

// TestPeerPortSurvivesGarbage sends what no node sends.
func TestPeerPortSurvivesGarbage(t *testing.T) {
	n := startNode(t, vfs.NewMem(), func(c *Config) { c.PeerTLS, c.PeerInsecure = PeerFiles{}, true })
	n.do(kvCommand{Op: "inc", Key: "n"})
	hello := func(kind streamKind) []byte {
		h := append(bytes.Clone(peerMagic), byte(kind))
		return append(append(h, "01ARZ3NDEKTSV4RRFFQ69G5FAV"...), anyID...)
	}
	huge := binary.BigEndian.AppendUint32(nil, 1<<31)
	for name, data := range map[string][]byte{
		"nothing":         {},
		"http":            []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n                                        "),
		"unknown kind":    hello(99),
		"older version":   append([]byte("CAIRN\x02"), hello(kindCalls)[len(peerMagic):]...),
		"raft garbage":    append(hello(kindRaft), 0xff, 0xff, 0xff, 0xff),
		"huge frame":      append(hello(kindCalls), huge...),
		"short frame":     append(hello(kindCalls), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"unknown method":  append(hello(kindCalls), 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 200),
		"bad join":        append(hello(kindCalls), 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, methodJoin, '{'),
		"bad report":      append(hello(kindCalls), 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, methodReport, '['),
		"path as ticket":  append(append(hello(kindSnapshot), purposeRestore, 0, 0, 0, 0, 0, 0, 0, 0), "../../../../../../../../etc"...),
		"snapshot nobody": append(append(hello(kindSnapshot), purposeFollow, 0xff, 0, 0, 0, 0, 0, 0, 0), "01ARZ3NDEKTSV4RRFFQ69G5FAVxxxxxxxxxxxxxxxx"...),
	} {
		conn, err := net.Dial("tcp", n.PeerAddr())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := conn.Write(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		buf := make([]byte, 256)
		for {
			_, err := conn.Read(buf)
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				t.Errorf("%s: the connection stays open", name)
			}
			if err != nil {
				break
			}
		}
		_ = conn.Close()
	}
	n.do(kvCommand{Op: "inc", Key: "n"})
	if names, err := n.fs.List("raft/incoming"); err == nil && len(names) > 0 {
		t.Errorf("left in incoming: %v", names)
	}
}

func FuzzReadFrame(f *testing.F) {
	var good bytes.Buffer
	w := bufio.NewWriter(&good)
	if err := errors.Join(writeFrame(w, frame{call: 7, code: 1, body: []byte("x")}), w.Flush()); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFrame(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := bufio.NewWriter(&again)
		if err := errors.Join(writeFrame(w, got), w.Flush()); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, again.Bytes()) {
			t.Fatal("a frame changed on the way")
		}
	})
}

func FuzzSnapshotMetadata(f *testing.F) {
	f.Add([]byte(`{"version":1,"index":3,"term":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := openTestStore(t, vfs.NewMem())
		if err := s.write([]byte{keySnapshot}, data); err != nil {
			t.Fatal(err)
		}
		_, _ = openSnapshotStore(s, nil)
	})
}

// TestCallsInFlightEndWithTheConnection kills the peer under calls.
// servedCalls is a peer port whose calls fn answers, and a client of it. The
// caller closes the port.
func servedCalls(t *testing.T, fn func(context.Context, string, byte, []byte) ([]byte, error)) (*callClient, *peerMux) {
	t.Helper()
	mux, err := listenPeers("01ARZ3NDEKTSV4RRFFQ69G5FAV", "127.0.0.1:0", "", nil, testLogger())
	if err != nil {
		t.Fatal(err)
	}
	mux.handle(kindCalls, callServer{timeout: time.Second, fn: fn}.serve)
	mux.serve()
	client := newCallClient(func(ctx context.Context, addr string) (net.Conn, error) {
		return mux.dial(ctx, kindCalls, addr)
	}, time.Second, nil)
	t.Cleanup(client.close)
	return client, mux
}

func TestCallsInFlightEndWithTheConnection(t *testing.T) {
	arrived := make(chan struct{}, 8)
	client, mux := servedCalls(t, func(ctx context.Context, _ string, method byte, _ []byte) ([]byte, error) {
		if method == methodTerm {
			return []byte("pong"), nil
		}
		arrived <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if answer, err := client.call(testContext(t), mux.advertise, methodTerm, nil, nil); err != nil || string(answer) != "pong" {
		t.Fatalf("call: %q, %v", answer, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := client.call(context.Background(), mux.advertise, methodPropose, []byte("x"), nil)
		done <- err
	}()
	<-arrived
	if err := mux.close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, errAnswerLost) {
		t.Errorf("call under way: got %v, want errAnswerLost", err)
	}
	_, err := client.call(testContext(t), mux.advertise, methodPropose, []byte("x"), nil)
	if !errors.Is(err, errNotSent) {
		t.Errorf("call without a peer: got %v, want errNotSent", err)
	}
}
