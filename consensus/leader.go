package consensus

import (
	"sync"

	"github.com/hashicorp/raft"
)

// watchLeader follows the elections of one run of raft.
func (g *Group) watchLeader(in *instance) {
	seen := make(chan raft.Observation, 16)
	observer := raft.NewObserver(seen, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.LeaderObservation, raft.RaftState:
			return true
		}
		return false
	})
	in.raft.RegisterObserver(observer)
	defer in.raft.DeregisterObserver(observer)
	for {
		select {
		case leading := <-in.raft.LeaderCh():
			g.metrics.leaderChanges.Inc()
			if leading {
				g.takeOver(in)
			} else {
				g.log.Info("no longer the leader")
				g.leaderSubs.publish(false)
			}
			g.newsOfLeader()
		case <-seen:
			g.newsOfLeader()
		case <-in.done:
			g.leaderSubs.publish(false)
			return
		}
	}
}

// newsOfLeader tells everyone who waits for another leader.
func (g *Group) newsOfLeader() {
	g.reigns.check(g)
	g.leaderChanged.notify()
}

// takeOver commits an empty entry of the new term. Raft hands over no entry of
// its own, so without this the state machine's index would stay behind the
// commit index until the next command, and readers would wait for it.
func (g *Group) takeOver(in *instance) {
	if g.enter() != nil {
		return
	}
	go func() {
		defer g.leave()
		term := in.raft.CurrentTerm()
		if err := in.raft.ApplyLog(raft.Log{}, 0).Error(); err != nil {
			g.log.Debug("leadership lost before the first entry", "error", err)
			return
		}
		g.log.Info("leading the site", "term", term)
		g.leaderSubs.publish(true)
		g.leaderChanged.notify()
	}()
}

// IsLeader reports whether this node leads and has applied everything that was
// committed before its term.
func (g *Group) IsLeader() bool {
	r := g.inst.Load().raft
	return r.State() == raft.Leader && g.run.term.Load() == r.CurrentTerm() && g.run.haltReason() == nil
}

// LeaderChanges returns a new channel that says when this node begins and
// stops to lead, in the sense of IsLeader. A slow receiver sees only the last
// change. The channel is closed by Close.
func (g *Group) LeaderChanges() <-chan bool { return g.leaderSubs.subscribe(g.IsLeader()) }

// leaderSubscribers holds the channels given out by LeaderChanges.
type leaderSubscribers struct {
	mu     sync.Mutex
	subs   []chan bool
	last   bool
	closed bool
}

// subscribe adds a channel. It starts with true when the node leads already.
func (s *leaderSubscribers) subscribe(leading bool) <-chan bool {
	ch := make(chan bool, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(ch)
		return ch
	}
	if leading {
		s.last = true
		ch <- true
	}
	s.subs = append(s.subs, ch)
	return ch
}

func (s *leaderSubscribers) publish(leading bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.last == leading {
		return
	}
	s.last = leading
	for _, ch := range s.subs {
		select {
		case <-ch:
		default:
		}
		ch <- leading
	}
}

func (s *leaderSubscribers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	for _, ch := range s.subs {
		close(ch)
	}
}
