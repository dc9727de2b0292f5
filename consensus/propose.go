package consensus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// Propose replicates command and returns once a quorum has it on disk and this
// node has applied it. The command must not be changed afterwards.
//
// While no leader is known it waits up to LeaderWait. It returns ErrTooLarge,
// ErrEmptyCommand, ErrStorageFull, ErrNoLeader, ErrNotLeader, ErrHalted or
// ErrClosed when nothing was appended, and an error that wraps
// ErrOutcomeUnknown when the command may still be applied, also when ctx ends
// after it was handed on.
func (g *Group) Propose(ctx context.Context, command []byte) (Result, error) {
	return g.propose(ctx, proposal{data: command})
}

// ProposeFreeing is Propose for commands that free space, such as deletes:
// they are accepted although the disk is full.
func (g *Group) ProposeFreeing(ctx context.Context, command []byte) (Result, error) {
	return g.propose(ctx, proposal{data: command, freeing: true})
}

// proposal is what travels to the leader.
type proposal struct {
	data []byte
	// extensions mark entries that the group itself interprets.
	extensions []byte
	// freeing proposals pass when the disk is full.
	freeing bool
}

func (p proposal) method() byte {
	switch {
	case p.extensions != nil:
		return methodProposeRestore
	case p.freeing:
		return methodProposeFreeing
	default:
		return methodPropose
	}
}

func (g *Group) propose(ctx context.Context, p proposal) (Result, error) {
	switch {
	case len(p.data) == 0:
		return Result{}, ErrEmptyCommand
	case len(p.data) > MaxCommandBytes:
		return Result{}, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(p.data))
	}
	if err := g.enter(); err != nil {
		return Result{}, err
	}
	defer g.leave()
	start := time.Now()
	res, err := g.proposeWith(ctx, p)
	if err == nil {
		g.metrics.commitSeconds.Observe(time.Since(start).Seconds())
	}
	return res, err
}

// proposeWith finds the leader and waits for the result. The wait for a leader
// gets a context of its own only when there is one.
func (g *Group) proposeWith(ctx context.Context, p proposal) (Result, error) {
	end := time.Now().Add(g.cfg.LeaderWait)
	for {
		changed := g.leaderChanged.next()
		res, err := g.proposeOnce(ctx, p)
		if !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrNoLeader) {
			return res, err
		}
		wait, cancel := context.WithDeadline(ctx, end)
		waitErr := g.awaitChange(wait, changed)
		cancel()
		if waitErr != nil {
			return Result{}, noLeaderError(ctx, err, waitErr)
		}
	}
}

// errWaited says that the time to wait for a leader is over.
var errWaited = errors.New("waited long enough for a leader")

// awaitChange waits for the next news about the leader. The leader may refuse
// for a while without news, for example during a transfer, so it also looks
// again after a heartbeat.
func (g *Group) awaitChange(ctx context.Context, changed <-chan struct{}) error {
	again := time.NewTimer(g.cfg.HeartbeatTimeout / 4)
	defer again.Stop()
	select {
	case <-changed:
		return nil
	case <-again.C:
		return nil
	case <-ctx.Done():
		return errWaited
	case <-g.stop:
		return ErrClosed
	}
}

// noLeaderError is what a call returns that has waited for a leader in vain.
func noLeaderError(ctx context.Context, last, waited error) error {
	if errors.Is(waited, ErrClosed) {
		return ErrClosed
	}
	return errors.Join(last, ctx.Err())
}

// proposeOnce sends a proposal to the leader known now.
func (g *Group) proposeOnce(ctx context.Context, p proposal) (Result, error) {
	if err := g.run.haltReason(); err != nil {
		return Result{}, err
	}
	if g.removed.Load() {
		return Result{}, ErrRemoved
	}
	r := g.inst.Load().raft
	if r.State() == raft.Leader {
		return g.proposeHere(ctx, r, p)
	}
	return g.forward(ctx, p)
}

// proposeHere appends a proposal to this node's log as its leader.
func (g *Group) proposeHere(ctx context.Context, r *raft.Raft, p proposal) (Result, error) {
	if err := g.letIn(ctx, p); err != nil {
		return Result{}, err
	}
	type answer struct {
		res Result
		err error
	}
	done := make(chan answer, 1)
	g.calls.Add(1) // the caller's own registration keeps this legal
	go func() {
		defer g.leave()
		defer g.bytes.leave(len(p.data))
		res, err := applyAndWait(r, p)
		done <- answer{res, err}
	}()
	select {
	case a := <-done:
		return a.res, a.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("propose: %w: %w", ErrOutcomeUnknown, ctx.Err())
	}
}

// letIn takes a proposal in, or says that the disk is full. Who was let in gives
// the bytes back.
func (g *Group) letIn(ctx context.Context, p proposal) error {
	if !p.freeing && g.disk.full() {
		return fmt.Errorf("%w: %.0f %% of the disk are used", ErrStorageFull, g.disk.usedRatio()*100)
	}
	return g.bytes.enter(ctx, len(p.data))
}

// applyAndWait gives a proposal to raft and waits for its result.
func applyAndWait(r *raft.Raft, p proposal) (Result, error) {
	f := r.ApplyLog(raft.Log{Data: p.data, Extensions: p.extensions}, 0)
	if err := f.Error(); err != nil {
		return Result{}, proposeError(err)
	}
	a, ok := f.Response().(applyResult)
	if !ok {
		return Result{}, fmt.Errorf("propose: %w: no result", ErrOutcomeUnknown)
	}
	if a.err != nil {
		return Result{}, a.err
	}
	return Result{Index: f.Index(), Value: a.value, term: a.term}, nil
}

// proposeError sorts raft's errors by whether the command can still appear.
func proposeError(err error) error {
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return ErrNotLeader
	case errors.Is(err, raft.ErrRaftShutdown):
		return fmt.Errorf("propose: %w: %w", ErrOutcomeUnknown, ErrClosed)
	default:
		return fmt.Errorf("propose: %w: %w", ErrOutcomeUnknown, err)
	}
}

// Barrier returns once this node has applied everything that was committed
// anywhere in the site before the call.
func (g *Group) Barrier(ctx context.Context) error {
	index, err := g.ReadIndex(ctx)
	if err != nil {
		return err
	}
	return g.WaitApplied(ctx, index)
}
