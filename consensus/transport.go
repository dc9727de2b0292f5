package consensus

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

var errGateClosed = errors.New("node is shutting down")

// transport is raft's network transport behind a gate.
//
// Raft serves heartbeats on the connection's goroutine. One that arrives while
// raft shuts down may write the term to a database that is already closed and
// panic (hashicorp/raft issue 717). Closing the gate first, and waiting for
// heartbeats under way, makes that impossible.
type transport struct {
	*raft.NetworkTransport
	layer *streamLayer
	gate  gate
}

// gate lets callers through until it is closed.
type gate struct {
	mu     sync.RWMutex
	closed bool
}

// pass runs fn unless the gate is closed.
func (g *gate) pass(fn func()) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return false
	}
	fn()
	return true
}

// shut closes the gate and waits for everyone inside.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func newTransport(mux *peerMux, addresses raft.ServerAddressProvider, timeout time.Duration, logger *raftLogger) *transport {
	layer := newStreamLayer(mux)
	return &transport{
		layer: layer,
		NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			ServerAddressProvider:   addresses,
			Logger:                  logger,
			Stream:                  layer,
			MaxPool:                 4,
			Timeout:                 timeout,
			MsgpackUseNewTimeFormat: true,
		}),
	}
}

// SetHeartbeatHandler implements raft.Transport.
func (t *transport) SetHeartbeatHandler(fn func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(func(rpc raft.RPC) {
		if !t.gate.pass(func() { fn(rpc) }) {
			rpc.Respond(nil, errGateClosed)
		}
	})
}

// AppendEntries implements raft.Transport.
func (t *transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	limitEntries(args)
	return t.NetworkTransport.AppendEntries(id, target, args, resp)
}

// AppendEntriesPipeline implements raft.Transport.
func (t *transport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	p, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	return limitedPipeline{p}, nil
}

type limitedPipeline struct{ raft.AppendPipeline }

// AppendEntries implements raft.AppendPipeline.
func (p limitedPipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	limitEntries(args)
	return p.AppendPipeline.AppendEntries(args, resp)
}

// limitEntries cuts a request to maxBatchBytes, but never to nothing. Raft
// counts as sent what it finds in args afterwards, so the rest follows.
func limitEntries(args *raft.AppendEntriesRequest) {
	size := 0
	for i, e := range args.Entries {
		size += entryBytes(e)
		if size > maxBatchBytes && i > 0 {
			args.Entries = args.Entries[:i]
			return
		}
	}
}

// shut lets no request in any more and waits for heartbeats under way.
func (t *transport) shut() {
	_ = t.layer.Close()
	t.gate.shut()
	t.layer.mux.closeKind(kindRaft)
}

// close ends the transport's goroutines and connections.
func (t *transport) close() error {
	t.shut()
	err := t.NetworkTransport.Close()
	t.CloseStreams()
	return err
}

// streamLayer gives raft's connections of the mux to raft's transport. It
// implements raft.StreamLayer.
type streamLayer struct {
	mux   *peerMux
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newStreamLayer(mux *peerMux) *streamLayer {
	l := &streamLayer{mux: mux, conns: make(chan net.Conn), done: make(chan struct{})}
	mux.handle(kindRaft, func(c net.Conn) {
		select {
		case l.conns <- c:
		case <-l.done:
			_ = c.Close()
		}
	})
	return l
}

// Accept implements net.Listener.
func (l *streamLayer) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It is idempotent.
func (l *streamLayer) Close() error {
	l.once.Do(func() {
		l.mux.handle(kindRaft, nil)
		close(l.done)
	})
	return nil
}

// Addr implements net.Listener.
func (l *streamLayer) Addr() net.Addr { return peerAddr(l.mux.advertise) }

// Dial implements raft.StreamLayer.
func (l *streamLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return l.mux.dial(ctx, kindRaft, string(address))
}

// peerAddr is an address as written by the operator; it need not be an IP.
type peerAddr string

// Network implements net.Addr.
func (peerAddr) Network() string { return "tcp" }

// String implements net.Addr.
func (a peerAddr) String() string { return string(a) }
