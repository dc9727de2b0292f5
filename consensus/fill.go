package consensus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// A restored state has the index of its backup, and everything that follows has
// to come after it. Raft has one way only to leave indexes out, which is a
// snapshot, and a snapshot is not an entry that a quorum agrees on: a leader
// that jumps ahead and dies leaves the others with the old history under the
// same indexes. So the log is filled up with empty entries, which the state
// machine never sees as commands. They go to raft thousands at a time and share
// their syncs.

// fillChunk is how many empty entries one request appends. It bounds how long
// one request takes, and what waits before the commands of clients.
const fillChunk = 4096

// fillLog returns once the log has been committed up to index at least.
func (g *Group) fillLog(ctx context.Context, index uint64) error {
	for g.inst.Load().raft.CommitIndex() < index {
		wait, cancel := context.WithTimeout(ctx, g.cfg.LeaderWait)
		last, err := g.fillOnce(wait, index)
		cancel()
		if err != nil {
			return fmt.Errorf("fill the log up to index %d: %w", index, err)
		}
		if last >= index {
			return nil
		}
	}
	return nil
}

// fillOnce has the leader append a chunk and returns the index that is then
// committed. It waits for a leader while ctx lasts. An answer that was lost
// does no harm: the next chunk begins where the log ends.
func (g *Group) fillOnce(ctx context.Context, index uint64) (uint64, error) {
	for {
		changed := g.leaderChanged.next()
		last, err := g.fillThere(ctx, index)
		if err == nil || errors.Is(err, ErrClosed) {
			return last, err
		}
		if waitErr := g.awaitChange(ctx, changed); waitErr != nil {
			return 0, noLeaderError(ctx, err, waitErr)
		}
	}
}

func (g *Group) fillThere(ctx context.Context, index uint64) (uint64, error) {
	if g.inst.Load().raft.State() == raft.Leader {
		return g.fillHere(index)
	}
	answer, err := g.callLeader(ctx, methodFill, binary.BigEndian.AppendUint64(nil, index))
	if err != nil {
		return 0, err
	}
	if len(answer) != 8 {
		return 0, fmt.Errorf("answer of %d bytes: %w", len(answer), ErrCorrupt)
	}
	return binary.BigEndian.Uint64(answer), nil
}

// answerFill appends for another node.
func (g *Group) answerFill(body []byte) ([]byte, error) {
	if len(body) != 8 {
		return nil, fmt.Errorf("fill: request of %d bytes: %w", len(body), ErrCorrupt)
	}
	last, err := g.fillHere(binary.BigEndian.Uint64(body))
	if err != nil {
		return nil, err
	}
	return binary.BigEndian.AppendUint64(nil, last), nil
}

// fillHere appends a chunk as the leader and waits until it is committed and
// applied.
func (g *Group) fillHere(index uint64) (last uint64, err error) {
	r := g.inst.Load().raft
	if r.State() != raft.Leader {
		return 0, ErrNotLeader
	}
	from := r.LastIndex()
	if from >= index {
		return from, r.Barrier(0).Error()
	}
	futures := make([]raft.ApplyFuture, min(fillChunk, index-from))
	for i := range futures {
		futures[i] = r.ApplyLog(raft.Log{}, 0)
	}
	for _, f := range futures {
		if err := f.Error(); err != nil {
			return 0, proposeError(err)
		}
		last = max(last, f.Index())
	}
	return last, nil
}
