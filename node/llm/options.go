package llm

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Role is what a model is asked for. Each has settings of its own.
type Role string

// The roles.
const (
	RoleDistil  Role = "distil"  // lessons from a group of attempts
	RoleJudge   Role = "judge"   // five dimensions of a lesson
	RoleRerank  Role = "rerank"  // order of recalled experiences for a task
	RoleRewrite Role = "rewrite" // steps for a task from recalled experiences
	RoleReward  Role = "reward"  // reward of an attempt that has none
)

// Roles are all roles.
var Roles = []Role{RoleDistil, RoleJudge, RoleRerank, RoleRewrite, RoleReward}

// Schema modes: whether the endpoint is asked to hold its answer to a JSON schema.
const (
	SchemaAuto = "auto" // asked, and no more once the endpoint has refused
	SchemaOff  = "off"  // never; the answer is parsed tolerantly
)

// Model says which model serves a role, and how.
type Model struct {
	BaseURL     string        // endpoint up to and including /v1; default Options.BaseURL
	Key         string        // bearer key; default Options.Key
	Name        string        // model name as the endpoint knows it; empty: the role is off
	Temperature float32       // [0,2]; default 0
	MaxTokens   int           // longest answer in tokens; default 1200, rerank and reward 400
	MaxPrompt   int           // longest question in characters; default 24000
	Timeout     time.Duration // of one try; default 60 s, rerank and rewrite 2 s
	Retries     int           // tries after the first that failed in passing; default 2, rerank and rewrite 0; negative: none
	Seed        *int          // sent when set
	Schema      string        // SchemaAuto (default) or SchemaOff
	Stream      bool          // read the answer as a stream, so that Timeout bounds the time between two pieces of it
}

// Limit bounds tokens, sent and received. A negative number is no bound; zero allows nothing.
type Limit struct {
	PerMinute int64 // refill of the bucket, which also holds as much
	PerDay    int64 // UTC day
}

// Options of a Client. DefaultOptions gives values that only lack an endpoint and a model.
type Options struct {
	BaseURL   string
	Key       string
	Models    map[Role]Model
	Namespace Limit         // for each namespace
	Agent     Limit         // for each agent of a namespace
	Parallel  int           // calls at once; default 2
	CacheSize int           // answers kept; default 2000; negative: none
	CacheTTL  time.Duration // default 24 h

	// Spent tells what a payer spent before this process and beside it: tokens on a UTC day (since 1970) and the time of the
	// last of them. The payer without an agent is the namespace. nil: nothing is known. It is called often and must not block
	// on a model.
	Spent func(who Caller, day int64) (tokens int64, last time.Time)
}

// DefaultOptions returns options without endpoint and models, and with a budget of 200,000 tokens a minute and 5,000,000
// a day for a namespace, and 60,000 and 1,000,000 for an agent.
func DefaultOptions() Options {
	return Options{
		Models: map[Role]Model{}, Namespace: Limit{200_000, 5_000_000}, Agent: Limit{60_000, 1_000_000},
		Parallel: 2, CacheSize: 2000, CacheTTL: 24 * time.Hour,
	}
}

// EnsureDefaults fills what is zero. Budgets are left alone: zero allows nothing.
func (o *Options) EnsureDefaults() {
	if o.Parallel == 0 {
		o.Parallel = 2
	}
	if o.CacheSize == 0 {
		o.CacheSize = 2000
	}
	if o.CacheTTL == 0 {
		o.CacheTTL = 24 * time.Hour
	}
	models := make(map[Role]Model, len(o.Models))
	for role, m := range o.Models {
		models[role] = o.filled(role, m)
	}
	o.Models = models
}

func (o *Options) filled(role Role, m Model) Model {
	quick := role == RoleRerank || role == RoleRewrite
	if m.BaseURL == "" {
		m.BaseURL = o.BaseURL
		if m.Key == "" {
			m.Key = o.Key // the key of one endpoint is never sent to another
		}
	}
	if m.MaxTokens == 0 {
		m.MaxTokens = 1200
		if role == RoleRerank || role == RoleReward || role == RoleJudge {
			m.MaxTokens = 400
		}
	}
	if m.MaxPrompt == 0 {
		m.MaxPrompt = 24_000
	}
	if m.Timeout == 0 {
		m.Timeout = time.Minute
		if quick {
			m.Timeout = 2 * time.Second
		}
	}
	if m.Retries == 0 && !quick {
		m.Retries = 2
	}
	if m.Schema == "" {
		m.Schema = SchemaAuto
	}
	return m
}

// Validate reports every problem at once.
func (o *Options) Validate() error {
	var problems []error
	complain := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.Parallel < 1 || o.Parallel > 64 {
		complain("parallel is %d, want 1..64", o.Parallel)
	}
	for _, role := range Roles {
		m, ok := o.Models[role]
		if !ok || m.Name == "" {
			continue
		}
		if u, err := url.Parse(m.BaseURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			complain("%s: base URL must be http(s)://host/..., up to /v1", role)
		} else if u.User != nil {
			complain("%s: base URL must not hold a password", role)
		}
		if m.Temperature < 0 || m.Temperature > 2 {
			complain("%s: temperature is %g, want 0..2", role, m.Temperature)
		}
		if m.MaxTokens < 16 || m.MaxTokens > 100_000 {
			complain("%s: longest answer is %d tokens, want 16..100000", role, m.MaxTokens)
		}
		if m.MaxPrompt < 500 || m.MaxPrompt > 2_000_000 {
			complain("%s: longest question is %d characters, want 500..2000000", role, m.MaxPrompt)
		}
		if m.Timeout < 0 || m.Retries > 10 {
			complain("%s: timeout must be positive and retries at most 10", role)
		}
		if m.Schema != SchemaAuto && m.Schema != SchemaOff {
			complain("%s: schema is %q, want auto or off", role, m.Schema)
		}
	}
	for role := range o.Models {
		if !known(role) {
			complain("there is no role %q", role)
		}
	}
	return errors.Join(problems...)
}

func known(role Role) bool {
	for _, r := range Roles {
		if r == role {
			return true
		}
	}
	return false
}
