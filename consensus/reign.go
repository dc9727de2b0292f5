package consensus

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// errLeaderChanged says that the leader that was asked leads no more.
var errLeaderChanged = errors.New("the leader changed during the call")

// reigns ends calls to a leader that has been succeeded. The answer of a
// deposed leader may still be on the way, so they go on for one more heartbeat.
type reigns struct {
	mu   sync.Mutex
	id   raft.ServerID
	over chan struct{}
}

// of is closed one heartbeat after id has been found to lead no more.
func (s *reigns) of(g *Group, id raft.ServerID) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil && s.id == id {
		return s.over
	}
	s.endLocked(g.cfg.HeartbeatTimeout)
	over := make(chan struct{})
	s.id, s.over = id, over
	s.checkLocked(g) // the change may have come before the reign was entered
	return over
}

// check looks who leads. It is called at every news about the leader.
func (s *reigns) check(g *Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkLocked(g)
}

func (s *reigns) checkLocked(g *Group) {
	if now, _ := g.leaderAt(g.inst.Load().raft); s.over != nil && now != s.id {
		s.endLocked(g.cfg.HeartbeatTimeout)
	}
}

func (s *reigns) endLocked(grace time.Duration) {
	if over := s.over; over != nil {
		time.AfterFunc(grace, func() { close(over) })
	}
	s.over = nil
}
