package consensus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// cluster is a site in one process. Every node keeps its file system and its
// address over restarts.
type cluster struct {
	t      testing.TB
	nodes  []*testNode // nil while a node is down
	fs     []vfs.FS
	addrs  []string
	net    *faultNet
	change func(i int, c *Config)
}

// newCluster starts n nodes that form a site.
func newCluster(t testing.TB, n int, change func(i int, c *Config)) *cluster {
	t.Helper()
	return startCluster(t, n, nil, change)
}

// newFaultyCluster is newCluster over a network that the test can disturb.
func newFaultyCluster(t testing.TB, n int, change func(i int, c *Config)) *cluster {
	t.Helper()
	return startCluster(t, n, newFaultNet(), change)
}

func startCluster(t testing.TB, n int, net *faultNet, change func(i int, c *Config)) *cluster {
	t.Helper()
	c := &cluster{t: t, nodes: make([]*testNode, n), fs: make([]vfs.FS, n), addrs: make([]string, n), net: net, change: change}
	for i := range n {
		c.fs[i] = vfs.NewMem()
		c.addrs[i] = freeAddr(t)
	}
	for i := range n {
		c.start(i)
	}
	t.Cleanup(c.close)
	return c
}

var lastPort atomic.Uint32

func init() { lastPort.Store(rand.Uint32N(firstPort)) }

// firstPort is below the ports that systems give to outgoing connections: one of those could take an address between
// freeAddr and the node's start.
const firstPort = 20_000

// freeAddr finds a port that nobody listens on now, another one at each call.
func freeAddr(t testing.TB) string {
	t.Helper()
	var last error
	for range 100 {
		m, err := listenPeers("", fmt.Sprintf("127.0.0.1:%d", firstPort+lastPort.Add(1)%12_000), "", nil, testLogger())
		if err == nil {
			defer m.close()
			return m.advertise
		}
		last = err
	}
	t.Fatal(last)
	return ""
}

func (c *cluster) config(i int) func(*Config) {
	return func(cfg *Config) {
		cfg.PeerAddr = c.addrs[i]
		cfg.Join = c.addrs
		cfg.BootstrapExpect = len(c.addrs)
		cfg.LeaderWait = 10 * time.Second
		cfg.PeerTimeout = 2 * time.Second
		if c.net != nil {
			cfg.faults = c.net.node(c.addrs[i])
		}
		if c.change != nil {
			c.change(i, cfg)
		}
	}
}

func (c *cluster) start(i int) *testNode {
	c.t.Helper()
	n, err := openNode(c.t, c.fs[i], c.config(i))
	if err != nil {
		c.t.Fatalf("start node %d: %v", i, err)
	}
	c.nodes[i] = n
	return n
}

func (c *cluster) stop(i int) {
	if n := c.nodes[i]; n != nil {
		c.nodes[i] = nil
		n.close()
	}
}

func (c *cluster) close() {
	for i := range c.nodes {
		c.stop(i)
	}
}

// leader waits until one node leads and returns its number.
func (c *cluster) leader() int {
	c.t.Helper()
	leader := -1
	c.eventually("a leader", func() bool {
		for i, n := range c.nodes {
			if n != nil && n.IsLeader() {
				leader = i
				return true
			}
		}
		return false
	})
	return leader
}

// leaderBut waits until a node other than old leads.
func (c *cluster) leaderBut(old int) int {
	c.t.Helper()
	next := -1
	c.eventually("the next leader", func() bool {
		for i, n := range c.nodes {
			if i != old && n != nil && n.IsLeader() {
				next = i
			}
		}
		return next >= 0
	})
	return next
}

// follower returns a node that is up and does not lead.
func (c *cluster) follower() int {
	c.t.Helper()
	leader := c.leader()
	for i, n := range c.nodes {
		if n != nil && i != leader {
			return i
		}
	}
	c.t.Fatal("no follower")
	return -1
}

