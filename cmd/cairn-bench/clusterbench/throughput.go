package clusterbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// sites measures all that needs sites of three processes.
func (b *bench) sites(ctx context.Context) {
	prefixes := []string{"write_", "follower_", "linear_", "stale_", "failover_", "planned_", "idle_"}
	if !b.wanted(prefixes...) {
		return
	}
	cairn, etcd, err := b.startSites(ctx)
	if err != nil {
		for _, p := range prefixes {
			b.reasons[p] = err.Error()
		}
		return
	}
	defer cairn.stop()
	if etcd != nil {
		defer etcd.stop()
	}
	b.step(ctx, func(ctx context.Context) error { return b.throughput(ctx, cairn, etcd) }, "write_", "linear_")
	b.step(ctx, func(ctx context.Context) error { return b.follower(ctx, cairn) }, "follower_")
	b.step(ctx, func(ctx context.Context) error { return b.idle(ctx, cairn) }, "idle_")
	b.step(ctx, func(ctx context.Context) error { return b.stale(ctx, cairn) }, "stale_")
	b.step(ctx, func(ctx context.Context) error { return b.failover(ctx, cairn, etcd) }, "failover_", "planned_")
}

// startSites starts both systems; etcd's is nil without a peer.
func (b *bench) startSites(ctx context.Context) (cairn, etcd *site, err error) {
	ours, err := newCairn(b.Program, siteNodes)
	if err != nil {
		return nil, nil, err
	}
	if cairn, err = startSite(ctx, ours, siteNodes, b.dir); err != nil || b.peer == "" {
		return cairn, nil, err
	}
	theirs, err := newEtcd(b.peer)
	if err == nil {
		etcd, err = startSite(ctx, theirs, siteNodes, b.dir)
	}
	if err != nil {
		cairn.stop()
		return nil, nil, err
	}
	return cairn, etcd, nil
}

// loads are the measured loads in their order.
var loads = []struct {
	name    string
	op      string
	clients int
}{
	{"write_c1", "put", 1}, {"write_c8", "put", 8}, {"write_c64", "put", 64}, {"write_c256", "put", 256},
	{"linear_read_c1", "get", 1}, {"linear_read_c64", "get", 64},
}

// throughput alternates between the systems load by load; every round begins with the other one.
func (b *bench) throughput(ctx context.Context, cairn, etcd *site) error {
	both := []*site{cairn}
	if etcd != nil {
		both = append(both, etcd)
	}
	rate := map[string]rounds{}
	for _, s := range both {
		if _, err := b.load(ctx, s, "fill", 64, s.leader); err != nil {
			return err
		}
	}
	for round := range b.sizes.rounds {
		for _, l := range loads {
			if !b.wanted(l.name) {
				continue
			}
			for i := range both {
				s := both[(i+round)%len(both)]
				v, err := b.load(ctx, s, l.op, l.clients, s.leader)
				if err != nil {
					return err
				}
				rate[s.system.name()+l.name] = append(rate[s.system.name()+l.name], v)
			}
			b.Progress(fmt.Sprintf("round %d: %s: cairn %.0f, etcd %.0f", round+1, l.name, last(rate["cairn"+l.name]), last(rate["etcd"+l.name])))
		}
	}
	for _, l := range loads {
		ours, theirs := rate["cairn"+l.name], rate["etcd"+l.name]
		if len(theirs) > 0 {
			b.out.compared(l.name+"_vs_etcd", l.name, ours, theirs)
		} else if len(ours) > 0 {
			b.out.put(l.name, ours, nil)
		}
	}
	return nil
}

func last(r rounds) float64 {
	if len(r) == 0 {
		return math.NaN()
	}
	return r[len(r)-1]
}

// loadTries is how often a load is tried: on an overloaded machine the leader may change under it.
const loadTries = 3

// load runs one load at the node that pick names. One that fails is repeated from the start and counted in a note.
func (b *bench) load(ctx context.Context, s *site, op string, clients int, pick func(context.Context, ...int) (int, error)) (float64, error) {
	for try := 1; ; try++ {
		i, err := pick(ctx)
		if err != nil {
			return 0, err
		}
		v, err := s.run(ctx, i, LoadOptions{Op: op, Clients: clients, Seconds: b.sizes.seconds, Size: valueBytes, Keys: keyCount})
		if err == nil || try == loadTries || ctx.Err() != nil {
			return v, err
		}
		b.repeated = append(b.repeated, err.Error())
	}
}

// follower compares writes through a follower with those through the leader.
func (b *bench) follower(ctx context.Context, cairn *site) error {
	var direct, forwarded rounds
	for range b.sizes.rounds {
		v, err := b.load(ctx, cairn, "put", 64, cairn.leader)
		if err != nil {
			return err
		}
		w, err := b.load(ctx, cairn, "put", 64, cairn.anyFollower)
		if err != nil {
			return err
		}
		direct, forwarded = append(direct, v), append(forwarded, w)
		b.Progress(fmt.Sprintf("direct %.0f, follower %.0f", v, w))
	}
	b.out.put("follower_write_vs_direct", forwarded.over(direct), nil)
	return nil
}

// anyFollower is a node that does not lead.
func (t *site) anyFollower(ctx context.Context, _ ...int) (int, error) {
	leader, err := t.leader(ctx)
	return (leader + 1) % siteNodes, err
}

// idle reads how much CPU a node takes that has nothing to do: one by itself, and the busiest of three.
func (b *bench) idle(ctx context.Context, cairn *site) error {
	system, err := newCairn(b.Program, 1)
	if err != nil {
		return err
	}
	alone, err := startSite(ctx, system, 1, b.dir)
	if err != nil {
		return err
	}
	defer alone.stop()
	if err := b.idleOf(ctx, alone, "idle_cpu_core"); err != nil {
		return err
	}
	return b.idleOf(ctx, cairn, "idle_cpu_core_of_three")
}

func (b *bench) idleOf(ctx context.Context, s *site, row string) error {
	var busiest rounds
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	for range b.sizes.rounds {
		var before [siteNodes]float64
		for i, p := range s.procs {
			if p == nil {
				continue
			}
			var err error
			if before[i], err = cpuSeconds(p.cmd.Process.Pid); err != nil {
				return err
			}
		}
		start := time.Now()
		if err := pause(ctx, time.Duration(b.sizes.idle*float64(time.Second))); err != nil {
			return err
		}
		top := 0.0
		for i, p := range s.procs {
			if p == nil {
				continue
			}
			after, err := cpuSeconds(p.cmd.Process.Pid)
			if err != nil {
				return err
			}
			top = max(top, (after-before[i])/time.Since(start).Seconds())
		}
		busiest = append(busiest, top)
	}
	b.out.put(row, busiest, nil)
	return nil
}

// cpuSeconds is the CPU time of a process so far, from the kernel's accounting by nanoseconds.
func cpuSeconds(pid int) (float64, error) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, t := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, t.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		ns, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
		if err != nil {
			return 0, err
		}
		total += ns / 1e9
	}
	return total, nil
}
