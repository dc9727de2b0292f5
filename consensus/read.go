package consensus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// Applied is the index of the last entry that this node has applied.
func (g *Group) Applied() uint64 { return g.run.applied.Load() }

// WaitApplied returns once this node has applied index: the session read. It
// returns ctx's error, ErrHalted or ErrClosed otherwise.
func (g *Group) WaitApplied(ctx context.Context, index uint64) error {
	if err := g.run.waits.wait(ctx, index); err != nil {
		return fmt.Errorf("wait for index %d: %w", index, err)
	}
	return nil
}

// ReadIndex returns an index that is at or above every write acknowledged
// anywhere in the site before the call. A state that has applied it answers
// linearizable reads (Raft dissertation 6.4). Concurrent callers share one
// round to the quorum; no clock is involved.
//
// While no leader is known it waits up to LeaderWait, then returns ErrNoLeader
// or ErrNotLeader.
func (g *Group) ReadIndex(ctx context.Context) (uint64, error) {
	if err := g.enter(); err != nil {
		return 0, err
	}
	defer g.leave()
	wait, cancel := context.WithTimeout(ctx, g.cfg.LeaderWait)
	defer cancel()
	for {
		changed := g.leaderChanged.next()
		index, err := g.reads.join(ctx, g)
		if !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrNoLeader) {
			return index, err
		}
		if waitErr := g.awaitChange(wait, changed); waitErr != nil {
			return 0, noLeaderError(ctx, err, waitErr)
		}
	}
}

// readRounds shares one check of leadership among readers. A reader joins the
// next round, never one that has begun: the check must start after the call.
type readRounds struct {
	mu      sync.Mutex
	next    *readRound
	running bool
}

type readRound struct {
	done  chan struct{}
	index uint64
	err   error
}

// join waits for the next round of g, starting it when none is under way.
func (s *readRounds) join(ctx context.Context, g *Group) (uint64, error) {
	s.mu.Lock()
	if s.next == nil {
		s.next = &readRound{done: make(chan struct{})}
	}
	round := s.next
	if !s.running {
		s.running = true
		g.calls.Add(1) // the caller's own registration keeps this legal
		go s.loop(g)
	}
	s.mu.Unlock()
	select {
	case <-round.done:
		return round.index, round.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// loop runs rounds until nobody waits.
func (s *readRounds) loop(g *Group) {
	defer g.leave()
	for {
		s.mu.Lock()
		round := s.next
		s.next = nil
		s.running = round != nil
		s.mu.Unlock()
		if round == nil {
			return
		}
		round.index, round.err = g.readIndexOnce()
		close(round.done)
	}
}

func (g *Group) readIndexOnce() (uint64, error) {
	r := g.inst.Load().raft
	if r.State() != raft.Leader {
		if addr, _ := r.LeaderWithID(); addr == "" {
			return 0, ErrNoLeader
		}
		return 0, ErrNotLeader
	}
	return g.readIndexHere(r)
}

// readIndexHere is the leader's part. The commit index is only known to be up
// to date once an entry of the own term is committed, and it has to be read
// before the round that proves the leadership.
func (g *Group) readIndexHere(r *raft.Raft) (uint64, error) {
	term := r.CurrentTerm()
	if g.run.term.Load() != term {
		return 0, fmt.Errorf("%w: nothing of term %d is committed yet", ErrNotLeader, term)
	}
	index := r.CommitIndex()
	if err := r.VerifyLeader().Error(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	if r.CurrentTerm() != term {
		return 0, fmt.Errorf("%w: term %d is over", ErrNotLeader, term)
	}
	return index, nil
}
