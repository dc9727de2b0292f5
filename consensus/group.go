package consensus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// drainTimeout bounds how long Close waits for commands under way. Without a
// quorum the leader steps down within its lease and answers them.
const drainTimeout = 10 * time.Second

// Group is one node's membership in the site's Raft group. All methods are
// safe for concurrent use.
//
// Lock order: closeMu, instMu, runner.mu, then any other, which are leaves.
// runner.mu is held while the state machine is called.
type Group struct {
	cfg     Config
	id      string
	log     *slog.Logger
	metrics *metrics

	store    *logStore
	snaps    *snapshotStore
	incoming *incoming
	run      *runner
	mux      *peerMux
	client   *callClient
	addrs    *addressBook
	disk     *diskWatch
	bytes    *byteGate
	reads    readRounds
	reports  reports
	hurrier  hurrier
	lost     lostPeers

	instMu        sync.Mutex // held while inst is replaced
	inst          atomic.Pointer[instance]
	leaderChanged broadcast
	leaderSubs    leaderSubscribers
	reigns        reigns

	removed   atomic.Bool
	removedCh chan struct{}

	restoreMu    sync.Mutex
	restoreIndex uint64   // last snapshot installed
	restoreCount int      // how often in a row
	expected     []string // tickets of copies whose entries may come
	restored     []string // tickets of the last restores in the state

	stop  chan struct{} // closed when Close begins
	loops sync.WaitGroup

	callsMu sync.RWMutex
	closing bool
	calls   sync.WaitGroup // calls that wait for raft

	closeMu  sync.Mutex
	closed   bool
	closeErr error
}

// Open starts this node: it reads what is in cfg.Dir, checks that sm belongs
// to it, and begins to take part. With BootstrapExpect 1, no Join and an empty
// Dir it forms a new site of one node. Open returns before a leader is known.
//
// Errors wrap ErrCorrupt, ErrStateBehind or ErrStateAhead when the stored data
// cannot be used; nothing is changed in that case.
func Open(ctx context.Context, cfg Config, sm StateMachine) (*Group, error) {
	cfg.EnsureDefaults()
	cfg.Join = slices.Clone(cfg.Join) // the caller may reuse it
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := makeDir(cfg.fs, cfg.Dir); err != nil {
		return nil, fmt.Errorf("open consensus: %w", err)
	}
	if err := checkRemoved(&cfg); err != nil {
		return nil, err
	}
	id, err := nodeID(cfg.fs, cfg.Dir, cfg.NodeID)
	if err != nil {
		return nil, err
	}
	g := &Group{
		cfg: cfg, id: id, log: cfg.Logger.With("node", id), metrics: newMetrics(),
		disk:  &diskWatch{fs: cfg.fs, dir: cfg.Dir, percent: cfg.StorageFullPercent},
		bytes: &byteGate{capacity: maxBatchBytes},
		stop:  make(chan struct{}), removedCh: make(chan struct{}),
		hurrier: hurrier{wake: make(chan struct{}, 1)}, lost: newLostPeers(),
	}
	if err := g.openStores(sm); err != nil {
		return nil, err
	}
	if err := g.openPeers(); err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	if err := g.start(ctx); err != nil {
		return nil, errors.Join(err, g.mux.close(), g.store.Close())
	}
	return g, nil
}

// openStores opens the log and checks that the state fits to it.
func (g *Group) openStores(sm StateMachine) error {
	logger := pebbleLogger{out: g.log, onFatal: g.cfg.OnFatal}
	store, err := openLogStore(g.cfg.fs.PathJoin(g.cfg.Dir, "log"), g.cfg.fs, logger, g.metrics)
	if err != nil {
		return err
	}
	g.store = store
	store.broken = g.cfg.broken
	store.ahead = g.leads
	g.incoming = &incoming{fs: g.cfg.fs, dir: g.cfg.fs.PathJoin(g.cfg.Dir, "incoming")}
	g.snaps, err = openSnapshotStore(store, g.incoming)
	if err == nil {
		g.openRunner(sm)
		g.incoming.format = g.run.format()
		err = g.finishInstall()
	}
	if err == nil {
		err = g.checkState()
	}
	if err == nil {
		err = g.reconcileLog()
	}
	if err != nil {
		return errors.Join(err, store.Close())
	}
	return nil
}

func (g *Group) openRunner(sm StateMachine) {
	g.addrs = &addressBook{self: raft.ServerID(g.id), configured: g.members}
	g.run = newRunner(sm, g.log, g.metrics, g.snaps)
	g.run.broken = g.cfg.broken
	g.run.onDisk = g.store.awaitDurable
	g.snaps.applied = g.run.applied.Load
	g.run.onMembers = g.addrs.clear
	g.run.installer = g.installed
	g.run.restorer = g.applyRestore
}

// leads reports whether raft leads. Raft's main loop changes that, so that it
// stands still while that loop asks.
func (g *Group) leads() bool {
	in := g.inst.Load()
	return in != nil && in.raft.State() == raft.Leader
}

// members is the newest configuration; empty until raft runs.
func (g *Group) members() []raft.Server {
	if in := g.inst.Load(); in != nil {
		return in.members()
	}
	return nil
}

// finishInstall does what a crash has interrupted, after checking the files
// again, and remembers copies for a restore that may come.
func (g *Group) finishInstall() error {
	if err := g.removeOutgoing(); err != nil {
		return err
	}
	if s := g.snaps.latest(); s != nil && s.Pending != "" {
		if err := g.incoming.verify(s.Pending); err != nil {
			return err
		}
		if err := g.install(s); err != nil {
			return err
		}
	}
	if err := g.resumeRestore(); err != nil {
		return err
	}
	g.restoreMu.Lock()
	g.expected = g.incoming.complete()
	g.restoreMu.Unlock()
	return g.incoming.clean(g.keptTickets)
}

