package consensus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

func TestProposeAndRead(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	first := n.do(kvCommand{Op: "set", Key: "a", Value: "1"})
	second := n.do(kvCommand{Op: "set", Key: "a", Value: "2"})
	if string(second.Value) != "1" || second.Index <= first.Index {
		t.Fatalf("second set: got %q at %d after %d", second.Value, second.Index, first.Index)
	}
	index, err := n.ReadIndex(testContext(t))
	if err != nil || index < second.Index {
		t.Fatalf("read index: got %d, %v, want at least %d", index, err, second.Index)
	}
	if err := n.WaitApplied(testContext(t), index); err != nil {
		t.Fatal(err)
	}
	if got := n.kv.value("a"); got != "2" {
		t.Errorf("local value: got %q, want 2", got)
	}
	s := n.Status()
	if s.Leader != n.NodeID() || s.Applied != s.Commit || len(s.Nodes) != 1 || s.Nodes[0].Role != RoleLeader || !s.Nodes[0].Healthy {
		t.Errorf("status: got %+v", s)
	}
}

func TestProposeRejects(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "set", Key: "a"})
	before := n.Status().LastLog
	for name, tc := range map[string]struct {
		command []byte
		want    error
	}{
		"empty":     {nil, ErrEmptyCommand},
		"too large": {make([]byte, MaxCommandBytes+1), ErrTooLarge},
	} {
		if _, err := n.Propose(testContext(t), tc.command); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
	if after := n.Status().LastLog; after != before {
		t.Errorf("log grew from %d to %d", before, after)
	}
}

func TestLargestCommandIsAccepted(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	c := kvCommand{Op: "set", Key: "big"}
	c.Value = string(bytes.Repeat([]byte("x"), MaxCommandBytes-len(c.encode())-len(`,"Value":""`)))
	if got := len(c.encode()); got != MaxCommandBytes {
		t.Fatalf("test builds %d bytes", got)
	}
	n.do(c)
}

func TestRestartKeepsEverything(t *testing.T) {
	fs := vfs.NewMem()
	n := startNode(t, fs, nil)
	id := n.NodeID()
	for i := range 50 {
		n.do(kvCommand{Op: "inc", Key: "n", Client: "c", Seq: uint64(i)})
	}
	hash := n.kv.StateHash()
	n.close()
	n = startNode(t, fs, nil)
	if n.NodeID() != id {
		t.Errorf("node id: got %s, want %s", n.NodeID(), id)
	}
	if err := n.Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := n.kv.value("n"); got != "50" {
		t.Errorf("counter: got %s, want 50", got)
	}
	if !bytes.Equal(n.kv.StateHash(), hash) {
		t.Error("state hash differs after the restart")
	}
}

// TestStateReplaysFromLog loses the unsynced state in a crash and keeps the
// synced log.
func TestStateReplaysFromLog(t *testing.T) {
	fs := vfs.NewCrashableMem()
	n := startNode(t, fs, nil)
	for range 20 {
		n.do(kvCommand{Op: "inc", Key: "n"})
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	n.close()
	n = startNode(t, crashed, nil)
	if err := n.Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := n.kv.value("n"); got != "20" {
		t.Errorf("counter: got %s, want 20", got)
	}
}

// TestCompactedLogRestarts compacts the log all the way to its end.
func TestCompactedLogRestarts(t *testing.T) {
	fs := vfs.NewCrashableMem()
	compact := func(c *Config) { c.TrailingEntries = -1 }
	n := startNode(t, fs, compact)
	for range 20 {
		n.do(kvCommand{Op: "inc", Key: "n"})
	}
	if err := n.inst.Load().raft.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}
	if first, last := logBounds(t, n); first != 0 || last != 0 {
		t.Errorf("log after compaction: %d to %d, want empty", first, last)
	}
	n.do(kvCommand{Op: "inc", Key: "n"})
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	n.close()

	n = startNode(t, crashed, compact)
	if err := n.Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := n.kv.value("n"); got != "21" {
		t.Errorf("counter: got %s, want 21", got)
	}
	n.do(kvCommand{Op: "inc", Key: "n"})
}

func logBounds(t *testing.T, n *testNode) (first, last uint64) {
	t.Helper()
	first, err := n.store.FirstIndex()
	if err != nil {
		t.Fatal(err)
	}
	last, err = n.store.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	return first, last
}

