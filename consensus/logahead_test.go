package consensus

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// TestLeaderSendsWhileItSyncs hangs the leader's disk: its entry reaches the
// others' logs meanwhile, but nobody applies or acknowledges what the leader
// itself may lose.
func TestLeaderSendsWhileItSyncs(t *testing.T) {
	var disks [3]stallFS
	c := newFaultyCluster(t, 3, func(i int, cfg *Config) {
		cfg.StallTimeout = time.Hour
		cfg.fs = disks[i].wrap(cfg.fs)
	})
	leader := c.leader()
	c.incs(leader, 3)
	index := c.nodes[leader].store.mustLast(t)
	release := disks[leader].stall()
	answered := make(chan error, 1)
	go func() {
		_, err := c.nodes[leader].Propose(testContext(t), kvCommand{Op: "set", Key: "a"}.encode())
		answered <- err
	}()
	for i, n := range c.nodes {
		c.eventually("the entry in every log", func() bool { return n.store.mustLast(t) > index })
		if i == leader {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		if err := n.WaitApplied(ctx, index+1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("node %d applied an entry that is not on the leader's disk: %v", i, err)
		}
		cancel()
	}
	if len(answered) > 0 {
		t.Error("answered before the leader's sync")
	}
	if got := c.nodes[leader].Applied(); got > index {
		t.Errorf("the leader applied %d, its disk has %d", got, index)
	}
	release()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		if err := n.WaitApplied(testContext(t), index+1); err != nil {
			t.Error(err)
		}
	}
}

// mustLast is the index of the last entry.
func (s *logStore) mustLast(t *testing.T) uint64 {
	t.Helper()
	last, err := s.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// aheadStore is a leader's log on a disk that can be stalled.
func aheadStore(t *testing.T) (*logStore, *stallFS) {
	t.Helper()
	disk := new(stallFS)
	s, err := openLogStore("raft/log", disk.wrap(vfs.NewMem()), pebbleLogger{out: testLogger(), onFatal: func(err error) { panic(err) }}, newMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.broken = testMutation()
	s.ahead = func() bool { return true }
	return s, disk
}

// TestOwnSyncBeforeAnotherLeadersEntries: raft acknowledges entries that it
// finds in its log, so it must not see the request while they are synced.
func TestOwnSyncBeforeAnotherLeadersEntries(t *testing.T) {
	s, disk := aheadStore(t)
	release := disk.stall()
	entry := &raft.Log{Index: 1, Term: 1, Data: []byte("a")}
	if err := s.StoreLogs([]*raft.Log{entry}); err != nil {
		t.Fatal(err)
	}
	trans := &transport{requests: make(chan raft.RPC, 2), flush: s.flush}
	trans.quit, trans.stop = context.WithCancel(context.Background())
	defer trans.stop()
	if s.broken == mutationNoFlush {
		trans.flush = func() {}
	}
	trans.receive(raft.RPC{Command: &raft.AppendEntriesRequest{LeaderCommitIndex: 1}})
	if len(trans.requests) != 1 {
		t.Error("a request without entries had to wait")
	}
	<-trans.requests
	done := make(chan struct{})
	go func() {
		defer close(done)
		trans.receive(raft.RPC{Command: &raft.AppendEntriesRequest{Entries: []*raft.Log{entry}}})
	}()
	select {
	case <-trans.requests:
		t.Error("the request passed while the sync was under way")
	case <-time.After(100 * time.Millisecond):
	}
	release()
	<-done
}

// TestLogAheadIsBounded: the second batch waits for the first, and entries that
// change the members for their own sync.
func TestLogAheadIsBounded(t *testing.T) {
	s, disk := aheadStore(t)
	store := func(e *raft.Log) <-chan error {
		done := make(chan error, 1)
		go func() { done <- s.StoreLogs([]*raft.Log{e}) }()
		return done
	}
	if err := <-store(&raft.Log{Index: 1, Term: 1}); err != nil {
		t.Fatal(err)
	}
	s.flush()
	release := disk.stall()
	if err := <-store(&raft.Log{Index: 2, Term: 1}); err != nil {
		t.Fatal(err)
	}
	second := store(&raft.Log{Index: 3, Term: 1})
	eventually(t, "the second batch", func() bool { return s.mustLast(t) == 3 })
	select {
	case <-second:
		t.Error("two batches ran ahead of the disk")
	default:
	}
	if got := s.committed(3); got != 1 {
		t.Errorf("committed %d, on disk is 1", got)
	}
	release()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if err := s.awaitDurable(3); err != nil || s.committed(3) != 3 {
		t.Errorf("after the sync: committed %d, %v", s.committed(3), err)
	}
	release = disk.stall()
	members := store(&raft.Log{Index: 4, Term: 1, Type: raft.LogConfiguration})
	eventually(t, "the sync of members", func() bool { return s.stalledFor(time.Now()) > 0 })
	if got := s.mustLast(t); got != 3 {
		t.Errorf("an entry that changes the members is visible before its sync: last is %d", got)
	}
	release()
	if err := <-members; err != nil {
		t.Fatal(err)
	}
}
