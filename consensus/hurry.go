package consensus

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// A follower learns that an entry is committed with the next append, which on
// a quiet site comes after raft's CommitTimeout: a write through a follower, or
// a read there, would wait 50 to 100 ms for news that the leader already has.
// So a follower that waits for an index asks the leader how far it has
// committed and gives the answer to its raft as the append that it is: one
// without entries, in the leader's term, that names a committed entry.

const (
	// hurryAfter is how long the ordinary appends get first.
	hurryAfter = time.Millisecond
	// hurryTries bounds the questions for one index, which may lie in the
	// future; the pause between them doubles.
	hurryTries = 8
)

// hurrier remembers the highest index that a caller waits for.
type hurrier struct {
	wanted atomic.Uint64
	wake   chan struct{}
}

// want asks for index. It does not block.
func (h *hurrier) want(index uint64) {
	for {
		now := h.wanted.Load()
		if now >= index || h.wanted.CompareAndSwap(now, index) {
			break
		}
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// hurry serves wishes until the group closes.
func (g *Group) hurry() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer g.stopContext(cancel)()
	for {
		select {
		case <-g.hurrier.wake:
		case <-g.stop:
			return
		}
		pause := hurryAfter
		wanted := g.hurrier.wanted.Load()
		for range hurryTries {
			if !g.pauseFor(pause) || g.run.applied.Load() >= wanted {
				break
			}
			g.learnCommit(ctx)
			wanted = g.hurrier.wanted.Load()
			pause *= 2
		}
		// A wish that came meanwhile stays and has its own wake.
		g.hurrier.wanted.CompareAndSwap(wanted, 0)
	}
}

// pauseFor returns false when the group closes meanwhile.
func (g *Group) pauseFor(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.stop:
		return false
	}
}

// learnCommit asks the leader once and tells raft.
func (g *Group) learnCommit(ctx context.Context) {
	in := g.inst.Load()
	id, addr := g.leaderAt(in.raft)
	if id == "" || string(id) == g.id {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.HeartbeatTimeout)
	defer cancel()
	body, err := g.client.call(ctx, addr, methodCommit, nil)
	if err != nil || len(body) != 24 {
		return
	}
	term, index, entryTerm := binary.BigEndian.Uint64(body), binary.BigEndian.Uint64(body[8:]), binary.BigEndian.Uint64(body[16:])
	var e raft.Log
	if term != in.raft.CurrentTerm() || index <= g.run.applied.Load() || g.store.GetLog(index, &e) != nil || e.Term != entryTerm {
		return // nothing new, or the entry itself is not here yet
	}
	in.trans.inject(&raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{
			ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(plainAddr(addr)),
		},
		Term:              term,
		Leader:            []byte(plainAddr(addr)), //nolint:staticcheck // peers of raft 1.8 read it
		PrevLogEntry:      index,
		PrevLogTerm:       entryTerm,
		LeaderCommitIndex: index,
	})
}

// answerCommit says how far this leader has committed: its term, the index and
// the term of that entry, 8 bytes each.
func (g *Group) answerCommit() ([]byte, error) {
	r := g.inst.Load().raft
	term := r.CurrentTerm()
	if r.State() != raft.Leader || g.run.term.Load() != term {
		return nil, ErrNotLeader
	}
	var e raft.Log
	if err := g.store.GetLog(g.store.committed(r.CommitIndex()), &e); err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint64(nil, term)
	out = binary.BigEndian.AppendUint64(out, e.Index)
	return binary.BigEndian.AppendUint64(out, e.Term), nil
}
