package clusterbench

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// The pace of probes.
const (
	failoverEvery = 20 * time.Millisecond
	handOverEvery = 5 * time.Millisecond
)

// failover kills leaders of both systems in turn, then lets Cairn's hand over.
func (b *bench) failover(ctx context.Context, cairn, etcd *site) error {
	var ours, theirs, gaps rounds
	for trial := range b.sizes.trials {
		ms, err := killLeader(ctx, cairn)
		if err != nil {
			return err
		}
		ours = append(ours, ms)
		if etcd != nil {
			if ms, err = killLeader(ctx, etcd); err != nil {
				return err
			}
			theirs = append(theirs, ms)
		}
		if ms, err = handOver(ctx, cairn); err != nil {
			return err
		}
		gaps = append(gaps, ms)
		b.Progress(fmt.Sprintf("trial %d: cairn %.0f ms, etcd %.0f ms, hand-over %.0f ms", trial+1, last(ours), last(theirs), ms))
	}
	killed := ours.median()
	if etcd != nil {
		row := b.out
		row.compared("failover_vs_etcd", "failover_ms", ours, theirs)
		// Trials are not pairs: the bar is on the ratio of the medians.
		r := row["failover_vs_etcd"]
		r.Value = killed / theirs.median()
		row["failover_vs_etcd"] = r
	} else {
		b.out.put("failover_ms", ours, nil)
	}
	var share rounds
	for _, g := range gaps {
		share = append(share, g/killed)
	}
	b.out.put("planned_gap_vs_kill", share, nil)
	b.out.put("planned_gap_ms", gaps, &killed)
	return nil
}

// killLeader kills the leader and gives the milliseconds until a write that began afterwards is acknowledged by another
// node. The site is whole again afterwards.
func killLeader(ctx context.Context, t *site) (float64, error) {
	return t.losing(ctx, failoverEvery, func(victim int, p *probing) (float64, error) {
		start := time.Now()
		t.procs[victim].kill()
		var first time.Time
		err := p.until(ctx, func(acks []ack) bool {
			for _, a := range acks {
				if a.begin.After(start) {
					first = a.end
					return true
				}
			}
			return false
		})
		return first.Sub(start).Seconds() * 1e3, err
	})
}

// handOver asks the leader to end and gives the longest pause between acknowledged writes in milliseconds.
func handOver(ctx context.Context, t *site) (float64, error) {
	return t.losing(ctx, handOverEvery, func(victim int, p *probing) (float64, error) {
		start := time.Now()
		if err := t.procs[victim].cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return 0, err
		}
		select {
		case <-t.procs[victim].done:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		over := time.Now().Add(500 * time.Millisecond)
		err := p.until(ctx, func(acks []ack) bool { return len(acks) > 0 && acks[len(acks)-1].end.After(over) })
		longest, before := time.Duration(0), start
		for _, a := range p.snapshot() {
			if a.end.After(start) {
				longest, before = max(longest, a.end.Sub(before)), a.end
			}
		}
		return longest.Seconds() * 1e3, err
	})
}

// losing runs fn while a follower is probed, then starts the old leader again and waits until it answers writes.
func (t *site) losing(ctx context.Context, every time.Duration, fn func(victim int, p *probing) (float64, error)) (float64, error) {
	leader, err := t.leader(ctx)
	if err != nil {
		return 0, err
	}
	p, err := t.probe((leader+1)%siteNodes, every, valueBytes)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	if err := p.until(ctx, func(acks []ack) bool { return len(acks) >= 50 }); err != nil {
		return 0, err
	}
	ms, err := fn(leader, p)
	if err != nil {
		return 0, errors.Join(err, errors.New(t.complaints()))
	}
	if err := t.start(leader); err != nil {
		return 0, err
	}
	return ms, t.whole(ctx, leader)
}

// whole waits until node i has written, which it can only when it has caught up, and a little longer.
func (t *site) whole(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	for {
		if _, err := t.run(ctx, i, LoadOptions{Op: "fill", Clients: 1, Size: valueBytes, Keys: 10}); err == nil {
			break
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%s: node %d does not come back: %w", t.system.name(), i, err)
		}
	}
	return pause(ctx, time.Second)
}