// eventually polls ok, which other goroutines make true.
func (c *cluster) eventually(what string, ok func() bool) {
	c.t.Helper()
	eventually(c.t, what, ok)
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// equalStates waits until all nodes that are up have applied everything and are
// at the same index, and compares their states.
func (c *cluster) equalStates() {
	c.t.Helper()
	ctx := testContext(c.t)
	index, err := c.nodes[c.leader()].ReadIndex(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	for i, n := range c.nodes {
		if n == nil {
			continue
		}
		if err := n.WaitApplied(ctx, index); err != nil {
			c.t.Fatalf("node %d: %v", i, err)
		}
	}
	c.eventually("all nodes at one index", func() bool {
		var at uint64
		var want string
		for i, n := range c.nodes {
			if n == nil {
				continue
			}
			index, hash := n.kv.position()
			switch {
			case at == 0:
				at, want = index, hash
			case index != at:
				return false // late commands of clients that gave up
			case hash != want:
				c.t.Fatalf("node %d has another state at index %d", i, at)
			}
		}
		return true
	})
}

func (c *cluster) incs(i, n int) {
	c.t.Helper()
	for range n {
		c.nodes[i].do(kvCommand{Op: "inc", Key: "n"})
	}
}

func TestThreeNodesFormASite(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader := c.leader()
	if got := c.nodes[leader].Status().Nodes; len(got) != 3 {
		t.Fatalf("members: got %+v", got)
	}
	c.incs(leader, 5)
	c.incs(c.follower(), 5) // forwarded
	c.equalStates()
	for i, n := range c.nodes {
		if got := n.kv.value("n"); got != "10" {
			t.Errorf("node %d: counter %s, want 10", i, got)
		}
	}
}

func TestFollowerReadsLinearly(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader, follower := c.nodes[c.leader()], c.nodes[c.follower()]
	for i := range 50 {
		want := fmt.Sprint(i)
		leader.do(kvCommand{Op: "set", Key: "a", Value: want})
		if err := follower.Barrier(testContext(t)); err != nil {
			t.Fatal(err)
		}
		if got := follower.kv.value("a"); got != want {
			t.Fatalf("follower reads %s after %s was acknowledged", got, want)
		}
	}
}

func TestFailoverKeepsEverything(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader := c.leader()
	c.incs(leader, 20)
	c.stop(leader)
	survivor := c.follower()
	c.incs(survivor, 20)
	c.start(leader)
	c.equalStates()
	if got := c.nodes[leader].kv.value("n"); got != "40" {
		t.Errorf("counter: got %s, want 40", got)
	}
}

func TestNoQuorum(t *testing.T) {
	c := newCluster(t, 3, func(_ int, cfg *Config) { cfg.LeaderWait = 300 * time.Millisecond })
	leader := c.leader()
	survivor := c.follower()
	for i := range c.nodes {
		if i != survivor {
			c.stop(i)
		}
	}
	n := c.nodes[survivor]
	c.eventually("a refused write", func() bool {
		// A leader of the old quorum may still take it and lose it again.
		_, err := n.Propose(testContext(t), kvCommand{Op: "get"}.encode())
		if err == nil {
			t.Fatal("a write was acknowledged without a quorum")
		}
		return errors.Is(err, ErrNoLeader)
	})
	if _, err := n.ReadIndex(testContext(t)); !errors.Is(err, ErrNoLeader) {
		t.Errorf("read index: got %v, want ErrNoLeader", err)
	}
	c.start(leader)
	c.incs(c.leader(), 1)
}

func TestTransferLeadership(t *testing.T) {
	c := newCluster(t, 3, nil)
	for range envInt("CAIRN_TRANSFER_ROUNDS", 4) {
		from, to := c.leader(), c.follower()
		asked := c.nodes[(from+1)%3] // any node may be asked
		if err := asked.TransferLeadership(testContext(t), c.nodes[to].NodeID()); err != nil {
			t.Fatal(err)
		}
		c.eventually("the new leader", c.nodes[to].IsLeader)
		c.incs(from, 3)
	}
	c.equalStates()
	if err := c.nodes[0].TransferLeadership(testContext(t), "01ARZ3NDEKTSV4RRFFQ69G5FAV"); err == nil {
		t.Error("leadership was given to a stranger")
	}
}

// compactNow removes everything that a snapshot covers from the log of node i.
func (c *cluster) compactNow(i int) {
	c.t.Helper()
	c.eventually("a snapshot", func() bool { return c.nodes[i].inst.Load().raft.Snapshot().Error() == nil })
}

func TestFollowerGetsFiles(t *testing.T) {
	c := newCluster(t, 3, func(_ int, cfg *Config) { cfg.TrailingEntries = -1 })
	behind := c.follower()
	c.incs(c.leader(), 5)
	c.stop(behind)
	leader := c.leader()
	c.incs(leader, 200)
	c.compactNow(leader)
	c.incs(leader, 5)
	n := c.start(behind)
	c.equalStates()
	if got := n.kv.value("n"); got != "210" {
		t.Errorf("counter: got %s, want 210", got)
	}
	if n.kv.gen == 1 {
		t.Error("the state came from the log: nothing was installed")
	}
	c.eventually("the copies to be removed", c.noCopies)
	c.stop(behind)
	c.start(behind)
	c.equalStates()
}

// noCopies reports whether no node holds a copy of a state on disk.
func (c *cluster) noCopies() bool {
	for _, fs := range c.fs {
		for _, dir := range []string{"raft/incoming", "raft/outgoing"} {
			if names, err := fs.List(dir); err == nil && len(names) > 0 {
				return false
			}
		}
	}
	return true
}

// TestInstalledNodeGoesOn keeps some entries in every log, so that a node that
// got files has an old log that ends before them.
func TestInstalledNodeGoesOn(t *testing.T) {
	c := newCluster(t, 3, func(_ int, cfg *Config) { cfg.TrailingEntries = 8 })
	behind := c.follower()
	c.incs(c.leader(), 20)
	if err := c.nodes[behind].Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	c.stop(behind)
	leader := c.leader()
	c.incs(leader, 100)
	c.compactNow(leader)
	n := c.start(behind)
	c.equalStates()
	c.incs(c.leader(), 5)
	c.equalStates()
	if n.kv.gen == 1 {
		t.Error("the state came from the log: nothing was installed")
	}
	if got := metricValue(t, n.metrics.restarts); got != 0 {
		t.Errorf("restarts of raft: got %v, want 0", got)
	}
}

// TestRestoreLoopIsBroken is hashicorp/raft issue 697: an old leader with a
// long uncommitted tail gets a snapshot that ends before the tail's end.
func TestRestoreLoopIsBroken(t *testing.T) {
	c := newFaultyCluster(t, 3, func(_ int, cfg *Config) { cfg.TrailingEntries = -1 })
	old := c.leader()
	c.incs(old, 5)
	c.net.isolate(c.addrs[old])
	// The tail: entries that only the old leader has.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { _, _ = c.nodes[old].Propose(ctx, kvCommand{Op: "set", Key: "lost"}.encode()) })
	}
	tail := c.nodes[old]
	c.eventually("the tail", func() bool { _, last := logBounds(t, tail); return last >= 100 })
	next := c.leaderBut(old)
	c.incs(next, 5)
	c.compactNow(next)
	c.net.heal()
	cancel()
	wg.Wait()
	c.equalStates()
	c.incs(c.leader(), 5)
	c.equalStates()
	if got := metricValue(t, tail.metrics.restarts); got != 1 {
		t.Errorf("restarts of raft: got %v, want 1: the loop did not come about or was not broken", got)
	}
}

func metricValue(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetCounter().GetValue() + out.GetGauge().GetValue()
}

func TestCloseHandsOver(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader := c.leader()
	changes := c.nodes[(leader+1)%3].LeaderChanges()
	other := c.nodes[(leader+2)%3].LeaderChanges()
	c.stop(leader)
	select {
	case <-changes:
	case <-other:
	case <-testContext(t).Done():
		t.Fatal("nobody took over")
	}
	c.incs(c.follower(), 1)
}

func TestDifferentStateHalts(t *testing.T) {
	c := newCluster(t, 3, nil)
	bad := c.follower()
	n := c.nodes[bad]
	c.incs(c.leader(), 3)
	if err := n.Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	n.kv.mu.Lock()
	n.kv.hash = []byte("bit rot")
	n.kv.mu.Unlock()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range hashEvery / 64 {
				c.nodes[c.leader()].do(kvCommand{Op: "inc", Key: "n"})
			}
		})
	}
	wg.Wait()
	c.incs(c.leader(), 1)
	c.eventually("the halt", func() bool { return n.Status().Halted != "" })
	for i, m := range c.nodes {
		if i != bad && m.Status().Halted != "" {
			t.Errorf("node %d halted too: %s", i, m.Status().Halted)
		}
	}
	c.incs(c.leader(), 1)
}
