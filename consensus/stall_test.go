package consensus

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/hashicorp/raft"
)

// stallFS hangs every sync of the raft log while it is stalled.
type stallFS struct {
	gate atomic.Pointer[chan struct{}]
}

func (s *stallFS) wrap(fs vfs.FS) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if ch := s.gate.Load(); ch != nil && strings.HasPrefix(op.Path, "raft/log") &&
			(op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo) {
			<-*ch
		}
		return nil
	}))
}

// stall hangs syncs until the result is called.
func (s *stallFS) stall() (release func()) {
	ch := make(chan struct{})
	s.gate.Store(&ch)
	return func() {
		s.gate.Store(nil)
		close(ch)
	}
}

// TestDeposedLeaderDoesNotAnswerReads hangs a leader so that it does not notice
// its end, as SIGSTOP would, and reads from it after another leader has written.
func TestDeposedLeaderDoesNotAnswerReads(t *testing.T) {
	var disks [3]stallFS
	c := newFaultyCluster(t, 3, func(i int, cfg *Config) {
		cfg.StallTimeout = time.Hour
		cfg.fs = disks[i].wrap(cfg.fs)
	})
	old := c.leader()
	c.incs(old, 3)
	release := disks[old].stall()
	defer release()
	c.net.isolate(c.addrs[old])
	ctx, cancel := context.WithCancel(context.Background())
	var hung sync.WaitGroup
	defer func() { cancel(); hung.Wait() }()
	// The first sync runs beside raft's main loop, which waits for it in the second.
	for range 2 {
		before, _ := c.nodes[old].store.LastIndex()
		hung.Go(func() { _, _ = c.nodes[old].Propose(ctx, kvCommand{Op: "set", Key: "lost"}.encode()) })
		c.eventually("the hanging sync", func() bool {
			last, _ := c.nodes[old].store.LastIndex()
			return last > before && c.nodes[old].store.stalledFor(time.Now()) > 0
		})
	}
	res := c.nodes[c.leaderBut(old)].do(kvCommand{Op: "set", Key: "a", Value: "new"})
	if c.nodes[old].inst.Load().raft.State() != raft.Leader {
		t.Skip("the old leader noticed too early for this test")
	}
	read, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	if index, err := c.nodes[old].ReadIndex(read); err == nil && index < res.Index {
		t.Errorf("the old leader allows reads at %d, %d is acknowledged", index, res.Index)
	}
}

// TestHangingDiskEndsTheLeader is hashicorp/raft issue 503.
func TestHangingDiskEndsTheLeader(t *testing.T) {
	var disk stallFS
	fatal := make(chan error, 1)
	fs := vfs.NewMem()
	n := startNode(t, fs, func(c *Config) {
		c.fs = disk.wrap(fs)
		c.OnFatal = func(err error) {
			select {
			case fatal <- err:
			default:
			}
		}
	})
	n.do(kvCommand{Op: "set", Key: "a"})
	n.checkHealth(time.Now().Add(time.Hour))
	select {
	case err := <-fatal:
		t.Fatalf("an idle leader gave up: %v", err)
	default:
	}
	release := disk.stall()
	done := make(chan error, 1)
	go func() {
		_, err := n.Propose(context.Background(), kvCommand{Op: "set", Key: "a"}.encode())
		done <- err
	}()
	eventually(t, "the hanging sync", func() bool { return n.store.stalledFor(time.Now()) > 0 })
	n.checkHealth(time.Now().Add(n.cfg.StallTimeout / 2))
	if len(fatal) > 0 {
		t.Error("gave up too early")
	}
	n.checkHealth(time.Now().Add(n.cfg.StallTimeout + time.Second))
	if err := <-fatal; !strings.Contains(err.Error(), "hanging") {
		t.Errorf("fatal error: %v", err)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("propose: %v", err)
	}
}
