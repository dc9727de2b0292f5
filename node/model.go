package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

const (
	bookEvery    = 2 * time.Second // between two bookings of what models cost
	firstPause   = time.Second     // after a model was out of reach; doubled each time
	longestPause = 2 * time.Minute
	waitForFunds = 5 * time.Minute // a budget that is back sooner is waited for; else the rules do the work
)

// errOutage says that a job cannot go on since what it needs is out of reach: it waits, and no try is counted.
var errOutage = errors.New("out of reach")

// outage is an errOutage with the time to wait.
type outage struct {
	cause error
	after time.Duration
}

func (o *outage) Error() string { return o.cause.Error() }

func (o *outage) Unwrap() []error { return []error{errOutage, o.cause} }

// models asks language models for jobs and recalls. While an endpoint is out of reach it is left alone for a growing
// pause, so that a queue of jobs does not wait for one timeout after the other.
type models struct {
	client *llm.Client // nil: none is configured
	now    func() time.Time

	mu    sync.Mutex // guards below
	pause map[llm.Role]time.Duration
	until map[llm.Role]time.Time
}

// openModels makes the client; books lead from what the state knows of spending to its budget.
func (n *Node) openModels() error {
	n.models.now = time.Now
	n.models.pause, n.models.until = map[llm.Role]time.Duration{}, map[llm.Role]time.Time{}
	if n.cfg.LLM == nil || len(n.cfg.LLM.Models) == 0 {
		return nil
	}
	opts := *n.cfg.LLM
	opts.Spent = n.spentBy
	client, err := llm.New(opts)
	n.models.client = client
	return err
}

func (n *Node) spentBy(who llm.Caller, day int64) (int64, time.Time) {
	v, ns, err := n.openFor(api.Caller{Namespace: who.Namespace})
	if err != nil {
		return 0, time.Time{}
	}
	defer v.Close()
	s, err := v.SpentBy(ns, who.Agent)
	if err != nil || s.At == 0 {
		return 0, time.Time{}
	}
	if s.Day != day {
		s.Today = 0
	}
	return s.Today, time.UnixMilli(s.At)
}

// enabled reports whether a model may be asked in a role.
func (m *models) enabled(role llm.Role) bool { return m.client.Enabled(role) }

// resting says for how long a role is left alone after it was out of reach.
func (m *models) resting(role llm.Role) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.until[role].Sub(m.now())
}

// noted keeps count of how a role answers and returns err.
func (m *models) noted(role llm.Role, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !errors.Is(err, llm.ErrUnavailable) {
		delete(m.pause, role)
		delete(m.until, role)
		return err
	}
	m.pause[role] = min(max(2*m.pause[role], firstPause), longestPause)
	m.until[role] = m.now().Add(max(m.pause[role], llm.RetryAfter(err)))
	return err
}

// askForJob puts a job's question. It returns false, without an error, when the rules have to do the work: no model is
// set, or the budget is spent for long. A model that is out of reach makes the job wait.
func askForJob[T any](m *models, role llm.Role, ask func() (T, error)) (out T, ok bool, err error) {
	if !m.enabled(role) {
		return out, false, nil
	}
	if rest := m.resting(role); rest > 0 {
		return out, false, &outage{llm.ErrUnavailable, rest}
	}
	out, err = ask()
	err = m.noted(role, err)
	switch {
	case err == nil:
		return out, true, nil
	case errors.Is(err, llm.ErrBudget) && llm.RetryAfter(err) > waitForFunds:
		return out, false, nil
	case errors.Is(err, llm.ErrBudget):
		return out, false, &outage{err, llm.RetryAfter(err)}
	case errors.Is(err, llm.ErrUnavailable):
		return out, false, &outage{err, max(m.resting(role), llm.RetryAfter(err))}
	}
	return out, false, err
}

// books writes down now and then what models cost, and once more at the end.
func (n *Node) books(ctx context.Context) {
	timer := time.NewTicker(bookEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			n.book(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookEvery)
			n.book(last)
			cancel()
			return
		}
	}
}

// book proposes what was spent since the last time. What could not be written stays in the accounts.
func (n *Node) book(ctx context.Context) {
	if n.models.client == nil {
		return
	}
	byNamespace := map[string]map[llm.UsageKey]llm.Usage{}
	for key, u := range n.models.client.Drain() {
		part := byNamespace[key.Namespace]
		if part == nil || len(part) == maxBooked {
			if part != nil {
				n.bookPart(ctx, key.Namespace, part)
			}
			part = map[llm.UsageKey]llm.Usage{}
			byNamespace[key.Namespace] = part
		}
		part[key] = u
	}
	for namespace, part := range byNamespace {
		n.bookPart(ctx, namespace, part)
	}
}

// maxBooked bounds the lines of one booking.
const maxBooked = 64

func (n *Node) bookPart(ctx context.Context, namespace string, part map[llm.UsageKey]llm.Usage) {
	var body store.Spend
	for key, u := range part {
		body.Lines = append(body.Lines, store.SpendLine{Agent: key.Agent, Role: string(key.Role), Model: key.Model, Use: store.LLMUse(u)})
	}
	if _, err := n.propose(ctx, api.Caller{}, api.Write{}, store.KindSpend, namespace, body); err != nil {
		n.models.client.Restore(part)
		if ctx.Err() == nil {
			n.log.WarnContext(ctx, "book what models cost", "error", err)
		}
	}
}
