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
	Counters    map[string]int     `json:"counters" doc:"trajectories, attempts, recalls, recalls_empty, outcomes, citations, merges, nominations, promotions, demotions"`
	Jobs        map[string]int     `json:"jobs" doc:"By status"`
	Ratios      map[string]float64 `json:"ratios" doc:"hit_rate, mean_utility, duplicate_rate, success_rate, predictor_mse"`
	TaskTypes   []TaskTypeStats    `json:"task_types"`
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
