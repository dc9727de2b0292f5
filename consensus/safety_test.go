package consensus

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
	"github.com/oklog/ulid/v2"
)

// TestHalfBootstrap finds what a crash leaves between raft's two writes.
func TestHalfBootstrap(t *testing.T) {
	fs := vfs.NewMem()
	s, err := openLogStore(fs.PathJoin("raft", "log"), fs, pebbleLogger{out: testLogger()}, newMetrics())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.SetUint64(raftTermKey, 1), s.Close()); err != nil {
		t.Fatal(err)
	}
	startNode(t, fs, nil).do(kvCommand{Op: "inc", Key: "n"})
}

// TestNonvoterDoesNotConfirmTheLeader cuts a leader off together with a node
// that has no vote. Raft's own check counts that node's answer.
func TestNonvoterDoesNotConfirmTheLeader(t *testing.T) {
	c := newFaultyCluster(t, 2, func(_ int, cfg *Config) { cfg.LeaseTimeout = cfg.HeartbeatTimeout })
	leader := c.leader()
	l := c.nodes[leader]
	c.incs(leader, promoteLag+10)
	third := freeAddr(t)
	// A node that cannot apply stays behind and gets no vote.
	n := startNode(t, vfs.NewMem(), func(cfg *Config) {
		cfg.PeerAddr, cfg.Join, cfg.BootstrapExpect, cfg.faults = third, c.addrs, 0, c.net.node(third)
	})
	n.run.halt(errors.New("test"))
	c.eventually("the third node", func() bool { return len(l.Status().Nodes) == 3 })
	if voters := votersOf(l); voters != 2 {
		t.Fatalf("voters: got %d, want 2", voters)
	}
	r := l.inst.Load().raft
	term := r.CurrentTerm()
	if err := l.confirmLeader(testContext(t), r, term); err != nil {
		t.Fatalf("connected leader: %v", err)
	}
	c.net.isolate(c.addrs[1-leader])
	if err := l.confirmLeader(testContext(t), r, term); err == nil {
		t.Error("the leader was confirmed without a second voter")
	}
	t.Logf("raft's own check says: %v", r.VerifyLeader().Error())
}

func TestLeaderWithASlowClockHandsOver(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader := c.leader()
	n := c.nodes[leader]
	n.do(kvCommand{Op: "inc", Key: "n"})
	n.checkFitToLead(time.Now().Add(-maxClockLag + 5*time.Second))
	if !n.IsLeader() {
		t.Fatal("handed over within the tolerance")
	}
	n.checkFitToLead(time.Now().Add(-maxClockLag - 5*time.Second))
	c.leaderBut(leader)
}

func TestHaltedLeaderHandsOver(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader := c.leader()
	c.nodes[leader].run.halt(errors.New("test"))
	c.nodes[leader].checkHealth(time.Now())
	next := c.leaderBut(leader)
	c.incs(next, 3)
}

// TestGateWaitsForHeartbeats is hashicorp/raft issue 717: no heartbeat may be
// served once the stores are about to close.
func TestGateWaitsForHeartbeats(t *testing.T) {
	var g gate
	inside, leave := make(chan struct{}), make(chan struct{})
	var served atomic.Bool
	go g.pass(func() {
		close(inside)
		<-leave
		served.Store(true)
	})
	<-inside
	shut := make(chan bool)
	go func() {
		g.shut()
		shut <- served.Load()
	}()
	close(leave)
	if !<-shut {
		t.Error("the gate closed while a heartbeat was served")
	}
	if g.pass(func() { t.Error("served behind the gate") }) {
		t.Error("the gate is open after it was shut")
	}
}

// TestCloseUnderHeartbeats closes followers while the leader is busy.
func TestCloseUnderHeartbeats(t *testing.T) {
	c := newCluster(t, 3, func(_ int, cfg *Config) { cfg.HeartbeatTimeout, cfg.LeaseTimeout = 50*time.Millisecond, 0 })
	ctx, cancel := context.WithCancel(testContext(t))
	done := make(chan struct{})
	leader := c.leader()
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, _ = c.nodes[leader].Propose(ctx, kvCommand{Op: "inc", Key: "n"}.encode())
		}
	}()
	for range 3 {
		for i := range c.nodes {
			if i != leader {
				c.stop(i)
				c.start(i)
			}
		}
	}
	cancel()
	<-done
	c.equalStates()
}

