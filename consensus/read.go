package consensus

import (
	"context"
	"encoding/binary"
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
	if g.run.applied.Load() < index {
		g.hurrier.want(index)
	}
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

// readIndexOnce is one round, here or at the leader. A round at the leader is
// bounded, because the callers' contexts are not known here.
func (g *Group) readIndexOnce() (uint64, error) {
	if err := g.run.haltReason(); err != nil {
		return 0, err
	}
	if g.removed.Load() {
		return 0, ErrRemoved
	}
	r := g.inst.Load().raft
	ctx, cancel := context.WithTimeout(context.Background(), g.cfg.PeerTimeout)
	defer cancel()
	if r.State() == raft.Leader {
		return g.readIndexHere(ctx, r)
	}
	return g.readIndexThere(ctx)
}

// readIndexHere is the leader's part. The commit index is only known to be up
// to date once an entry of the own term is committed, and it has to be read
// before the round that proves the leadership.
func (g *Group) readIndexHere(ctx context.Context, r *raft.Raft) (uint64, error) {
	term := r.CurrentTerm()
	if g.run.term.Load() != term {
		return 0, fmt.Errorf("%w: nothing of term %d is committed yet", ErrNotLeader, term)
	}
	index := g.store.committed(r.CommitIndex())
	if err := g.confirmLeader(ctx, r, term); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	if r.CurrentTerm() != term {
		return 0, fmt.Errorf("%w: term %d is over", ErrNotLeader, term)
	}
	return index, nil
}

// confirmLeader proves that no later leader existed when the call began.
//
// Raft counts answers of nonvoters towards the quorum in VerifyLeader, so a
// leader cut off together with a joining node would confirm itself. With a
// nonvoter in the configuration the voters are asked for their term instead:
// a majority in the own term rules out a majority that elected another leader.
func (g *Group) confirmLeader(ctx context.Context, r *raft.Raft, term uint64) error {
	if g.cfg.broken == mutationNoVerify {
		return nil
	}
	f := r.GetConfiguration()
	if err := f.Error(); err != nil {
		return err
	}
	var voters []raft.Server
	servers := f.Configuration().Servers
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			voters = append(voters, s)
		}
	}
	if len(voters) == len(servers) {
		return r.VerifyLeader().Error()
	}
	return g.confirmTerm(ctx, voters, term)
}

// confirmTerm returns nil once a majority of voters is in term.
func (g *Group) confirmTerm(ctx context.Context, voters []raft.Server, term uint64) error {
	answers := make(chan bool, len(voters))
	ask := func(s raft.Server) bool {
		if string(s.ID) == g.id {
			return true
		}
		body, err := g.client.call(ctx, g.addrs.resolve(s.ID, s.Address), methodTerm, nil, nil)
		return err == nil && len(body) == 8 && binary.BigEndian.Uint64(body) == term
	}
	for _, s := range voters {
		g.calls.Add(1) // the caller's own registration keeps this legal
		go func() {
			defer g.leave()
			answers <- ask(s)
		}()
	}
	yes, no := 0, 0
	for yes <= len(voters)/2 {
		if <-answers {
			yes++
			continue
		}
		if no++; no >= (len(voters)+1)/2 {
			return fmt.Errorf("no majority of voters in term %d", term)
		}
	}
	return nil
}