// TestAutomaticCompaction relies on the threshold alone.
func TestAutomaticCompaction(t *testing.T) {
	n := startNode(t, vfs.NewMem(), func(c *Config) {
		c.SnapshotEntries, c.SnapshotInterval, c.TrailingEntries = 10, 5*time.Millisecond, 5
	})
	ctx := testContext(t)
	for {
		n.do(kvCommand{Op: "inc", Key: "n"})
		if first, _ := logBounds(t, n); first > 10 {
			return
		}
		if ctx.Err() != nil {
			t.Fatal("the log was never compacted")
		}
	}
}

func TestForeignFoldersAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		remove string
		want   error
	}{
		"log lost":   {"raft", ErrStateAhead},
		"state lost": {"state", ErrStateBehind},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			n := startNode(t, fs, func(c *Config) { c.TrailingEntries = -1 })
			n.do(kvCommand{Op: "set", Key: "a", Value: "1"})
			if err := n.inst.Load().raft.Snapshot().Error(); err != nil {
				t.Fatal(err)
			}
			n.close()
			if err := fs.RemoveAll(tc.remove); err != nil {
				t.Fatal(err)
			}
			if n, err := openNode(t, fs, nil); !errors.Is(err, tc.want) {
				t.Errorf("open: got %v, %v, want %v", n, err, tc.want)
			}
		})
	}
}

func TestParallelProposals(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	const workers, each = 32, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				c := kvCommand{Op: "inc", Key: "n", Client: strconv.Itoa(w), Seq: uint64(i)}
				if _, err := n.Propose(testContext(t), c.encode()); err != nil {
					t.Errorf("propose: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := n.kv.value("n"); got != strconv.Itoa(workers*each) {
		t.Errorf("counter: got %s, want %d", got, workers*each)
	}
}

func TestBadCommandHaltsApply(t *testing.T) {
	fs := vfs.NewMem()
	n := startNode(t, fs, nil)
	n.do(kvCommand{Op: "set", Key: "a", Value: "1"})
	_, err := n.Propose(testContext(t), kvCommand{Op: "bad"}.encode())
	if !errors.Is(err, ErrHalted) || !errors.Is(err, errBadCommand) {
		t.Fatalf("bad command: got %v", err)
	}
	if _, err := n.Propose(testContext(t), kvCommand{Op: "set", Key: "a"}.encode()); !errors.Is(err, ErrHalted) {
		t.Errorf("after the halt: got %v, want ErrHalted", err)
	}
	if err := n.WaitApplied(testContext(t), n.Applied()+1); !errors.Is(err, ErrHalted) {
		t.Errorf("wait after the halt: got %v, want ErrHalted", err)
	}
	if n.IsLeader() || n.Status().Halted == "" {
		t.Errorf("status after the halt: leader %v, %+v", n.IsLeader(), n.Status())
	}
	if err := n.inst.Load().raft.Snapshot().Error(); err == nil {
		t.Error("a halted node compacted its log")
	}
}

func TestFullDiskRefusesWrites(t *testing.T) {
	fs := vfs.NewMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 100, AvailBytes: 50})
	n := startNode(t, fs, nil)
	n.do(kvCommand{Op: "set", Key: "a", Value: "1"})
	fs.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 100, AvailBytes: 10})
	n.checkHealth(time.Now())
	if _, err := n.Propose(testContext(t), kvCommand{Op: "set", Key: "a"}.encode()); !errors.Is(err, ErrStorageFull) {
		t.Errorf("full disk: got %v, want ErrStorageFull", err)
	}
	if _, err := n.ProposeFreeing(testContext(t), kvCommand{Op: "set", Key: "a"}.encode()); err != nil {
		t.Errorf("freeing on a full disk: %v", err)
	}
	if _, err := n.ReadIndex(testContext(t)); err != nil {
		t.Errorf("read on a full disk: %v", err)
	}
	fs.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 100, AvailBytes: 11})
	n.checkHealth(time.Now())
	n.do(kvCommand{Op: "set", Key: "a", Value: "2"})
}

func TestLeaderChanges(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	changes := n.LeaderChanges()
	if leading := <-changes; !leading {
		t.Fatal("first news: got false, want true")
	}
	if !n.IsLeader() {
		t.Error("IsLeader: got false after the news")
	}
	n.close()
	leading, open := <-changes
	if open && leading {
		t.Error("still leading after Close")
	}
}

