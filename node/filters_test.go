package node

import (
	"testing"
	"time"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// TestHardFilters: nothing passes a filter by scoring well, and what a condition does not speak of is not held against an
// experience.
func TestHardFilters(t *testing.T) {
	now := time.Now().UnixMilli()
	trusted := &federation.Score{Trust: 600_000}
	with := func(change func(*store.Experience)) store.Experience {
		e := store.Experience{Kind: federation.KindSuccess, TaskType: "airline", CreatedAt: now - 1000}
		if change != nil {
			change(&e)
		}
		return e
	}
	plain := with(nil)
	for _, tc := range []struct {
		name    string
		filters api.RecallFilters
		tools   []string // of the agent
		env     map[string]string
		since   int64
		exp     store.Experience
		passes  bool
	}{
		{"no filter", api.RecallFilters{}, nil, nil, 0, plain, true},
		{"valid for another hour", api.RecallFilters{}, nil, nil, 0, with(func(e *store.Experience) { e.ValidUntil = now + 3_600_000 }), true},
		{"not valid any more", api.RecallFilters{}, nil, nil, 0, with(func(e *store.Experience) { e.ValidUntil = now - 1 }), false},
		{"task type", api.RecallFilters{TaskType: "airline"}, nil, nil, 0, plain, true},
		{"another task type", api.RecallFilters{TaskType: "sql"}, nil, nil, 0, plain, false},
		{"kind", api.RecallFilters{Kind: []string{"caution", "success"}}, nil, nil, 0, plain, true},
		{"another kind", api.RecallFilters{Kind: []string{"caution"}}, nil, nil, 0, plain, false},
		{"better than expected", api.RecallFilters{RPE: "positive"}, nil, nil, 0, with(func(e *store.Experience) { e.RPE = 1 }), true},
		{"as expected is not better", api.RecallFilters{RPE: "positive"}, nil, nil, 0, plain, false},
		{"worse than expected", api.RecallFilters{RPE: "negative"}, nil, nil, 0, with(func(e *store.Experience) { e.RPE = -1 }), true},
		{"better is not worse", api.RecallFilters{RPE: "negative"}, nil, nil, 0, with(func(e *store.Experience) { e.RPE = 1 }), false},
		{"made since", api.RecallFilters{}, nil, nil, now - 1000, plain, true},
		{"made before", api.RecallFilters{}, nil, nil, now - 999, plain, false},
		{"trusted enough", api.RecallFilters{MinTrust: .6}, nil, nil, 0, with(func(e *store.Experience) { e.PromotedAt, e.Trust = 1, trusted }), true},
		{"trusted too little", api.RecallFilters{MinTrust: .61}, nil, nil, 0, with(func(e *store.Experience) { e.PromotedAt, e.Trust = 1, trusted }), false},
		{"promoted without trust", api.RecallFilters{MinTrust: .1}, nil, nil, 0, with(func(e *store.Experience) { e.PromotedAt = 1 }), false},
		{"own need no trust", api.RecallFilters{MinTrust: 1}, nil, nil, 0, plain, true},
		{"has the tool", api.RecallFilters{}, []string{"search", "book"}, nil, 0, with(func(e *store.Experience) { e.Tools = []string{"book"} }), true},
		{"lacks a tool", api.RecallFilters{}, []string{"search"}, nil, 0, with(func(e *store.Experience) { e.Tools = []string{"search", "book"} }), false},
		{"lacks a tool here", api.RecallFilters{Tools: []string{"search"}}, []string{"search", "book"}, nil, 0, with(func(e *store.Experience) { e.Tools = []string{"book"} }), false},
		{"lists no tools", api.RecallFilters{}, nil, nil, 0, with(func(e *store.Experience) { e.Tools = []string{"book"} }), true},
		{"precondition met", api.RecallFilters{}, nil, map[string]string{"os": "linux"}, 0, with(func(e *store.Experience) { e.Preconditions = map[string]string{"os": "linux"} }), true},
		{"precondition not met", api.RecallFilters{}, nil, map[string]string{"os": "mac"}, 0, with(func(e *store.Experience) { e.Preconditions = map[string]string{"os": "linux"} }), false},
		{"precondition not known", api.RecallFilters{}, nil, map[string]string{"shell": "zsh"}, 0, with(func(e *store.Experience) { e.Preconditions = map[string]string{"os": "linux"} }), true},
		{"another environment", api.RecallFilters{}, nil, map[string]string{"os": "mac"}, 0, with(func(e *store.Experience) { e.Environment = map[string]string{"os": "linux"} }), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &recalling{agent: &store.Agent{Tools: tc.tools}, req: api.RecallRequest{Filters: tc.filters}, env: tc.env, since: tc.since}
			if got := r.hard(&tc.exp); got != tc.passes {
				t.Errorf("passes %v, want %v", got, tc.passes)
			}
		})
	}
}

// TestSubPoolsOfARoute: a route searches its sub-pool, what has no task type, and principles that were promoted as general.
func TestSubPoolsOfARoute(t *testing.T) {
	for _, tc := range []struct {
		name, route string
		exp         store.Experience
		want        bool
	}{
		{"no route", "", store.Experience{TaskType: "sql"}, true},
		{"its sub-pool", "airline", store.Experience{TaskType: "airline"}, true},
		{"another sub-pool", "airline", store.Experience{TaskType: "sql"}, false},
		{"of no type", "airline", store.Experience{}, true},
		{"general", "airline", store.Experience{TaskType: "sql", General: true, Status: federation.StatusPromoted}, true},
		{"general and demoted", "airline", store.Experience{TaskType: "sql", General: true, Status: federation.StatusDemoted}, false},
	} {
		r := &recalling{route: tc.route}
		if got := r.onRoute(&tc.exp); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
