package api

import "time"

// Job is a unit of durable background work.
type Job struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Status    string `json:"status" enum:"queued,leased,done,dead"`
	Subject   string `json:"subject" doc:"What it works on"`
	Tries     int    `json:"tries"`
	Error     string `json:"error,omitempty"`
	DueAt     string `json:"due_at"`
	CreatedAt string `json:"created_at"`
}

// Stats are the counts of a namespace.
type Stats struct {
	Index       uint64             `json:"index"`
	Agents      int                `json:"agents"`
	Principals  int                `json:"principals"`
	Experiences map[string]int     `json:"experiences" doc:"By status"`
	Pools       map[string]int     `json:"pools" doc:"By pool kind: own, candidates, meta"`
	Routes      map[string]int     `json:"gate_routes"`
	Discarded   map[string]int     `json:"discarded" doc:"By reason"`
	Counters    map[string]int     `json:"counters" doc:"trajectories, attempts, recorded, recalls, recalls_empty, given, helped, outcomes, citations, merges, nominations, promotions, demotions, archived, expired, reflections_retries, reflections_solved, reflections_exhausted"`
	Jobs        map[string]int     `json:"jobs" doc:"By status"`
	Ratios      map[string]float64 `json:"ratios" doc:"hit_rate, mean_utility, mean_reward, duplicate_rate, predictor_mse"`
	TaskTypes   []TaskTypeStats    `json:"task_types"`
	Hours       Series             `json:"hours" doc:"The last 48 hours"`
	Days        Series             `json:"days" doc:"The last 90 days, UTC"`
	LLM         *LLMStats          `json:"llm,omitempty" doc:"What language models cost; for admins, curators and auditors"`
}

// Series are numbers of a namespace over time: place i of each list is the step that begins Step · i seconds after From. The
// last step is under way. Nothing is kept of what was before the server began to count.
type Series struct {
	From     string                `json:"from" doc:"Start of the first step; empty when there is none"`
	Step     int                   `json:"step_seconds"`
	Length   int                   `json:"length"`
	Sums     map[string][]int64    `json:"sums" doc:"How many in the step: recalls, recalls_empty, given, helped, outcomes, outcomes_guided, trajectories, attempts, recorded, merges, archived, expired, nominations, promotions, demotions, citations, route_long_term, route_buffer, route_discard, llm_calls, llm_tokens, llm_cached, llm_failed, llm_refused, reflections_retries, reflections_solved, reflections_exhausted"`
	Standing map[string][]int64    `json:"standing" doc:"How many at the end of the step: pools_own, pools_candidates, pools_meta, status_buffered, job_dead"`
	Ratios   map[string][]*float64 `json:"ratios" doc:"hit_rate, mean_utility, mean_reward, guided_reward, unguided_reward, duplicate_rate, predictor_mse; null where a step has nothing to divide by"`
}

// LLMStats is what a namespace spent on language models.
type LLMStats struct {
	TokensToday int64     `json:"tokens_today" doc:"Counted against the daily budget, UTC"`
	Lines       []LLMLine `json:"lines" doc:"By role and model, since the beginning"`
}

// LLMLine counts the questions to one model in one role. What came from Cairn's own cache is in Cached alone.
type LLMLine struct {
	Role           string `json:"role" doc:"distil, judge, rerank, rewrite, reward"`
	Model          string `json:"model"`
	Calls          int64  `json:"calls" doc:"Requests that reached the endpoint, repairs and retries included"`
	Cached         int64  `json:"cached" doc:"Answers from the server's own cache"`
	Repairs        int64  `json:"repairs"`
	Retries        int64  `json:"retries"`
	Failed         int64  `json:"failed" doc:"Questions that ended without a valid answer"`
	Refused        int64  `json:"refused" doc:"Questions not asked for want of budget"`
	Estimated      int64  `json:"estimated" doc:"Calls whose tokens are estimated"`
	PromptTokens   int64  `json:"prompt_tokens"`
	AnswerTokens   int64  `json:"answer_tokens"`
	ProviderCached int64  `json:"provider_cached" doc:"Prompt tokens that the endpoint served from its own cache"`
}

// PredictorStats say how well the server foresees the rewards of attempts. Errors are mean squares of rewards in [0,1].
type PredictorStats struct {
	Index    uint64            `json:"index"`
	Attempts int               `json:"attempts"`
	MSE      *float64          `json:"mse" doc:"Null before the first attempt with a reward"`
	Recent   *float64          `json:"mse_7d" doc:"Of the last 7 days; null without attempts"`
	Constant *float64          `json:"mse_constant" doc:"What the best constant guess would have had: the variance of the rewards"`
	Sources  []PredictorSource `json:"sources" doc:"By what the expectation was made from"`
}

// PredictorSource is the part of the attempts whose expectation had one source.
type PredictorSource struct {
	Source   string  `json:"source" doc:"caller, rule, neighbours, mean, none"`
	Attempts int     `json:"attempts"`
	MSE      float64 `json:"mse"`
}

// TaskTypeStats are the outcomes of one task type.
type TaskTypeStats struct {
	TaskType string  `json:"task_type"`
	Outcomes int     `json:"outcomes"`
	Mean     float64 `json:"mean_reward"`
}

// FeedFilter narrows a feed. Empty lists do not filter.
type FeedFilter struct {
	Types     []string `json:"types,omitempty"`
	Pools     []string `json:"pools,omitempty"`
	TaskTypes []string `json:"task_types,omitempty"`
	MinTrust  float64  `json:"min_trust,omitempty"`
	Agents    []string `json:"agents,omitempty"`
}

// FeedHello opens a feed.
type FeedHello struct {
	Type    string     `json:"type"`
	Token   string     `json:"token,omitempty"`
	Cursor  string     `json:"cursor,omitempty"`
	Filters FeedFilter `json:"filters,omitempty"`
}

// FeedMessage is one message of the server: welcome, event or gap. Unused fields are absent.
type FeedMessage struct {
	Type       string         `json:"type"`
	Cursor     string         `json:"cursor,omitempty"`
	Node       string         `json:"node,omitempty"`
	Time       string         `json:"time,omitempty"`
	Index      uint64         `json:"index,omitempty"`
	Event      string         `json:"event,omitempty"`
	Experience string         `json:"experience,omitempty"`
	Agent      string         `json:"agent,omitempty"`
	Principal  string         `json:"principal,omitempty"`
	Data       map[string]any `json:"data,omitempty"`
	From       string         `json:"from,omitempty"`
	To         string         `json:"to,omitempty"`
	Snapshot   string         `json:"snapshot,omitempty"`
}

// Time formats Unix milliseconds as RFC 3339 UTC with milliseconds.
func Time(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00") }
