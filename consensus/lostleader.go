package consensus

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// A process that dies closes its connections, long before its silence is
// noticed. When the leader's connection to this node ends, nothing more is
// heard of it, and nobody listens at its address, the leader is gone and an
// election need not wait for the timeout. Elections are safe at any time, so a
// wrong guess costs a change of the leader and nothing else; a leader that is
// only cut off, or hangs, refuses no connection and is left to the timeout.

// lostPeers remembers that a connection of raft from a peer has ended.
type lostPeers struct{ wake chan string }

func newLostPeers() lostPeers { return lostPeers{wake: make(chan string, 16)} }

// note does not block: what finds no room is left to the timeout.
func (l lostPeers) note(id string) {
	select {
	case l.wake <- id:
	default:
	}
}

// watchLost looks after leaders whose connection has ended, until the group
// closes.
func (g *Group) watchLost() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer g.stopContext(cancel)()
	for {
		select {
		case id := <-g.lost.wake:
			g.succeedLost(ctx, id, time.Now())
		case <-g.stop:
			return
		}
	}
}

// succeedLost calls an election when the leader with this id is gone. The
// voters take turns, so that they do not ask for each other's votes at once.
func (g *Group) succeedLost(ctx context.Context, id string, since time.Time) {
	in := g.inst.Load()
	turn := g.turnAfter(in, id)
	if turn < 0 {
		return
	}
	// After its lease a leader that lost its voters has stepped down.
	if !g.pauseFor(g.cfg.LeaseTimeout + time.Duration(turn)*g.cfg.HeartbeatTimeout/5) {
		return
	}
	if g.turnAfter(in, id) < 0 || in.raft.LastContact().After(since) || g.run.haltReason() != nil || !g.refuses(ctx, in, id) {
		return
	}
	g.log.Warn("the leader's process is gone; calling an election", "leader", id)
	g.electNow(in)
}

// turnAfter is this node's place among the voters that could succeed a leader,
// -1 when the node with this id does not lead or this one has no vote.
func (g *Group) turnAfter(in *instance, leader string) int {
	if _, id := in.raft.LeaderWithID(); string(id) != leader || leader == g.id || g.removed.Load() {
		return -1
	}
	var ids []string
	for _, s := range in.members() {
		if s.Suffrage == raft.Voter && string(s.ID) != leader {
			ids = append(ids, string(s.ID))
		}
	}
	slices.Sort(ids)
	return slices.Index(ids, g.id)
}

// refuses reports whether nobody listens at the leader's address.
func (g *Group) refuses(ctx context.Context, in *instance, id string) bool {
	leader, addr := g.leaderAt(in.raft)
	if string(leader) != id {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.HeartbeatTimeout/5)
	defer cancel()
	conn, err := g.mux.dial(ctx, kindCalls, addr)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	_ = conn.Close()
	return false
}
