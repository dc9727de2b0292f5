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
	spent            func(who Caller, day int64) (tokens int64, last time.Time) // nil: nothing is known

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

func newBudget(o Options, now func() time.Time) *budget {
	return &budget{namespace: o.Namespace, agent: o.Agent, now: now, spent: o.Spent, accounts: map[Caller]*account{}}
}

// booked is what a payer spent on a day by the books, and when last.
func (b *budget) booked(key Caller, now time.Time) (int64, time.Time) {
	if b.spent == nil {
		return 0, time.Time{}
	}
	return b.spent(key, dayOf(now))
}

func dayOf(t time.Time) int64 { return t.Unix() / 86_400 }

// reservation is what was taken before a call, to be settled after it.
type reservation struct {
	payers []*account
	tokens int64
}

// reserve takes tokens from the agent and its namespace, or from neither and says when they will be there.
func (b *budget) reserve(who Caller, tokens int64) (reservation, error) {
	now := b.now()
	ofNamespace, lastNamespace := b.booked(Caller{Namespace: who.Namespace}, now)
	ofAgent, lastAgent := b.booked(who, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := reservation{tokens: tokens}
	for _, p := range []struct {
		key    Caller
		limit  Limit
		name   string
		booked int64
		last   time.Time
	}{
		{Caller{Namespace: who.Namespace}, b.namespace, "namespace", ofNamespace, lastNamespace},
		{who, b.agent, "agent", ofAgent, lastAgent},
	} {
		a := b.accountLocked(p.key, p.limit, now, p.last)
		a.spent = max(a.spent, p.booked)
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

// accountLocked opens an account with a full bucket, or with an empty one when the books show a payment within the last
// minute: how much of the bucket that took is not known.
func (b *budget) accountLocked(key Caller, limit Limit, now, last time.Time) *account {
	a := b.accounts[key]
	if a == nil {
		a = &account{bucket: float64(limit.PerMinute), at: now}
		if now.Sub(last) < time.Minute {
			a.bucket = 0
		}
		b.accounts[key] = a
	}
	if limit.PerMinute > 0 && now.After(a.at) {
		a.bucket = min(float64(limit.PerMinute), a.bucket+now.Sub(a.at).Minutes()*float64(limit.PerMinute))
	}
	a.at = now
	if day := dayOf(now); day != a.day {
		a.day, a.spent = day, 0
	}
	return a
}

// allows reports whether tokens can be taken, else how long to wait. A question larger than the bucket passes when the
// bucket is full, and leaves it in debt: else it would wait for ever. One that is larger than a day's tokens never passes, so
// that midnight is nothing to wait for.
func (a *account) allows(limit Limit, tokens int64, now time.Time) (wait time.Duration, ok bool) {
	if limit.PerDay >= 0 && tokens > limit.PerDay {
		return 24 * time.Hour, false
	}
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
