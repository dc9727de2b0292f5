package consensus

import (
	"time"

	"github.com/hashicorp/raft"
)

// Roles of a node as shown in NodeStatus.
const (
	RoleLeader   = "leader"
	RoleVoter    = "voter"
	RoleNonvoter = "nonvoter"
)

// Status is what one node knows about the group.
type Status struct {
	// Node is the id of the node that answers.
	Node string
	// Leader is the id of the leader it follows, empty when none is known.
	Leader string
	// Term is the current term, Applied the last index in the state, Commit the
	// last index known to be committed, LastLog the last index in the log.
	Term, Applied, Commit, LastLog uint64
	// StorageFull says that writes are refused because the disk is full.
	StorageFull bool
	// Halted is why nothing is applied any more, empty while all is well.
	Halted string
	// Nodes are the members, the answering node among them.
	Nodes []NodeStatus
}

// NodeStatus describes one member.
type NodeStatus struct {
	ID      string
	Address string
	// Role is RoleLeader, RoleVoter or RoleNonvoter.
	Role string
	// Applied is the node's applied index when last heard, Lag how many
	// committed entries it was behind.
	Applied, Lag uint64
	// Healthy says that the node answered lately and applies entries.
	Healthy bool
}

// Status describes the group as this node sees it. It does not block.
func (g *Group) Status() Status {
	in := g.inst.Load()
	_, leader := in.raft.LeaderWithID()
	s := Status{
		Node:        g.id,
		Leader:      string(leader),
		Term:        in.raft.CurrentTerm(),
		Applied:     g.run.applied.Load(),
		Commit:      in.raft.CommitIndex(),
		LastLog:     in.raft.LastIndex(),
		StorageFull: g.disk.full(),
	}
	if err := g.run.haltReason(); err != nil {
		s.Halted = err.Error()
	}
	for _, m := range in.members() {
		s.Nodes = append(s.Nodes, g.nodeStatus(m, s))
	}
	return s
}

func (g *Group) nodeStatus(m raft.Server, s Status) NodeStatus {
	n := NodeStatus{ID: string(m.ID), Address: string(m.Address), Role: RoleVoter}
	switch {
	case string(m.ID) == s.Leader:
		n.Role = RoleLeader
	case m.Suffrage != raft.Voter:
		n.Role = RoleNonvoter
	}
	if n.ID == g.id {
		n.Applied = s.Applied
		n.Healthy = s.Halted == "" && s.Leader != ""
	} else if h, ok := g.reports.latest(n.ID); ok {
		n.Applied = h.Applied
		n.Healthy = !h.Halted && time.Since(h.at) <= 3*g.reportInterval()
	}
	n.Lag = s.Commit - min(s.Commit, n.Applied)
	return n
}
