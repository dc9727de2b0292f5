package consensus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

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
// ends.
func (g *Group) callLeader(ctx context.Context, method byte, body []byte) ([]byte, error) {
	id, addr := g.leaderAt(g.inst.Load().raft)
	if id == "" {
		return nil, ErrNoLeader
	}
	if string(id) == g.id {
		return nil, ErrNotLeader // the own election is not finished yet
	}
	return g.client.call(ctx, addr, method, body, g.reigns.of(g, id))
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
	case len(answer) < 16:
		return Result{}, fmt.Errorf("propose: %w: short answer", ErrOutcomeUnknown)
	}
	res := Result{Index: binary.BigEndian.Uint64(answer), term: binary.BigEndian.Uint64(answer[8:]), Value: answer[16:]}
	g.hurrier.tell(committedAt{term: res.term, index: res.Index, entryTerm: res.term})
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

// answerPropose appends for another node. It answers with the index and the
// term of the entry, 8 bytes each, and the result. A request whose connection
// ends goes on: raft has it, and answers it before it shuts down.
func (g *Group) answerPropose(ctx context.Context, p proposal) ([]byte, error) {
	if err := g.run.haltReason(); err != nil {
		// The caller waits for another leader: a halted one hands over.
		return nil, fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	r := g.inst.Load().raft
	if r.State() != raft.Leader {
		return nil, ErrNotLeader
	}
	if err := g.letIn(ctx, p); err != nil {
		return nil, err
	}
	defer g.bytes.leave(len(p.data))
	res, err := applyAndWait(r, p)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 16+len(res.Value))
	out = binary.BigEndian.AppendUint64(out, res.Index)
	out = binary.BigEndian.AppendUint64(out, res.term)
	return append(out, res.Value...), nil
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
