package consensus

import (
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// healthInterval is the time between two looks at the disk.
const healthInterval = time.Second

// watchHealth looks at the disk until the group closes.
func (g *Group) watchHealth() {
	tick := time.NewTicker(healthInterval)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			g.checkHealth(now)
		case <-g.stop:
			return
		}
	}
}

// checkHealth ends the process when the leader's disk hangs: raft sends
// heartbeats from other goroutines, so the site would wait for it for ever
// (hashicorp/raft issue 503). A follower that hangs harms nobody.
func (g *Group) checkHealth(now time.Time) {
	wasFull := g.disk.full()
	g.disk.look()
	if full := g.disk.full(); full != wasFull {
		g.log.Warn("storage filling crossed the limit", "full", full, "used", g.disk.usedRatio())
	}
	stalled := g.store.stalledFor(now)
	if stalled < g.cfg.StallTimeout {
		return
	}
	if g.inst.Load().raft.State() != raft.Leader {
		g.log.Warn("the log's disk hangs", "seconds", stalled.Seconds())
		return
	}
	g.cfg.OnFatal(fmt.Errorf("sync of the raft log in %s has been hanging for %.1f s on the leader", g.cfg.Dir, stalled.Seconds()))
}