// checkState compares the state's index with the log and its snapshot.
func (g *Group) checkState() error {
	applied := g.run.applied.Load()
	last, err := g.store.LastIndex()
	if err != nil {
		return err
	}
	known := last
	if s := g.snaps.latest(); s != nil {
		known = max(known, s.Index, s.StateIndex)
		if applied < s.Index {
			return fmt.Errorf("open %s: state has index %d, the log starts after %d: %w; %s",
				g.cfg.Dir, applied, s.Index, ErrStateBehind, wayBack)
		}
	}
	if applied > known {
		return fmt.Errorf("open %s: state has index %d, the log ends at %d: %w; %s",
			g.cfg.Dir, applied, known, ErrStateAhead, wayBack)
	}
	return nil
}

// reconcileLog empties a log that does not continue the snapshot: one that ends
// before it, where the process ended between the snapshot and raft's own
// removal, or one with another entry at its place, an old leader's tail.
func (g *Group) reconcileLog() error {
	s := g.snaps.latest()
	first, err := g.store.FirstIndex()
	if err != nil || s == nil || first == 0 {
		return err
	}
	last, err := g.store.LastIndex()
	if err != nil || first == s.Index+1 {
		return err
	}
	var e raft.Log
	if first <= s.Index && last >= s.Index {
		if err := g.store.GetLog(s.Index, &e); err != nil || e.Term == s.Term {
			return err
		}
	}
	g.log.Info("log does not continue the snapshot and is emptied", "first", first, "last", last, "snapshot", s.Index)
	return g.store.DeleteRange(first, last)
}

// openPeers opens the peer port without serving it yet.
func (g *Group) openPeers() error {
	var secure *peerTLS
	if !g.cfg.PeerInsecure {
		var err error
		if secure, err = openPeerTLS(g.cfg.PeerTLS, g.log); err != nil {
			return err
		}
	}
	mux, err := listenPeers(g.id, g.cfg.PeerAddr, g.cfg.PeerAdvertise, secure, g.log)
	if err != nil {
		return err
	}
	g.mux = mux
	mux.ended = g.lost.note
	g.addrs.selfAddr = raft.ServerAddress(mux.advertise)
	g.client = newCallClient(func(ctx context.Context, addr string) (net.Conn, error) {
		return mux.dial(ctx, kindCalls, addr)
	}, g.cfg.PeerTimeout, g.cfg.faults)
	server := callServer{fn: g.answerCall, timeout: g.cfg.PeerTimeout}
	mux.handle(kindCalls, server.serve)
	mux.handle(kindSnapshot, g.receiveState)
	return nil
}

// start brings up raft and the loops.
func (g *Group) start(ctx context.Context) error {
	g.disk.look()
	in, err := g.startInstance()
	if err != nil {
		return err
	}
	g.inst.Store(in)
	g.mux.serve()
	g.loops.Go(g.watchHealth)
	g.loops.Go(g.announce)
	g.loops.Go(g.exchangeReports)
	g.loops.Go(g.hurry)
	g.loops.Go(g.watchLost)
	if in.aloneInSite(raft.ServerID(g.id)) {
		g.electNow(in)
	}
	return ctx.Err()
}

// NodeID is this node's ULID.
func (g *Group) NodeID() string { return g.id }

// PeerAddr is the host:port at which other nodes reach this one.
func (g *Group) PeerAddr() string { return g.mux.advertise }

// enter registers a call that waits for raft. Every nil answer needs a leave.
func (g *Group) enter() error {
	g.callsMu.RLock()
	defer g.callsMu.RUnlock()
	if g.closing {
		return ErrClosed
	}
	g.calls.Add(1)
	return nil
}

func (g *Group) leave() { g.calls.Done() }

// Close stops the node in the order that hashicorp/raft needs: no new calls,
// answer those under way, hand over the leadership, let no peer in, raft,
// connections, loops, database. It waits for everything it started and is
// idempotent.
func (g *Group) Close() error {
	g.closeMu.Lock()
	defer g.closeMu.Unlock()
	if g.closed {
		return g.closeErr
	}
	g.closed = true
	close(g.stop)
	g.run.waits.fail(ErrClosed)
	g.client.close()
	g.drain()
	g.instMu.Lock()
	g.handOver(g.inst.Load())
	g.inst.Load().stopNow()
	g.instMu.Unlock()
	err := g.mux.close()
	g.loops.Wait()
	g.leaderSubs.close()
	g.closeErr = errors.Join(err, g.store.Close())
	return g.closeErr
}

// handOver gives the leadership to another voter, so that the site need not
// notice by silence that this node is gone.
func (g *Group) handOver(in *instance) {
	if in.raft.State() != raft.Leader || in.aloneInSite(raft.ServerID(g.id)) {
		return
	}
	if err := in.raft.LeadershipTransfer().Error(); err != nil {
		g.log.Warn("leadership could not be handed over", "error", err)
	}
}

// drain refuses new calls and waits for those under way. Raft never answers
// some calls that it has queued when it shuts down, so this comes first.
func (g *Group) drain() {
	g.callsMu.Lock()
	g.closing = true
	g.callsMu.Unlock()
	done := make(chan struct{})
	go func() {
		g.calls.Wait()
		close(done)
	}()
	timer := time.NewTimer(drainTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		g.log.Warn("calls are still waiting; closing without their answers")
	}
}
