package web

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"cairn/node/api"
)

const (
	adminKey = "ck_admin"
	agentKey = "ck_agent"
)

// fake is an api.Service that notes calls and gives what was laid out for them.
type fake struct {
	mu      sync.Mutex
	calls   []fakeCall
	answers map[string]any   // by method; absent: the zero value
	errs    map[string]error // by method; "" is every method
	keys    map[string]api.Caller
	reads   []api.Read
	events  *eventLog
}

type fakeCall struct {
	method string
	args   []any
}

func newFake() *fake {
	return &fake{
		answers: map[string]any{}, errs: map[string]error{}, events: newEventLog(),
		keys: map[string]api.Caller{
			adminKey: {Namespace: "default", Agent: "admin", Principal: "admin", Roles: []string{api.RoleAdmin}, KeyID: "k1"},
			agentKey: {Namespace: "default", Agent: "planner-1", Principal: "alice", Roles: []string{api.RoleAgent}, KeyID: "k2"},
		},
	}
}

func give[T any](f *fake, method string, args ...any) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fakeCall{method, args})
	var zero T
	if err := f.errs[method]; err != nil {
		return zero, err
	}
	if err := f.errs[""]; err != nil {
		return zero, err
	}
	switch v := f.answers[method].(type) {
	case nil:
		return zero, nil
	case T:
		return v, nil
	case func(args []any) any:
		return v(args).(T), nil
	default:
		panic(fmt.Sprintf("%s: answer of type %T, want %T", method, v, zero))
	}
}

func (f *fake) fail(method string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs[method] = err
}

func (f *fake) removeKey(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, key)
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

func (f *fake) last() fakeCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) == 0 {
		return fakeCall{}
	}
	return f.calls[len(f.calls)-1]
}

func (f *fake) Authenticate(_ context.Context, bearer string) (api.Caller, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.errs["Authenticate"]; err != nil {
		return api.Caller{}, err
	}
	c, ok := f.keys[bearer]
	if !ok {
		return api.Caller{}, &api.Error{Code: api.CodeUnauthenticated, Detail: "unknown key", Cause: errors.New("secret cause")}
	}
	return c, nil
}

func (f *fake) AwaitRead(_ context.Context, r api.Read) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads = append(f.reads, r)
	return 812, f.errs["AwaitRead"]
}

func (f *fake) Ready(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errs["Ready"]
}

func (f *fake) Feed(_ context.Context, c api.Caller, cursor string, filter api.FeedFilter) (api.FeedStream, error) {
	if _, err := give[struct{}](f, "Feed", c, cursor, filter); err != nil {
		return nil, err
	}
	return f.events.open(cursor)
}

// eventLog is a feed with the cursors 1:<n>.1 for n = 1, 2, ...
type eventLog struct {
	mu     sync.Mutex
	events []api.FeedMessage
	more   chan struct{} // closed and replaced when an event is added
	live   int
}

func newEventLog() *eventLog { return &eventLog{more: make(chan struct{})} }

func (l *eventLog) add(m api.FeedMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.Type, m.Index = "event", uint64(len(l.events)+1)
	m.Cursor = fmt.Sprintf("1:%d.1", m.Index)
	l.events = append(l.events, m)
	close(l.more)
	l.more = make(chan struct{})
}

func (l *eventLog) open(cursor string) (api.FeedStream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &eventStream{log: l, at: len(l.events)}
	if cursor != "" {
		var epoch, index, sub int
		if _, err := fmt.Sscanf(cursor, "%d:%d.%d", &epoch, &index, &sub); err != nil || index > len(l.events) {
			return nil, api.Invalid("cursor", "is newer than the log", cursor)
		}
		s.at = index
	}
	l.live++
	return s, nil
}

func (l *eventLog) streams() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

type eventStream struct {
	log     *eventLog
	at      int
	greeted bool
}

func (s *eventStream) Next(ctx context.Context) (api.FeedMessage, error) {
	if !s.greeted {
		s.greeted = true
		return api.FeedMessage{Type: "welcome", Cursor: fmt.Sprintf("1:%d.1", s.at), Node: "n1"}, nil
	}
	for {
		s.log.mu.Lock()
		events, more := s.log.events, s.log.more
		s.log.mu.Unlock()
		if s.at < len(events) {
			s.at++
			return events[s.at-1], nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return api.FeedMessage{}, ctx.Err()
		}
	}
}

func (s *eventStream) Close() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.live--
}
