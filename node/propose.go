package node

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"cairn/consensus"
	"cairn/node/api"
	"cairn/node/store"
)

// streams hands out (client, sequence) pairs. A stream has one proposal under way, so its sequences reach the log in
// order; the boot id keeps the streams of one run apart from those of the runs before.
type streams struct {
	client string
	boot   string

	mu   sync.Mutex // guards free, next
	free []*sequence
	next int
}

type sequence struct {
	name string
	seq  uint64
}

func (s *streams) take() *sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boot == "" {
		s.boot = ulid.Make().String()
	}
	if n := len(s.free); n > 0 {
		st := s.free[n-1]
		s.free = s.free[:n-1]
		st.seq++
		return st
	}
	s.next++
	return &sequence{name: s.client + "/" + s.boot + "/" + strconv.Itoa(s.next), seq: 1}
}

func (s *streams) give(st *sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, st)
}

// proposer commits commands; *consensus.Group is one.
type proposer interface {
	Propose(ctx context.Context, data []byte) (consensus.Result, error)
	ProposeFreeing(ctx context.Context, data []byte) (consensus.Result, error)
}

// propose commits a command and returns what applying it gave. A refusal of the state machine is an *api.Error.
func (n *Node) propose(ctx context.Context, c api.Caller, w api.Write, kind store.Kind, ns string, body any) (store.Result, error) {
	cmd, err := store.NewCommand(kind, ns, body)
	if err != nil {
		return store.Result{}, err
	}
	cmd.Actor, cmd.KeyID = c.Agent, c.KeyID
	if w.IdempotencyKey != "" {
		cmd.Idem = &store.Idempotency{Key: w.IdempotencyKey, Hash: w.BodyHash}
	}
	st := n.streams.take()
	cmd.Client, cmd.Seq = st.name, st.seq
	data, err := cmd.Encode()
	if err != nil {
		return store.Result{}, err
	}
	send := n.proposer.Propose
	if kind == store.KindErase || kind == store.KindPurge || kind == store.KindTick {
		send = n.proposer.ProposeFreeing
	}
	res, err := send(ctx, data)
	if err != nil {
		// The stream is dropped: what became of its last sequence is not known.
		return store.Result{}, proposeError(err)
	}
	n.streams.give(st)
	out, err := store.DecodeResult(res.Value)
	if err != nil {
		return store.Result{}, err
	}
	if out.Reject != nil {
		return out, rejectError(out.Reject)
	}
	return out, nil
}

func rejectError(r *store.Reject) *api.Error {
	e := &api.Error{Code: api.Code(r.Code), Detail: r.Detail}
	if r.Location != "" {
		e.Fields = []api.Field{{Location: r.Location, Message: r.Detail}}
	}
	if e.Code == api.CodeOverloaded {
		e.RetryAfter = time.Minute
	}
	return e
}

func proposeError(err error) error {
	switch {
	case errors.Is(err, consensus.ErrTooLarge):
		return &api.Error{Code: api.CodeTooLarge, Detail: "the request is larger than 4 MiB in the log", Cause: err}
	case errors.Is(err, consensus.ErrStorageFull):
		return &api.Error{Code: api.CodeStorageFull, Detail: "the disk is 90 % full: reads and deletes go on", Cause: err}
	case errors.Is(err, consensus.ErrOutcomeUnknown):
		return api.Unavailable("the write may have been applied; repeat it with the same Idempotency-Key", time.Second, err)
	case errors.Is(err, consensus.ErrNoLeader), errors.Is(err, consensus.ErrNotLeader):
		return api.Unavailable("no leader: this node has no quorum", time.Second, err)
	case errors.Is(err, consensus.ErrHalted):
		return api.Unavailable("this node stopped applying; see its log", 30*time.Second, err)
	case errors.Is(err, consensus.ErrClosed):
		return api.Unavailable("the node is shutting down", time.Second, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return api.Unavailable("the request ended before the write was answered", time.Second, err)
	}
	return fmt.Errorf("propose: %w", err)
}

// call is the frame of a write: a repeated idempotency key gets the first answer, without the work; else build makes the
// command's body, which is proposed, and its result is decoded. A precondition that failed on something build looked up is
// tried again twice.
func call[T any](ctx context.Context, n *Node, c api.Caller, w api.Write, kind store.Kind, build func(v *store.View, ns *store.Namespace) (any, error)) (T, store.Result, error) {
	var out T
	for try := 0; ; try++ {
		body, replay, err := n.prepare(c, w, build)
		if err != nil {
			return out, store.Result{}, err
		}
		if replay != nil {
			return out, *replay, store.DecodeBody(replay.Body, &out)
		}
		res, err := n.propose(ctx, c, w, kind, c.Namespace, body)
		if err != nil {
			if retryable(err) && try < 2 {
				continue
			}
			return out, res, err
		}
		return out, res, store.DecodeBody(res.Body, &out)
	}
}

// changedMeanwhile marks the refusals that another look at the state can heal.
const changedMeanwhile = "the merge target changed"

func retryable(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodePrecondition && e.Detail == changedMeanwhile
}

func (n *Node) prepare(c api.Caller, w api.Write, build func(v *store.View, ns *store.Namespace) (any, error)) (any, *store.Result, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return nil, nil, err
	}
	defer v.Close()
	if w.IdempotencyKey != "" {
		body, index, found, conflict, err := v.Replay(ns, c.Agent, w.IdempotencyKey, w.BodyHash)
		if err != nil {
			return nil, nil, err
		}
		if conflict {
			return nil, nil, api.Conflict("the idempotency key was used with another request")
		}
		if found {
			return nil, &store.Result{Replayed: true, Index: index, Body: body}, nil
		}
	}
	body, err := build(v, ns)
	return body, nil, err
}

// openFor opens a view together with the caller's namespace.
func (n *Node) openFor(c api.Caller) (*store.View, *store.Namespace, error) {
	v, err := n.store.View()
	if err != nil {
		return nil, nil, api.Unavailable("the node is shutting down", time.Second, err)
	}
	ns, err := v.Namespace(c.Namespace)
	if err == nil && ns == nil {
		err = api.NotFound("namespace")
	}
	if err != nil {
		v.Close()
		return nil, nil, err
	}
	return v, ns, nil
}

func done[T any](value T, res store.Result, status int) api.Done[T] {
	return api.Done[T]{Value: value, Index: res.Index, Replayed: res.Replayed, Status: status}
}
