package consensus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// removedFile marks the folder of a node that the site has removed.
const removedFile = "removed"

// promoteLag is how many entries a joining node may be behind to get a vote.
const promoteLag = 128

// admit takes a node in, or follows it to a new address. A new node has no
// vote until it has caught up, so that it cannot slow the site down.
func (g *Group) admit(ctx context.Context, req joinRequest) error {
	r := g.inst.Load().raft
	if err := g.confirmLeader(ctx, r, r.CurrentTerm()); err != nil {
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	f := r.GetConfiguration()
	if err := f.Error(); err != nil {
		return err
	}
	for _, s := range f.Configuration().Servers {
		if string(s.ID) == req.ID {
			return g.moveNode(r, s, req.Address)
		}
	}
	if req.HasState && !req.Blank {
		// It was removed, or comes from another site; a new node is empty.
		return ErrRemoved
	}
	for _, s := range f.Configuration().Servers {
		if string(s.Address) != req.Address {
			continue
		}
		// Another node answers at this address now: its folder was wiped.
		g.log.Info("node lost its data folder and joins anew", "old", string(s.ID), "new", req.ID)
		if err := r.RemoveServer(s.ID, 0, g.cfg.PeerTimeout).Error(); err != nil {
			return fmt.Errorf("remove node %s: %w", s.ID, err)
		}
	}
	g.log.Info("node joins", "id", req.ID, "address", req.Address)
	return r.AddNonvoter(raft.ServerID(req.ID), raft.ServerAddress(req.Address), 0, g.cfg.PeerTimeout).Error()
}

// moveNode writes a member's new address into the configuration.
func (g *Group) moveNode(r *raft.Raft, s raft.Server, addr string) error {
	if string(s.Address) == addr {
		return nil
	}
	g.log.Info("node has a new address", "id", string(s.ID), "address", addr)
	if s.Suffrage == raft.Voter {
		return r.AddVoter(s.ID, raft.ServerAddress(addr), 0, g.cfg.PeerTimeout).Error()
	}
	return r.AddNonvoter(s.ID, raft.ServerAddress(addr), 0, g.cfg.PeerTimeout).Error()
}

// promote gives a vote to nodes that have caught up.
func (g *Group) promote(in *instance) {
	if !g.IsLeader() {
		return
	}
	for _, s := range in.members() {
		if s.Suffrage == raft.Voter {
			continue
		}
		report, ok := g.reports.fresh(string(s.ID), 3*g.reportInterval())
		if !ok || report.Halted || report.Applied+promoteLag < in.raft.CommitIndex() {
			continue
		}
		g.log.Info("node has caught up and gets a vote", "id", string(s.ID))
		if err := in.raft.AddVoter(s.ID, s.Address, 0, g.cfg.PeerTimeout).Error(); err != nil {
			g.log.Warn("give a vote", "id", string(s.ID), "error", err)
		}
	}
}

// RemoveNode takes the node with this id out of the site, from any node. A
// removed node stops by itself. Removing the leader moves the leadership
// first. The last voter cannot be removed.
func (g *Group) RemoveNode(ctx context.Context, id string) error {
	return g.onLeader(ctx, methodRemove, id, g.removeHere)
}

// TransferLeadership makes the voter with this id the leader, or the one most
// up to date when id is empty, from any node. It returns once another node
// has taken over.
func (g *Group) TransferLeadership(ctx context.Context, id string) error {
	return g.onLeader(ctx, methodTransfer, id, g.transferHere)
}

// onLeader runs fn here when this node leads, or asks the leader. It waits for
// a leader like Propose does.
func (g *Group) onLeader(ctx context.Context, method byte, arg string, fn func(context.Context, string) error) error {
	if err := g.enter(); err != nil {
		return err
	}
	defer g.leave()
	wait, cancel := context.WithTimeout(ctx, g.cfg.LeaderWait)
	defer cancel()
	for {
		changed := g.leaderChanged.next()
		var err error
		if g.inst.Load().raft.State() == raft.Leader {
			err = fn(ctx, arg)
		} else {
			_, err = g.callLeader(ctx, method, []byte(arg))
		}
		if !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrNoLeader) && !errors.Is(err, errNotSent) {
			return err
		}
		if waitErr := g.awaitChange(wait, changed); waitErr != nil {
			return noLeaderError(ctx, err, waitErr)
		}
	}
}

