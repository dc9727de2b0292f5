package llm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode"

	openai "github.com/sashabaranov/go-openai"
)

// Client asks the configured models. Its methods are safe for concurrent use.
type Client struct {
	opts      Options
	endpoints map[Role]*endpoint
	slots     chan struct{}
	budget    *budget
	cache     *cache
	ledger    ledger
	doer      doer
	pause     func(ctx context.Context, d time.Duration) error
}

// New makes a client. It opens no connection; an endpoint that is down is noticed by the first call.
func New(o Options) (*Client, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("language model options: %w", err)
	}
	return newClient(o, time.Now, pause), nil
}

func newClient(o Options, now func() time.Time, pause func(context.Context, time.Duration) error) *Client {
	c := &Client{
		opts: o, endpoints: map[Role]*endpoint{}, slots: make(chan struct{}, o.Parallel), doer: newDoer(), pause: pause,
		budget: newBudget(o, now), cache: newCache(o.CacheSize, o.CacheTTL, now),
		ledger: ledger{lines: map[UsageKey]Usage{}},
	}
	formats := map[string]*formatLevel{}
	for role, m := range o.Models {
		if m.Name == "" {
			continue
		}
		at := m.BaseURL + "\x00" + m.Name + "\x00" + m.Schema
		if formats[at] == nil {
			formats[at] = newFormatLevel(m.Schema)
		}
		c.endpoints[role] = newEndpoint(role, m, c.doer, formats[at])
	}
	return c
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close drops idle connections. Calls under way go on; a nil client has nothing to close.
func (c *Client) Close() {
	if c != nil {
		c.doer.http.CloseIdleConnections()
	}
}

// Enabled reports whether a model is set for a role. A nil client has none.
func (c *Client) Enabled(role Role) bool { return c != nil && c.endpoints[role] != nil }

// Settings are the client's options without keys.
func (c *Client) Settings() Options {
	o := c.opts
	o.Key = ""
	o.Models = make(map[Role]Model, len(c.opts.Models))
	for role, m := range c.opts.Models {
		m.Key = ""
		o.Models[role] = m
	}
	return o
}

// question is what one call asks: how it is put for a bound on its length, and how an answer is read.
type question struct {
	who    Caller
	role   Role
	schema schema
	prompt func(maxChars int) (system, user string, err error)
	// read parses and checks an answer. Its error is told to the model once, so it must not repeat foreign text.
	read func(answer string) error
}

// ask gets a valid answer from the cache or the model. The result is in what q.read filled.
func (c *Client) ask(ctx context.Context, q question) error {
	if !c.Enabled(q.role) {
		return ErrDisabled
	}
	e := c.endpoints[q.role]
	call := &call{c: c, e: e, q: q, key: UsageKey{Caller: q.who, Role: q.role, Model: e.model.Name}}
	err := call.run(ctx, e.model.MaxPrompt)
	if errors.Is(err, ErrTooLong) {
		err = call.run(ctx, e.model.MaxPrompt/3)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrBudget):
		call.spent.Refused++
	default:
		call.spent.Failed++
	}
	c.ledger.add(call.key, call.spent)
	return err
}

// call is one question under way.
type call struct {
	c     *Client
	e     *endpoint
	q     question
	key   UsageKey
	spent Usage
}

func (k *call) run(ctx context.Context, maxChars int) error {
	system, user, err := k.q.prompt(maxChars)
	if err != nil {
		return fmt.Errorf("render prompt of %s: %w", k.q.role, err)
	}
	id := k.cacheKey(system, user)
	if text, ok := k.c.cache.get(id); ok && k.q.read(text) == nil {
		k.spent.Cached++
		return nil
	}
	messages := []message{{openai.ChatMessageRoleSystem, system}, {openai.ChatMessageRoleUser, user}}
	answer, problem, err := k.attempt(ctx, messages)
	if err == nil && problem != nil {
		k.spent.Repairs++
		messages = append(messages,
			message{openai.ChatMessageRoleAssistant, clip(orText(answer, "(empty)"), 4000)},
			message{openai.ChatMessageRoleUser, repairText(system+user, problem)})
		answer, problem, err = k.attempt(ctx, messages)
	}
	switch {
	case err != nil:
		return err
	case problem != nil:
		return &callError{kind: ErrUnreadable, detail: clip(problem.Error(), 200)}
	}
	k.c.cache.put(id, k.q.who.Namespace, answer)
	return nil
}

