package consensus

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// BenchmarkPropose is one node with 2 KB commands on a real disk.
func BenchmarkPropose(b *testing.B) {
	for _, parallel := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("clients=%d", parallel), func(b *testing.B) {
			n := startNode(b, vfs.NewMem(), func(c *Config) { c.Dir, c.fs = b.TempDir(), vfs.Default })
			ctx := testContext(b)
			if err := n.Barrier(ctx); err != nil {
				b.Fatal(err)
			}
			command := kvCommand{Op: "set", Key: "k", Value: strings.Repeat("x", 2<<10)}.encode()
			b.ResetTimer()
			inParallel(b, parallel, func() error { _, err := n.Propose(ctx, command); return err })
		})
	}
}

// BenchmarkStoreLogs64 appends batches of 64 entries of 2 KB with a sync each.
func BenchmarkStoreLogs64(b *testing.B) {
	s := openBenchStore(b)
	next := uint64(1)
	data := make([]byte, 2<<10)
	b.SetBytes(64 * 2 << 10)
	for b.Loop() {
		batch := make([]*raft.Log, 64)
		for i := range batch {
			batch[i] = &raft.Log{Index: next, Term: 1, Data: data}
			next++
		}
		store(b, s, batch)
	}
}

// BenchmarkTruncate removes 8,192 entries of 256 bytes from the front.
func BenchmarkTruncate(b *testing.B) {
	s := openBenchStore(b)
	next := uint64(1)
	for b.Loop() {
		b.StopTimer()
		first, err := s.FirstIndex()
		if err != nil {
			b.Fatal(err)
		}
		for range 32 {
			batch := make([]*raft.Log, 256)
			for i := range batch {
				batch[i] = &raft.Log{Index: next, Term: 1, Data: make([]byte, 256)}
				next++
			}
			store(b, s, batch)
		}
		b.StartTimer()
		if err := s.DeleteRange(first, next-2); err != nil {
			b.Fatal(err)
		}
	}
}

func openBenchStore(b *testing.B) *logStore {
	b.Helper()
	s, err := openLogStore(b.TempDir(), vfs.Default, pebbleLogger{out: testLogger(), onFatal: func(err error) { panic(err) }}, newMetrics())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkCluster is three nodes with 2 KB commands on a real disk, written
// through the leader and through a follower, and read linearly at a follower.
func BenchmarkCluster(b *testing.B) {
	command := kvCommand{Op: "set", Key: "k", Value: strings.Repeat("x", 2<<10)}.encode()
	for _, clients := range []int{1, 64} {
		c := newCluster(b, 3, func(_ int, cfg *Config) {
			cfg.Dir, cfg.fs = b.TempDir(), vfs.Default
			cfg.HeartbeatTimeout, cfg.LeaseTimeout = 0, 0
		})
		leader, follower := c.nodes[c.leader()], c.nodes[c.follower()]
		ctx := testContext(b)
		b.Run(fmt.Sprintf("write/leader/clients=%d", clients), func(b *testing.B) {
			inParallel(b, clients, func() error { _, err := leader.Propose(ctx, command); return err })
		})
		b.Run(fmt.Sprintf("write/follower/clients=%d", clients), func(b *testing.B) {
			inParallel(b, clients, func() error { _, err := follower.Propose(ctx, command); return err })
		})
		b.Run(fmt.Sprintf("read/leader/clients=%d", clients), func(b *testing.B) {
			inParallel(b, clients, func() error { return leader.Barrier(ctx) })
		})
		b.Run(fmt.Sprintf("read/follower/clients=%d", clients), func(b *testing.B) {
			inParallel(b, clients, func() error { return follower.Barrier(ctx) })
		})
		c.close()
	}
}

// inParallel runs op b.N times, shared among clients.
func inParallel(b *testing.B, clients int, op func() error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error, clients)
	for range clients {
		go func() {
			for left.Add(-1) >= 0 {
				if err := op(); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range clients {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}
