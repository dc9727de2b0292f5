package consensus

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// A follower learns that an entry is committed with the next append, which on
// a quiet site comes after raft's CommitTimeout: a write through a follower, or
// a read there, would wait 50 to 100 ms for news that the leader already has.
// The answer to a forwarded write is such news. A follower that waits for
// another index asks the leader how far it has committed. Either is given to
// raft as the append that it is: one without entries, in the leader's term,
// that names a committed entry.

const (
	// hurryAfter is how long the ordinary appends get first.
	hurryAfter = time.Millisecond
	// hurryTries bounds the questions for one index, which may lie in the
	// future; the pause between them doubles.
	hurryTries = 8
)

// committedAt is news from the leader of term: index is committed, and its
// entry is of entryTerm.
type committedAt struct{ term, index, entryTerm uint64 }

// newer reports whether c says more than d.
func (c committedAt) newer(d committedAt) bool {
	return c.term > d.term || c.term == d.term && c.index > d.index
}

// hurrier remembers the highest index that a caller waits for, and the newest
// word of the leader.
type hurrier struct {
	wanted atomic.Uint64
	wake   chan struct{}

	mu   sync.Mutex
	told committedAt
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

// tell notes what the leader has said. Who waits for it calls want.
func (h *hurrier) tell(c committedAt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.newer(h.told) {
		h.told = c
	}
}

func (h *hurrier) lastTold() committedAt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told
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
		pause, tried := hurryAfter, g.hurrier.wanted.Load()
		for try := 0; try < hurryTries && !g.served() && g.pauseUnserved(pause); try++ {
			g.askCommit(ctx)
			pause *= 2
		}
		// A larger wish that came meanwhile stays and has its own wake.
		g.hurrier.wanted.CompareAndSwap(tried, 0)
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

// served passes on what the leader has said and reports whether that is all
// that anybody waits for.
func (g *Group) served() bool {
	h := &g.hurrier
	wanted, told := h.wanted.Load(), h.lastTold()
	passed := g.passOn(told)
	if g.run.applied.Load() < wanted && (!passed || told.index < wanted) {
		return false
	}
	// A wish that came meanwhile stays and has its own wake.
	h.wanted.CompareAndSwap(wanted, 0)
	return true
}

// pauseUnserved waits for d. It returns false when everyone has been served
// meanwhile, or the group closes.
func (g *Group) pauseUnserved(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return true
		case <-g.hurrier.wake:
			if g.served() {
				return false
			}
		case <-g.stop:
			return false
		}
	}
}

// askCommit asks the leader how far it has committed.
func (g *Group) askCommit(ctx context.Context) {
	id, addr := g.leaderAt(g.inst.Load().raft)
	if id == "" || string(id) == g.id {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.HeartbeatTimeout)
	defer cancel()
	body, err := g.client.call(ctx, addr, methodCommit, nil, nil)
	if err != nil || len(body) != 24 {
		return
	}
	g.hurrier.tell(committedAt{
		term: binary.BigEndian.Uint64(body), index: binary.BigEndian.Uint64(body[8:]), entryTerm: binary.BigEndian.Uint64(body[16:]),
	})
}

// passOn gives news to raft and reports whether raft knows it now: it does not
// when the term is over, or the entry itself is not here yet.
func (g *Group) passOn(c committedAt) bool {
	in := g.inst.Load()
	if c.index <= in.raft.CommitIndex() {
		return true
	}
	id, addr := g.leaderAt(in.raft)
	var e raft.Log
	if id == "" || string(id) == g.id || c.term != in.raft.CurrentTerm() || g.store.GetLog(c.index, &e) != nil || e.Term != c.entryTerm {
		return false
	}
	in.trans.inject(&raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{
			ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(plainAddr(addr)),
		},
		Term:              c.term,
		Leader:            []byte(plainAddr(addr)), //nolint:staticcheck // peers of raft 1.8 read it
		PrevLogEntry:      c.index,
		PrevLogTerm:       c.entryTerm,
		LeaderCommitIndex: c.index,
	})
	return true
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
