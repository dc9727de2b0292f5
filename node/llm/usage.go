package llm

import "sync"

// Usage counts what calls cost. Tokens are those the endpoint reported; where it reported none they are estimated and
// the call is counted in Estimated too. What came from the cache of this package cost nothing and is in Cached alone.
type Usage struct {
	Calls          int64 // requests that reached the endpoint, repairs and retries included
	Cached         int64 // answers from the cache, no request made
	Repairs        int64 // requests to repair an answer
	Retries        int64 // tries after one that failed in passing
	Failed         int64 // questions that ended without a valid answer
	Refused        int64 // questions not asked for want of budget
	Estimated      int64 // calls whose tokens are estimated
	PromptTokens   int64 // sent, those in ProviderCached included
	AnswerTokens   int64 // received
	ProviderCached int64 // of PromptTokens those that the endpoint served from its own cache
}

func (u *Usage) add(o Usage) {
	u.Calls += o.Calls
	u.Cached += o.Cached
	u.Repairs += o.Repairs
	u.Retries += o.Retries
	u.Failed += o.Failed
	u.Refused += o.Refused
	u.Estimated += o.Estimated
	u.PromptTokens += o.PromptTokens
	u.AnswerTokens += o.AnswerTokens
	u.ProviderCached += o.ProviderCached
}

// UsageKey is one line of the accounts.
type UsageKey struct {
	Caller
	Role  Role
	Model string
}

// ledger adds up usage.
type ledger struct {
	mu    sync.Mutex // guards lines
	lines map[UsageKey]Usage
}

func (l *ledger) add(key UsageKey, u Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.lines[key]
	sum.add(u)
	l.lines[key] = sum
}

// Usage returns a copy of the accounts since the client was made.
func (c *Client) Usage() map[UsageKey]Usage {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	out := make(map[UsageKey]Usage, len(c.ledger.lines))
	for k, u := range c.ledger.lines {
		out[k] = u
	}
	return out
}

// Drain returns the accounts since the last call and begins new ones, for books that are kept elsewhere.
func (c *Client) Drain() map[UsageKey]Usage {
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	out := c.ledger.lines
	c.ledger.lines = map[UsageKey]Usage{}
	return out
}

// Restore puts back what Drain gave and could not be booked.
func (c *Client) Restore(lines map[UsageKey]Usage) {
	for key, u := range lines {
		c.ledger.add(key, u)
	}
}