// TestRaftForgetsMembersWithRestoreCommittedLogs shows why that option is off.
func TestRaftForgetsMembersWithRestoreCommittedLogs(t *testing.T) {
	fs := vfs.NewMem()
	n := startNode(t, fs, nil)
	n.do(kvCommand{Op: "inc", Key: "n"})
	cfg := n.raftConfig()
	n.close()
	s, err := openLogStore(fs.PathJoin("raft", "log"), fs, pebbleLogger{out: testLogger()}, newMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cfg.RestoreCommittedLogs = true
	_, trans := raft.NewInmemTransport("")
	got, err := raft.GetConfiguration(cfg, nopFSM{}, committedStore{s}, s, raft.NewInmemSnapshotStore(), trans)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Servers) > 0 {
		t.Errorf("raft keeps its members now: %v. RestoreCommittedLogs can be switched on", got.Servers)
	}
}

// committedStore says that everything stored is committed.
type committedStore struct{ *logStore }

func (committedStore) StageCommitIndex(uint64) error     { return nil }
func (s committedStore) GetCommitIndex() (uint64, error) { return s.LastIndex() }

type nopFSM struct{ raft.FSM }

// TestStateMayBeAheadOfAnEmptiedLog stores what a leader sends to a follower
// whose state is further than the snapshot, and starts again.
func TestStateMayBeAheadOfAnEmptiedLog(t *testing.T) {
	fs := vfs.NewMem()
	n := startNode(t, fs, nil)
	for range 20 {
		n.do(kvCommand{Op: "inc", Key: "n"})
	}
	index := n.Applied() - 5
	members := raft.Configuration{Servers: n.inst.Load().members()}
	sink, err := n.snaps.Create(1, index, 2, members, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sink.Write([]byte(noTicket))
	if err = errors.Join(err, sink.Close()); err != nil {
		t.Fatal(err)
	}
	first, last := logBounds(t, n)
	if err := n.store.DeleteRange(first, last); err != nil {
		t.Fatal(err)
	}
	n.close()
	n = startNode(t, fs, nil)
	if got := n.kv.value("n"); got != "20" {
		t.Errorf("counter: got %s, want 20", got)
	}
}

// TestGivenUpRestoreLeavesNothing ages a copy that was never used.
func TestGivenUpRestoreLeavesNothing(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "inc", Key: "n"})
	ticket := ulid.Make().String()
	n.expectRestore(ticket)
	if _, err := n.incoming.receive(ticket, n.keptTickets, bytes.NewReader(backupOf(t, n))); err != nil {
		t.Fatal(err)
	}
	n.dropOldRestores(time.Now())
	if got := n.incoming.complete(); len(got) != 1 {
		t.Fatalf("copies: got %v", got)
	}
	n.dropOldRestores(time.Now().Add(restoreWait + time.Minute))
	if got := n.incoming.complete(); len(got) != 0 {
		t.Errorf("copies after an hour: got %v", got)
	}
}

// TestCopiesWithoutASnapshotGo: one that nothing refers to goes when it is said to be unused, and else after an hour.
func TestCopiesWithoutASnapshotGo(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "inc", Key: "n"})
	receive := func() string {
		t.Helper()
		ticket := ulid.Make().String()
		if _, err := n.incoming.receive(ticket, n.keptTickets, bytes.NewReader(backupOf(t, n))); err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	first := receive()
	n.unusedCopy(noTicket)
	n.unusedCopy("../" + first)
	if got := n.incoming.complete(); len(got) != 1 {
		t.Fatalf("copies: got %v", got)
	}
	n.unusedCopy(first)
	if got := n.incoming.complete(); len(got) != 0 {
		t.Errorf("an unused copy stays: %v", got)
	}
	second := receive()
	n.expectRestore(second)
	n.unusedCopy(second)
	if got := n.incoming.complete(); len(got) != 1 {
		t.Errorf("a copy that a restore waits for was removed: %v", got)
	}
	n.dropRestore(func(ticket string) bool { return ticket == second })
	receive()
	n.dropOldRestores(time.Now().Add(restoreWait - time.Minute))
	if got := n.incoming.complete(); len(got) != 1 {
		t.Errorf("copies within the hour: %v", got)
	}
	n.dropOldRestores(time.Now().Add(restoreWait + time.Minute))
	if got := n.incoming.complete(); len(got) != 0 {
		t.Errorf("copies after an hour: %v", got)
	}
}

// TestRaftIsRenewed starts raft anew as the last means against a restore loop.
func TestRaftIsRenewed(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "inc", Key: "n"})
	before := n.inst.Load()
	for range restoreLoopLimit - 1 {
		n.watchRestores(1)
	}
	n.watchRestores(2)
	if n.inst.Load() != before || metricValue(t, n.metrics.restarts) != 0 {
		t.Fatal("raft was started anew too early")
	}
	for range restoreLoopLimit - 1 {
		n.watchRestores(2)
	}
	eventually(t, "another run of raft", func() bool { return n.inst.Load() != before })
	n.do(kvCommand{Op: "inc", Key: "n"})
}
