package api

import "context"

// ModelService is the part of the service that shows which language models are asked, and what that cost.
type ModelService interface {
	// Models shows the settings of this node and the usage of the namespace, for admins and auditors. Keys are never shown.
	Models(ctx context.Context, c Caller) (Models, error)
}

// Models are the language models of a node. Without any, rules do all the work.
type Models struct {
	Roles     []ModelRole `json:"roles" doc:"distil, judge, rerank, rewrite, reward"`
	Prompts   string      `json:"prompts" doc:"Version of the prompts, as in the lineage of what they made"`
	Parallel  int         `json:"parallel" doc:"Questions at once; 0 without models"`
	Namespace ModelBudget `json:"namespace_budget" doc:"For each namespace"`
	Agent     ModelBudget `json:"agent_budget" doc:"For each agent"`
	Waiting   int         `json:"waiting_jobs" doc:"Jobs of the namespace that wait for a model that is out of reach"`
	Usage     LLMStats    `json:"usage" doc:"What the namespace spent"`
}

// ModelRole is what one model is asked for.
type ModelRole struct {
	Role            string  `json:"role"`
	Enabled         bool    `json:"enabled" doc:"False: rules do it"`
	Model           string  `json:"model,omitempty"`
	Endpoint        string  `json:"endpoint,omitempty" doc:"Scheme and host of the endpoint"`
	Temperature     float64 `json:"temperature"`
	MaxTokens       int     `json:"max_tokens" doc:"Longest answer"`
	MaxPrompt       int     `json:"max_prompt" doc:"Longest question in characters"`
	TimeoutMS       int64   `json:"timeout_ms" doc:"Of one try"`
	Retries         int     `json:"retries"`
	Schema          string  `json:"schema,omitempty" enum:"auto,off"`
	RestsForSeconds float64 `json:"rests_for_seconds,omitempty" doc:"It was out of reach and is left alone for so long"`
}

// ModelBudget bounds tokens. -1 is no bound, 0 allows nothing.
type ModelBudget struct {
	PerMinute int64 `json:"per_minute"`
	PerDay    int64 `json:"per_day" doc:"UTC day"`
}
