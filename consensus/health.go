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
	g.dropOldRestores(now)
	g.checkFitToLead(now)
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

// maxClockLag is how far the leader's clock may be behind the newest stamp in
// the log. Stamps never go back, so with a clock further behind the site's time
// would stand still.
const maxClockLag = time.Minute

// checkFitToLead hands the leadership over when this node applies nothing any
// more or its clock is far behind. It is tried again as long as that is so.
func (g *Group) checkFitToLead(now time.Time) {
	in := g.inst.Load()
	if in.raft.State() != raft.Leader || in.aloneInSite(raft.ServerID(g.id)) {
		return
	}
	lag := time.UnixMilli(g.run.newest.Load()).Sub(now)
	switch {
	case g.run.haltReason() != nil:
		g.log.Error("handing the leadership over: apply is halted here")
	case lag > maxClockLag:
		g.log.Error("handing the leadership over: the clock of this node is behind", "seconds", lag.Seconds())
	default:
		return
	}
	g.handOver(in)
}