// attempt sends messages and reads the answer; problem says what is wrong with it.
func (k *call) attempt(ctx context.Context, messages []message) (answer string, problem, err error) {
	out, err := k.send(ctx, messages)
	if err != nil {
		return "", nil, err
	}
	problem = k.q.read(out.text)
	if problem != nil && out.cut {
		problem = fmt.Errorf("the answer was cut at %d tokens: be shorter", k.e.model.MaxTokens)
	}
	return out.text, problem, nil
}

const (
	backOff    = 500 * time.Millisecond
	maxPause   = 30 * time.Second // a longer wait is the job's, not the call's
	perMessage = 8                // tokens around a message
)

// send pays for and makes a request, and tries again after what fails in passing.
func (k *call) send(ctx context.Context, messages []message) (reply, error) {
	for try := 0; ; try++ {
		out, err := k.once(ctx, messages)
		if err == nil || !errors.Is(err, ErrUnavailable) || ctx.Err() != nil || try >= k.e.model.Retries {
			return out, err
		}
		wait := max(RetryAfter(err), backOff<<min(try, 6))
		if wait > maxPause {
			return out, err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return out, err
		}
		if k.c.pause(ctx, wait) != nil {
			return out, err
		}
		k.spent.Retries++
	}
}

func (k *call) once(ctx context.Context, messages []message) (reply, error) {
	prompt := int64(0)
	for _, m := range messages {
		prompt += estimate(m.text) + perMessage
	}
	paid, err := k.c.budget.reserve(k.q.who, prompt+int64(k.e.model.MaxTokens))
	if err != nil {
		return reply{}, err
	}
	used := int64(0)
	defer func() { k.c.budget.settle(paid, used) }()
	select {
	case k.c.slots <- struct{}{}:
		defer func() { <-k.c.slots }()
	case <-ctx.Done():
		return reply{}, &callError{kind: ErrUnavailable, detail: "no free slot in time", cause: ctx.Err()}
	}
	k.spent.Calls++
	out, err := k.e.send(ctx, messages, k.q.schema)
	used = k.account(prompt, out, err)
	return out, err
}

// account adds the tokens of a request. One that failed without a report is taken to have cost its prompt when the
// endpoint may have read it.
func (k *call) account(prompt int64, out reply, err error) int64 {
	if out.known {
		k.spent.PromptTokens += int64(out.tokens.PromptTokens)
		k.spent.AnswerTokens += int64(out.tokens.CompletionTokens)
		if d := out.tokens.PromptTokensDetails; d != nil {
			k.spent.ProviderCached += int64(d.CachedTokens)
		}
		return int64(out.tokens.PromptTokens) + int64(out.tokens.CompletionTokens)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return 0
	}
	answer := estimate(out.text)
	k.spent.Estimated++
	k.spent.PromptTokens += prompt
	k.spent.AnswerTokens += answer
	return prompt + answer
}

// cacheKey hashes everything that decides the answer.
func (k *call) cacheKey(system, user string) cacheKey {
	h := sha256.New()
	m := k.e.model
	fmt.Fprintf(h, "%q %q %q %q %g %d %v ", k.q.who.Namespace, k.q.role, m.BaseURL, m.Name, m.Temperature, m.MaxTokens, m.Seed != nil)
	if m.Seed != nil {
		fmt.Fprint(h, *m.Seed)
	}
	fmt.Fprintf(h, "%q %q %q", k.q.schema.body, system, user)
	return cacheKey(h.Sum(nil))
}

// estimate is a cautious guess at the tokens of a text: one for a Han character, one for three others.
func estimate(text string) int64 {
	han, other := 0, 0
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			han++
		} else {
			other++
		}
	}
	return int64(han + (other+2)/3)
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// clip cuts a text to n characters.
func clip(s string, n int) string {
	count := 0
	for i := range s {
		if count == n {
			return s[:i]
		}
		count++
	}
	return s
}

// Generator names a role's model and prompt in the lineage of what they made, such as "llm/gpt-x/distil.en@1".
func (c *Client) generator(role Role, language string) string { return c.named(role, role, language) }

// named is generator for a prompt that asks the model of another role.
func (c *Client) named(role, prompt Role, language string) string {
	return fmt.Sprintf("llm/%s/%s.%s@%s", c.endpoints[role].model.Name, prompt, language, PromptVersion)
}

// schema is a JSON schema with its name.
type schema struct {
	name string
	body json.RawMessage
}

// unitRange reports a number in [0,1].
func unitRange(x float64) bool { return !math.IsNaN(x) && x >= 0 && x <= 1 }