func (g *Group) removeHere(ctx context.Context, id string) error {
	r := g.inst.Load().raft
	if r.State() != raft.Leader {
		return ErrNotLeader
	}
	f := r.GetConfiguration()
	if err := f.Error(); err != nil {
		return err
	}
	voters, found := 0, false
	votes := false
	for _, s := range f.Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
		if string(s.ID) == id {
			found, votes = true, s.Suffrage == raft.Voter
		}
	}
	switch {
	case !found:
		return fmt.Errorf("remove node %s: not a member", id)
	case votes && voters == 1:
		return fmt.Errorf("remove node %s: it is the last voter", id)
	case id == g.id:
		if err := g.transferHere(ctx, ""); err != nil {
			return fmt.Errorf("remove node %s: %w", id, err)
		}
		return ErrNotLeader // the caller asks the new leader
	}
	if err := r.RemoveServer(raft.ServerID(id), 0, g.cfg.PeerTimeout).Error(); err != nil {
		return fmt.Errorf("remove node %s: %w", id, proposeError(err))
	}
	g.log.Info("node removed", "id", id)
	return nil
}

func (g *Group) transferHere(ctx context.Context, id string) error {
	r := g.inst.Load().raft
	if r.State() != raft.Leader {
		return ErrNotLeader
	}
	if id == g.id {
		return nil
	}
	if id == "" {
		return g.transferred(ctx, r, r.LeadershipTransfer())
	}
	for _, s := range g.inst.Load().members() {
		if string(s.ID) == id && s.Suffrage == raft.Voter {
			return g.transferred(ctx, r, r.LeadershipTransferToServer(s.ID, s.Address))
		}
	}
	return fmt.Errorf("transfer leadership to %s: not a voter", id)
}

// transferred waits for the transfer and for the new leader to be known.
func (g *Group) transferred(ctx context.Context, r *raft.Raft, f raft.Future) error {
	if err := f.Error(); err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 4*g.cfg.HeartbeatTimeout)
	defer cancel()
	for {
		changed := g.leaderChanged.next()
		if _, leader := r.LeaderWithID(); leader != "" && string(leader) != g.id {
			return nil
		}
		if err := g.awaitChange(ctx, changed); err != nil {
			return fmt.Errorf("transfer leadership: no new leader: %w", err)
		}
	}
}

// Removed is closed when the site has removed this node. The process should
// end then; a restart on the same folder is refused with ErrRemoved.
func (g *Group) Removed() <-chan struct{} { return g.removedCh }

// onRemoved stops taking part for good.
func (g *Group) onRemoved() {
	if !g.removed.CompareAndSwap(false, true) {
		return
	}
	g.log.Warn("this node was removed from the site and stops")
	if err := writeFileAtomic(g.cfg.fs, g.cfg.Dir, removedFile, []byte(time.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
		g.log.Error("mark the folder as removed", "error", err)
	}
	close(g.removedCh)
	g.run.waits.fail(ErrRemoved)
	g.instMu.Lock()
	g.inst.Load().stopNow()
	g.instMu.Unlock()
	g.newsOfLeader()
}

// checkRemoved refuses the folder of a removed node.
func checkRemoved(cfg *Config) error {
	if _, err := cfg.fs.Stat(cfg.fs.PathJoin(cfg.Dir, removedFile)); err != nil {
		return nil
	}
	return fmt.Errorf("open %s: %w; delete the data folder to join anew", cfg.Dir, ErrRemoved)
}
