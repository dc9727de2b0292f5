package consensus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// leaderAt is the leader's id and peer address, empty when none is known.
func (g *Group) leaderAt(r *raft.Raft) (id raft.ServerID, addr string) {
	configured, id := r.LeaderWithID()
	if id == "" {
		return "", ""
	}
	return id, g.addrs.resolve(id, configured)
}

// callLeader sends a request to the leader. While it waits it watches the
// elections: a leader that hangs would otherwise keep the caller until ctx
// ends. The answer of a deposed leader may still be on the way, so the call
// goes on for one more heartbeat.
func (g *Group) callLeader(ctx context.Context, method byte, body []byte) ([]byte, error) {
	r := g.inst.Load().raft
	id, addr := g.leaderAt(r)
	if id == "" {
		return nil, ErrNoLeader
	}
	if string(id) == g.id {
		return nil, ErrNotLeader // the own election is not finished yet
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	g.calls.Add(1) // the caller's own registration keeps this legal
	go func() {
		defer g.leave()
		g.cancelWhenDeposed(r, id, cancel, done)
	}()
	answer, err := g.client.call(ctx, addr, method, body)
	if err != nil && context.Cause(ctx) != nil {
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return answer, err
}

var errLeaderChanged = errors.New("the leader changed during the call")

func (g *Group) cancelWhenDeposed(r *raft.Raft, id raft.ServerID, cancel context.CancelCauseFunc, done <-chan struct{}) {
	for {
		changed := g.leaderChanged.next()
		if now, _ := g.leaderAt(r); now != id {
			grace := time.NewTimer(g.cfg.HeartbeatTimeout)
			defer grace.Stop()
			select {
			case <-grace.C:
				cancel(errLeaderChanged)
			case <-done:
			}
			return
		}
		select {
		case <-changed:
		case <-done:
			return
		}
	}
}

// forward sends a proposal to the leader and waits until this node has applied
// it too. One that may have arrived is never sent again.
func (g *Group) forward(ctx context.Context, p proposal) (Result, error) {
	answer, err := g.callLeader(ctx, p.method(), p.data)
	switch {
	case errors.Is(err, errNotSent) && ctx.Err() == nil:
		return Result{}, fmt.Errorf("%w: %w", ErrNoLeader, err)
	case errors.Is(err, errAnswerLost):
		return Result{}, fmt.Errorf("propose: %w: %w", ErrOutcomeUnknown, err)
	case err != nil:
		return Result{}, err
	case len(answer) < 8:
		return Result{}, fmt.Errorf("propose: %w: short answer", ErrOutcomeUnknown)
	}
	res := Result{Index: binary.BigEndian.Uint64(answer), Value: answer[8:]}
	if err := g.WaitApplied(ctx, res.Index); err != nil {
		return Result{}, fmt.Errorf("propose: %w: %w", ErrOutcomeUnknown, err)
	}
	return res, nil
}

// answerCall answers a request of another node. Nothing is forwarded again: a
// node that no longer leads says so.
func (g *Group) answerCall(ctx context.Context, from string, method byte, body []byte) ([]byte, error) {
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	switch method {
	case methodPropose:
		return g.answerPropose(ctx, proposal{data: body})
	case methodProposeFreeing:
		return g.answerPropose(ctx, proposal{data: body, freeing: true})
	case methodProposeRestore:
		return g.answerPropose(ctx, proposal{data: body, freeing: true, extensions: controlRestore})
	case methodReadIndex:
		return g.answerReadIndex(ctx)
	case methodTerm:
		return binary.BigEndian.AppendUint64(nil, g.inst.Load().raft.CurrentTerm()), nil
	case methodReport:
		return g.answerReport(from, body)
	case methodJoin:
		return g.answerJoin(ctx, body)
	case methodRemove:
		return nil, g.removeHere(ctx, string(body))
	case methodTransfer:
		return nil, g.transferHere(ctx, string(body))
	case methodCommit:
		return g.answerCommit()
	case methodFill:
		return g.answerFill(body)
	default:
		return nil, fmt.Errorf("unknown method %d", method)
	}
}

func (g *Group) answerPropose(ctx context.Context, p proposal) ([]byte, error) {
	if err := g.run.haltReason(); err != nil {
		// The caller waits for another leader: a halted one hands over.
		return nil, fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	r := g.inst.Load().raft
	if r.State() != raft.Leader {
		return nil, ErrNotLeader
	}
	res, err := g.proposeHere(ctx, r, p)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint64(nil, res.Index), res.Value...), nil
}

func (g *Group) answerReadIndex(ctx context.Context) ([]byte, error) {
	if g.inst.Load().raft.State() != raft.Leader {
		return nil, ErrNotLeader
	}
	index, err := g.reads.join(ctx, g)
	if err != nil {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(nil, index), nil
}

// readIndexThere asks the leader for the read index.
func (g *Group) readIndexThere(ctx context.Context) (uint64, error) {
	answer, err := g.callLeader(ctx, methodReadIndex, nil)
	switch {
	case errors.Is(err, errNotSent), errors.Is(err, errAnswerLost):
		return 0, fmt.Errorf("%w: %w", ErrNoLeader, err)
	case err != nil:
		return 0, err
	case len(answer) != 8:
		return 0, fmt.Errorf("read index: %w: answer of %d bytes", ErrCorrupt, len(answer))
	}
	return binary.BigEndian.Uint64(answer), nil
}
