package consensus

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
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
	fault *faults
	// sendState brings the state to a follower ahead of raft's own request and
	// returns the ticket of the copy. It ends when quit is done.
	sendState func(ctx context.Context, addr string, index uint64) (ticket string, err error)
	addresses *addressBook
	quit      context.Context
	stop      context.CancelFunc
	// covered reports whether this node has all that a snapshot brings.
	covered func(*raft.InstallSnapshotRequest) bool
	// unused removes the copy of the state that a snapshot named and nobody needs.
	unused func(ticket string)
	// flush waits for this node's own syncs; committed bounds the commit index
	// that it tells (logahead.go).
	flush     func()
	committed func(uint64) uint64
	// requests is what raft reads: what peers send and what inject adds.
	requests chan raft.RPC
	pumped   sync.WaitGroup
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

// raftTimeoutScale makes raft wait long enough for the installation of a state:
// raft multiplies its timeout by the bytes it sends, which are only a ticket,
// divided by this. With 26 bytes that is 13 timeouts.
const raftTimeoutScale = 2

func (g *Group) newTransport() *transport {
	layer := newStreamLayer(g.mux)
	t := &transport{
		layer: layer, fault: g.cfg.faults, sendState: g.sendState, addresses: g.addrs,
		covered: g.covered, unused: g.unusedCopy, flush: g.store.flush, committed: g.store.committed,
		requests: make(chan raft.RPC),
	}
	if g.cfg.broken == mutationNoFlush {
		t.flush = func() {}
	}
	t.quit, t.stop = context.WithCancel(context.Background())
	t.NetworkTransport = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		ServerAddressProvider:   g.addrs,
		Logger:                  newRaftLogger(g.log),
		Stream:                  layer,
		MaxPool:                 4,
		Timeout:                 g.cfg.PeerTimeout,
		MsgpackUseNewTimeFormat: true,
	})
	t.TimeoutScale = raftTimeoutScale
	t.pumped.Go(t.pump)
	return t
}

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.requests }

// pump passes peers' requests on to raft.
func (t *transport) pump() {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			t.receive(rpc)
		case <-t.quit.Done():
			return
		}
	}
}

// receive passes one request on, or answers it.
func (t *transport) receive(rpc raft.RPC) {
	switch req := rpc.Command.(type) {
	case *raft.InstallSnapshotRequest:
		if t.covered(req) {
			t.answerCovered(rpc, req)
			return
		}
	case *raft.AppendEntriesRequest:
		if len(req.Entries) > 0 {
			t.flush()
		}
	}
	t.pass(rpc)
}

// answerCovered accepts a snapshot in raft's name. Raft would empty the log and
// keep in memory that it has entries, then refuse every append, or panic at one
// that names such an entry.
func (t *transport) answerCovered(rpc raft.RPC, req *raft.InstallSnapshotRequest) {
	ticket, err := io.ReadAll(io.LimitReader(rpc.Reader, ticketBytes))
	if err == nil {
		t.unused(string(ticket))
		_, err = io.Copy(io.Discard, rpc.Reader)
	}
	rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: req.RPCHeader, Term: req.Term, Success: err == nil}, err)
}

func (t *transport) pass(rpc raft.RPC) {
	select {
	case t.requests <- rpc:
	case <-t.quit.Done():
		rpc.Respond(nil, errGateClosed)
	}
}

// inject gives raft a request of this node's own and does not wait for the
// answer.
func (t *transport) inject(command any) {
	t.pass(raft.RPC{Command: command, RespChan: make(chan raft.RPCResponse, 1)})
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
	t.prepare(args)
	return t.send(id, target, func() error { return t.NetworkTransport.AppendEntries(id, target, args, resp) })
}

// RequestVote implements raft.Transport.
func (t *transport) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return t.send(id, target, func() error { return t.NetworkTransport.RequestVote(id, target, args, resp) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *transport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.send(id, target, func() error { return t.NetworkTransport.RequestPreVote(id, target, args, resp) })
}

// TimeoutNow implements raft.Transport.
func (t *transport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.send(id, target, func() error { return t.NetworkTransport.TimeoutNow(id, target, args, resp) })
}

// InstallSnapshot implements raft.Transport. The files travel first, outside
// of raft, so that the follower's main loop is not blocked by the transfer and
// a hanging one is noticed by its silence; raft then carries only the ticket.
func (t *transport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, _ io.Reader) error {
	ticket, err := t.sendState(t.quit, t.addresses.resolve(id, target), args.LastLogIndex)
	if err != nil {
		return err
	}
	return t.send(id, target, func() error {
		return t.NetworkTransport.InstallSnapshot(id, target, args, resp, strings.NewReader(ticket))
	})
}

// send runs one request through the tests' faults.
func (t *transport) send(id raft.ServerID, target raft.ServerAddress, request func() error) error {
	if t.fault == nil {
		return request()
	}
	addr := t.addresses.resolve(id, target)
	if err := t.fault.request(addr); err != nil {
		return err
	}
	if t.fault.twice() {
		_ = request()
	}
	if err := request(); err != nil {
		return err
	}
	return t.fault.answer(addr)
}

// AppendEntriesPipeline implements raft.Transport.
func (t *transport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	if t.fault != nil {
		return nil, raft.ErrPipelineReplicationNotSupported
	}
	p, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	return newPipeline(p, t.prepare), nil
}

// prepare makes args fit to be sent.
func (t *transport) prepare(args *raft.AppendEntriesRequest) {
	limitEntries(args)
	args.LeaderCommitIndex = t.committed(args.LeaderCommitIndex)
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
	t.stop()
	_ = t.layer.Close()
	t.gate.shut()
	t.layer.mux.closeKind(kindRaft)
}

// close ends the transport's goroutines and connections.
func (t *transport) close() error {
	t.shut()
	err := t.NetworkTransport.Close()
	t.CloseStreams()
	t.pumped.Wait()
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
	mux.handle(kindRaft, func(c *muxConn) {
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