func TestClose(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "set", Key: "a"})
	waited := make(chan error, 1)
	go func() { waited <- n.WaitApplied(context.Background(), 1<<40) }()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("wait across close: got %v, want ErrClosed", err)
	}
	if _, err := n.Propose(context.Background(), []byte("{}")); !errors.Is(err, ErrClosed) {
		t.Errorf("propose after close: got %v, want ErrClosed", err)
	}
	if _, err := n.ReadIndex(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("read after close: got %v, want ErrClosed", err)
	}
}

func TestNoSiteWithoutBootstrap(t *testing.T) {
	n := startNode(t, vfs.NewMem(), func(c *Config) {
		c.BootstrapExpect, c.LeaderWait = 0, 20*time.Millisecond
	})
	if _, err := n.Propose(testContext(t), []byte("{}")); !errors.Is(err, ErrNoLeader) {
		t.Errorf("propose: got %v, want ErrNoLeader", err)
	}
	if _, err := n.ReadIndex(testContext(t)); !errors.Is(err, ErrNoLeader) {
		t.Errorf("read index: got %v, want ErrNoLeader", err)
	}
}

func TestConfigProblemsAreReportedTogether(t *testing.T) {
	cfg := Config{PeerAddr: "0.0.0.0:1", PeerInsecure: true, HeartbeatTimeout: time.Millisecond, Join: []string{"nowhere"}}
	cfg.EnsureDefaults()
	err := cfg.Validate()
	for _, want := range []string{"Dir", "PeerInsecure", "HeartbeatTimeout", "nowhere"} {
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("validate: %q is not named in %v", want, err)
		}
	}
}

// TestRunnerCutsBatches checks what the state machine is given for a batch
// with a gap, two terms and entries it already has.
func TestRunnerCutsBatches(t *testing.T) {
	sm, err := openKV(vfs.NewMem(), "state")
	if err != nil {
		t.Fatal(err)
	}
	defer sm.Close()
	r := newRunner(sm, testLogger(), newMetrics(), nil)
	entry := func(index, term uint64) *raft.Log {
		return &raft.Log{Index: index, Term: term, Data: kvCommand{Op: "inc", Key: "n"}.encode()}
	}
	r.ApplyBatch([]*raft.Log{entry(1, 1), entry(2, 1)})
	got := r.ApplyBatch([]*raft.Log{
		entry(2, 1), entry(3, 1), entry(5, 1), entry(6, 2),
		{Index: 7, Term: 2, Type: raft.LogConfiguration, Data: []byte{1}}, {Index: 8, Term: 2},
	})
	if err := got[0].(applyResult).err; !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("entry applied before: got %v", err)
	}
	if want := "[2 1 1 3]"; fmt.Sprint(sm.batches) != want {
		t.Errorf("batches: got %v, want %s", sm.batches, want)
	}
	if value := sm.value("n"); value != "5" {
		t.Errorf("counter: got %s, want 5", value)
	}
	if index, term := sm.Applied(); index != 8 || term != 2 || r.applied.Load() != 8 {
		t.Errorf("applied: got %d, %d", index, term)
	}
}

func TestCollectors(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "inc", Key: "n"})
	registry := prometheus.NewPedanticRegistry()
	for _, c := range n.Collectors() {
		if err := registry.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		values[strings.TrimPrefix(f.GetName(), "cairn_raft_")] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	for _, name := range []string{ // what has a value on a leader that has written
		"commit_seconds", "sync_seconds", "apply_seconds", "append_entries", "apply_entries", "leader_changes_total", "leader", "log_disk_bytes",
	} {
		if values[name] <= 0 {
			t.Errorf("%s is %v", name, values[name])
		}
	}
	for _, name := range []string{
		"oldest_entry_age_seconds", "restores_total", "restarts_total", "state_mismatch_total", "apply_halted", "apply_lag", "disk_used_ratio", "disk_free_bytes",
		"log_l0_files", "log_compaction_debt_bytes",
	} {
		if _, ok := values[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	n.close()
	if _, err := registry.Gather(); err != nil {
		t.Errorf("gather after close: %v", err)
	}
}
