package clusterbench

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// staleReads is the number of reads that have to be answered.
const staleReads = 1000

// stale stops the leader, writes through its successor, and lets the old one go on with reads that already wait in its
// socket: it still takes itself for the leader then.
func (b *bench) stale(ctx context.Context, cairn *site) error {
	read, stale, failed := 0, 0, 0
	each := staleReads / b.sizes.stops
	for round := 0; read < staleReads; round++ {
		if round > 4*b.sizes.stops {
			return fmt.Errorf("only %d of %d reads were answered", read, staleReads)
		}
		r, s, f, err := staleRound(ctx, cairn, round, min(each, staleReads-read))
		if err != nil {
			return err
		}
		read, stale, failed = read+r, stale+s, failed+f
	}
	b.Progress(fmt.Sprintf("%d reads answered, %d stale, %d refused", read, stale, failed))
	b.out.put("stale_linear_reads", rounds{float64(stale)}, nil)
	return nil
}

// staleRound does n reads and gives how many were answered, stale and refused.
func staleRound(ctx context.Context, t *site, round, n int) (read, stale, failed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	old, err := t.leader(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	reader, err := dial(ctx, t.system.client(old))
	if err != nil {
		return 0, 0, 0, err
	}
	defer reader.close()
	key := "stale"
	if _, err := reader.call(ctx, opPut, putCommand(key, fmt.Appendf(nil, "old %d", round))); err != nil {
		return 0, 0, 0, err
	}
	victim := t.procs[old].cmd.Process
	if err := victim.Signal(syscall.SIGSTOP); err != nil {
		return 0, 0, 0, err
	}
	defer func() { _ = victim.Signal(syscall.SIGCONT) }()
	next, err := t.leader(ctx, old)
	if err != nil {
		return 0, 0, 0, err
	}
	writer, err := dial(ctx, t.system.client(next))
	if err != nil {
		return 0, 0, 0, err
	}
	defer writer.close()
	want := fmt.Appendf(nil, "new %d", round)
	if _, err := writer.call(ctx, opPut, putCommand(key, want)); err != nil {
		return 0, 0, 0, err
	}
	var mu sync.Mutex
	var readers sync.WaitGroup
	for range n {
		readers.Go(func() {
			got, err := reader.call(ctx, opGet, []byte(key))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed++
			case bytes.Equal(got, want):
				read++
			default:
				read, stale = read+1, stale+1
			}
		})
	}
	// The requests need a moment to reach the socket of the stopped process.
	if err := pause(ctx, 100*time.Millisecond); err != nil {
		return 0, 0, 0, err
	}
	if err := victim.Signal(syscall.SIGCONT); err != nil {
		return 0, 0, 0, err
	}
	readers.Wait()
	return read, stale, failed, nil
}
