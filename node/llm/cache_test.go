package llm

import (
	"context"
	"testing"
	"time"
)

// TestTheCacheKeyIsTheWholeQuestion: what decides an answer is in the key, and only that.
func TestTheCacheKeyIsTheWholeQuestion(t *testing.T) {
	base := func() *call {
		return &call{
			e: &endpoint{model: Model{BaseURL: "http://a/v1", Name: "m", Temperature: .5, MaxTokens: 100}},
			q: question{who: Caller{"n", "ann"}, role: RoleJudge, schema: judgeSchema},
		}
	}
	key := func(change func(*call)) cacheKey {
		k := base()
		change(k)
		return k.cacheKey("system", "user")
	}
	want := base().cacheKey("system", "user")
	seed, zero := 7, 0
	for name, change := range map[string]func(*call){
		"namespace":   func(k *call) { k.q.who.Namespace = "other" },
		"role":        func(k *call) { k.q.role = RoleReward },
		"schema":      func(k *call) { k.q.schema = rewardSchema },
		"endpoint":    func(k *call) { k.e.model.BaseURL = "http://b/v1" },
		"model":       func(k *call) { k.e.model.Name = "n" },
		"temperature": func(k *call) { k.e.model.Temperature = .6 },
		"length":      func(k *call) { k.e.model.MaxTokens = 101 },
		"seed":        func(k *call) { k.e.model.Seed = &seed },
		"seed 0":      func(k *call) { k.e.model.Seed = &zero },
	} {
		if key(change) == want {
			t.Errorf("%s is not in the key", name)
		}
	}
	for name, got := range map[string]cacheKey{
		"system": base().cacheKey("System", "user"), "user": base().cacheKey("system", "User"), "where they meet": base().cacheKey("systemu", "ser"),
	} {
		if got == want {
			t.Errorf("%s is not in the key", name)
		}
	}
	for name, change := range map[string]func(*call){
		"agent":    func(k *call) { k.q.who.Agent = "bob" }, // of the same namespace: the answer is the same
		"API key":  func(k *call) { k.e.model.Key = "sk-other" },
		"patience": func(k *call) { k.e.model.Timeout, k.e.model.Retries, k.e.model.Stream = time.Hour, 9, true },
	} {
		if key(change) != want {
			t.Errorf("%s asks the same question once more", name)
		}
	}
}

// TestTheCacheIsBounded: the answer that was not used for longest leaves.
func TestTheCacheIsBounded(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.CacheSize = 2 }, says(`{"score":0.5,"reason":""}`))
	ask := func(task string, requests int) {
		t.Helper()
		if _, err := h.Reward(context.Background(), ann, RewardInput{Task: task}); err != nil {
			t.Fatal(err)
		}
		if n := len(h.script.requests()); n != requests {
			t.Errorf("%s: %d requests, want %d", task, n, requests)
		}
	}
	ask("one", 1)
	ask("two", 2)
	ask("one", 2)
	ask("three", 3)
	ask("one", 3)
	ask("two", 4)
	if u := h.Usage()[UsageKey{ann, RoleReward, "m-reward"}]; u.Calls != 4 || u.Cached != 2 || u.PromptTokens != 40 {
		t.Errorf("usage %+v", u)
	}
}
