package llm

import (
	"sync"
	"time"
)

// Caller is who a call is made for: it pays from its budget.
type Caller struct {
	Namespace string
	Agent     string
}

// budget holds a token bucket and the tokens of the UTC day for every namespace and agent that made a call.
type budget struct {
	namespace, agent Limit
	now              func() time.Time

	mu       sync.Mutex // guards accounts
	accounts map[Caller]*account
}

// account is what one payer has left.
type account struct {
	bucket float64 // tokens
	at     time.Time
	day    int64 // days since 1970
	spent  int64 // on that day
}

func newBudget(namespace, agent Limit, now func() time.Time) *budget {
	return &budget{namespace: namespace, agent: agent, now: now, accounts: map[Caller]*account{}}
}

// reservation is what was taken before a call, to be settled after it.
type reservation struct {
	payers []*account
	tokens int64
}

// reserve takes tokens from the agent and its namespace, or from neither and says when they will be there.
func (b *budget) reserve(who Caller, tokens int64) (reservation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	r := reservation{tokens: tokens}
	for _, p := range []struct {
		key   Caller
		limit Limit
		name  string
	}{{Caller{Namespace: who.Namespace}, b.namespace, "namespace"}, {who, b.agent, "agent"}} {
		a := b.accountLocked(p.key, p.limit, now)
		if wait, ok := a.allows(p.limit, tokens, now); !ok {
			return reservation{}, &callError{kind: ErrBudget, detail: p.name, after: wait}
		}
		r.payers = append(r.payers, a)
	}
	for _, a := range r.payers {
		a.bucket -= float64(tokens)
		a.spent += tokens
	}
	return r, nil
}

func (b *budget) accountLocked(key Caller, limit Limit, now time.Time) *account {
	a := b.accounts[key]
	if a == nil {
		a = &account{bucket: float64(limit.PerMinute), at: now}
		b.accounts[key] = a
	}
	if limit.PerMinute > 0 && now.After(a.at) {
		a.bucket = min(float64(limit.PerMinute), a.bucket+now.Sub(a.at).Minutes()*float64(limit.PerMinute))
	}
	a.at = now
	if day := now.Unix() / 86_400; day != a.day {
		a.day, a.spent = day, 0
	}
	return a
}

// allows reports whether tokens can be taken, else how long to wait. A question larger than the bucket passes when the
// bucket is full, and leaves it in debt: else it would wait for ever.
func (a *account) allows(limit Limit, tokens int64, now time.Time) (wait time.Duration, ok bool) {
	if limit.PerDay >= 0 && a.spent+tokens > limit.PerDay {
		next := time.Unix((a.day+1)*86_400, 0)
		return next.Sub(now), false
	}
	if limit.PerMinute < 0 {
		return 0, true
	}
	need := min(float64(tokens), float64(limit.PerMinute))
	switch {
	case limit.PerMinute == 0:
		return time.Hour, false
	case a.bucket < need:
		return time.Duration((need - a.bucket) / float64(limit.PerMinute) * float64(time.Minute)), false
	}
	return 0, true
}

// settle replaces the reserved tokens by those that were used.
func (b *budget) settle(r reservation, used int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range r.payers {
		a.bucket += float64(r.tokens - used)
		a.spent = max(0, a.spent+used-r.tokens)
	}
}
