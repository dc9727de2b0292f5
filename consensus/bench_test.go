package consensus

import (
	"fmt"
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
			command := kvCommand{Op: "set", Key: "k", Value: string(make([]byte, 2<<10))}.encode()
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			done := make(chan error, parallel)
			for range parallel {
				go func() {
					for left.Add(-1) >= 0 {
						if _, err := n.Propose(ctx, command); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for range parallel {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
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
