package consensus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Every connection to the peer port starts with peerMagic, whose last byte is
// the version of what follows and of what commands do to the state, one byte that says what the connection carries, the id of
// the dialling node and the id of the node it wants, 26 characters each; anyID wants whoever is there.
var peerMagic = []byte("CAIRN\x03")

const (
	idBytes    = 26
	helloBytes = 6 + 1 + 2*idBytes
	anyID      = "--------------------------"
)

type streamKind byte

const (
	kindRaft     streamKind = 1 // raft's own requests
	kindCalls    streamKind = 2 // forwarded commands, reads, membership
	kindSnapshot streamKind = 3 // one snapshot's files
)

// helloTimeout bounds the handshake of an accepted connection.
const helloTimeout = 5 * time.Second

// peerMux shares one TCP port among the protocols that nodes speak with each
// other.
type peerMux struct {
	id        string
	listener  net.Listener
	advertise string
	log       *slog.Logger
	// tls secures both sides of every connection; nil leaves it plain.
	tls *peerTLS

	// ended is told which peer closed a connection of raft; it must not block.
	ended func(from string)

	wg sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	handlers map[streamKind]func(*muxConn)
	conns    map[*muxConn]struct{}
}

// muxConn is an accepted connection that the mux can close.
type muxConn struct {
	net.Conn
	mux  *peerMux
	kind streamKind
	from string // node id of the peer, as it says
}

// Close closes the connection and lets the mux forget it.
func (c *muxConn) Close() error {
	c.mux.mu.Lock()
	delete(c.mux.conns, c)
	kind, from := c.kind, c.from
	c.mux.mu.Unlock()
	if kind == kindRaft {
		c.mux.ended(from)
	}
	return c.Conn.Close()
}

// listenPeers opens the port. advertise is what peers dial; empty means the
// address listened on.
func listenPeers(id, addr, advertise string, tls *peerTLS, log *slog.Logger) (*peerMux, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for peers: %w", err)
	}
	if advertise == "" {
		tcp, ok := l.Addr().(*net.TCPAddr)
		if !ok || tcp.IP.IsUnspecified() {
			return nil, errors.Join(fmt.Errorf("listen for peers on %s: PeerAdvertise is needed with a wildcard address", addr), l.Close())
		}
		advertise = l.Addr().String()
	}
	return &peerMux{
		id:        id,
		tls:       tls,
		listener:  l,
		advertise: advertise,
		log:       log,
		ended:     func(string) {},
		handlers:  map[streamKind]func(*muxConn){},
		conns:     map[*muxConn]struct{}{},
	}, nil
}

// serve accepts connections until close.
func (m *peerMux) serve() {
	m.wg.Go(func() {
		for {
			conn, err := m.listener.Accept()
			if err != nil {
				if m.isClosed() {
					return
				}
				m.log.Warn("accept peer connection", "error", err)
				// Out of descriptors: waiting is all that can help.
				time.Sleep(50 * time.Millisecond)
				continue
			}
			m.wg.Go(func() { m.greet(conn) })
		}
	})
}

func (m *peerMux) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// handle makes fn the owner of new connections of one kind; nil refuses them.
// fn may block: close waits for it.
func (m *peerMux) handle(kind streamKind, fn func(*muxConn)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if fn == nil {
		delete(m.handlers, kind)
		return
	}
	m.handlers[kind] = fn
}

// greet reads the greeting and hands the connection over.
func (m *peerMux) greet(raw net.Conn) {
	conn := raw
	if m.tls != nil {
		conn = m.tls.server(raw)
	}
	c := &muxConn{Conn: conn, mux: m}
	if !m.track(c) {
		return
	}
	hello := make([]byte, helloBytes)
	_ = conn.SetDeadline(time.Now().Add(helloTimeout))
	if _, err := io.ReadFull(conn, hello); err != nil || !bytes.Equal(hello[:len(peerMagic)], peerMagic) {
		m.log.Debug("peer connection refused", "remote", raw.RemoteAddr().String(), "error", err)
		_ = c.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	m.mu.Lock()
	c.kind = streamKind(hello[len(peerMagic)])
	c.from = string(hello[helloBytes-2*idBytes : helloBytes-idBytes])
	to := string(hello[helloBytes-idBytes:])
	fn := m.handlers[c.kind]
	m.mu.Unlock()
	if fn == nil || (to != anyID && to != m.id) {
		_ = c.Close()
		return
	}
	fn(c)
}

// track registers c, or closes it when the mux is closed.
func (m *peerMux) track(c *muxConn) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		_ = c.Conn.Close()
		return false
	}
	m.conns[c] = struct{}{}
	m.mu.Unlock()
	return true
}

// dial opens a connection of one kind to addr, which may name the node that
// has to answer: id@host:port.
func (m *peerMux) dial(ctx context.Context, kind streamKind, addr string) (net.Conn, error) {
	to, hostport := splitID(addr)
	if len(to) != idBytes {
		to = anyID
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", hostport)
	if err != nil {
		return nil, err
	}
	if m.tls != nil {
		conn = m.tls.client(conn)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	hello := append(bytes.Clone(peerMagic), byte(kind))
	hello = append(append(hello, m.id...), to...)
	if _, err := conn.Write(hello); err != nil {
		return nil, errors.Join(fmt.Errorf("greet peer %s: %w", addr, err), conn.Close())
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, nil
}

// closeKind closes the accepted connections of one kind.
func (m *peerMux) closeKind(kind streamKind) {
	m.mu.Lock()
	var victims []*muxConn
	for c := range m.conns {
		if c.kind == kind {
			victims = append(victims, c)
		}
	}
	m.mu.Unlock()
	for _, c := range victims {
		_ = c.Close()
	}
}

// close stops listening, closes every accepted connection and waits for the
// goroutines that the mux started.
func (m *peerMux) close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	victims := make([]*muxConn, 0, len(m.conns))
	for c := range m.conns {
		victims = append(victims, c)
	}
	m.mu.Unlock()
	err := m.listener.Close()
	for _, c := range victims {
		_ = c.Close()
	}
	m.wg.Wait()
	return err
}
