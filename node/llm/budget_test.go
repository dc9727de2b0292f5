package llm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestCacheCostsNothing(t *testing.T) {
	h := newHarness(t, nil, says(goodVerdict))
	for range 3 {
		if _, err := h.judge(t); err != nil {
			t.Fatal(err)
		}
	}
	u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]
	if u.Calls != 1 || u.Cached != 2 || u.PromptTokens != 10 || len(h.script.requests()) != 1 {
		t.Errorf("usage %+v", u)
	}
	other := Caller{"other", "ann"}
	in := JudgeInput{TaskType: "airline", Task: "book a flight", Scenario: "booking", Content: "Call `login` before `book`.", Tools: []string{"login", "book"}}
	if _, err := h.Judge(context.Background(), other, in); err != nil {
		t.Fatal(err)
	}
	if u := h.Usage()[UsageKey{other, RoleJudge, "m-judge"}]; u.Calls != 1 || u.Cached != 0 {
		t.Errorf("another namespace was answered from the cache: %+v", u)
	}
	h.Forget("default")
	if _, err := h.judge(t); err != nil || len(h.script.requests()) != 3 {
		t.Errorf("%d requests after Forget, %v", len(h.script.requests()), err)
	}
	h.clock.at = h.clock.at.Add(25 * time.Hour)
	if _, err := h.judge(t); err != nil || len(h.script.requests()) != 4 {
		t.Errorf("%d requests after the time to live, %v", len(h.script.requests()), err)
	}
}

func TestUnreadableIsNotCached(t *testing.T) {
	h := newHarness(t, nil, says("?"), says("?"), says(goodVerdict))
	if _, err := h.judge(t); !errors.Is(err, ErrUnreadable) {
		t.Fatal(err)
	}
	if _, err := h.judge(t); err != nil {
		t.Error(err)
	}
}

func TestZeroBudgetAsksNothing(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"namespace a day":    func(o *Options) { o.Namespace.PerDay = 0 },
		"namespace a minute": func(o *Options) { o.Namespace.PerMinute = 0 },
		"agent a day":        func(o *Options) { o.Agent.PerDay = 0 },
		"agent a minute":     func(o *Options) { o.Agent.PerMinute = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, change, says(goodVerdict))
			_, err := h.judge(t)
			if !errors.Is(err, ErrBudget) || RetryAfter(err) <= 0 || len(h.script.requests()) != 0 {
				t.Errorf("got %v, wait %v, %d requests", err, RetryAfter(err), len(h.script.requests()))
			}
			if u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]; u.Refused != 1 || u.Failed != 0 {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	at := &clock{time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)}
	b := newBudget(Options{Namespace: Limit{1000, 5000}, Agent: Limit{600, -1}}, at.now)
	take := func(agent string, tokens int64) (time.Duration, error) {
		r, err := b.reserve(Caller{"n", agent}, tokens)
		if err == nil {
			b.settle(r, tokens)
		}
		return RetryAfter(err), err
	}
	must := func(agent string, tokens int64, want bool) time.Duration {
		t.Helper()
		wait, err := take(agent, tokens)
		if (err == nil) != want {
			t.Fatalf("%s takes %d: %v, want %v", agent, tokens, err, want)
		}
		return wait
	}
	must("a", 600, true)
	if wait := must("a", 300, false); wait != 30*time.Second {
		t.Errorf("wait %v, want half a minute", wait)
	}
	must("b", 400, true)
	must("c", 1, false) // the namespace is empty
	at.at = at.at.Add(time.Minute)
	must("a", 900, true) // larger than its bucket: passes when full, and leaves a debt
	at.at = at.at.Add(30 * time.Second)
	must("a", 1, false)
	at.at = at.at.Add(time.Minute)
	must("b", 600, true)
	at.at = at.at.Add(time.Minute)
	must("b", 600, true)
	at.at = at.at.Add(time.Minute)
	must("c", 600, true)
	must("d", 400, true)
	at.at = at.at.Add(time.Minute)
	must("c", 600, true)
	at.at = at.at.Add(time.Minute)
	must("d", 300, true)
	if wait := must("e", 600, false); wait <= 50*time.Minute || wait > time.Hour {
		t.Errorf("the day is spent: wait %v, want until midnight", wait)
	}
	at.at = at.at.Add(time.Hour)
	must("e", 600, true)
}

// TestMidnightBringsNothing: what a whole day does not pay for is not to be had soon, also in the minutes before midnight.
func TestMidnightBringsNothing(t *testing.T) {
	at := &clock{time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC)}
	for name, o := range map[string]Options{
		"no tokens a day":      {Namespace: Limit{-1, 0}, Agent: Limit{-1, -1}},
		"too few a day":        {Namespace: Limit{-1, -1}, Agent: Limit{-1, 99}},
		"no tokens at all":     {Namespace: Limit{}, Agent: Limit{}},
		"no tokens in minutes": {Namespace: Limit{0, -1}, Agent: Limit{-1, -1}},
	} {
		if _, err := newBudget(o, at.now).reserve(ann, 100); !errors.Is(err, ErrBudget) || RetryAfter(err) < time.Hour {
			t.Errorf("%s: %v, wait %v", name, err, RetryAfter(err))
		}
	}
	b := newBudget(Options{Namespace: Limit{-1, 100}, Agent: Limit{-1, -1}}, at.now)
	if _, err := b.reserve(ann, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := b.reserve(ann, 100); RetryAfter(err) != time.Minute {
		t.Errorf("spent today: wait %v, want until midnight", RetryAfter(err))
	}
}

// TestSettle gives back what was reserved and not used.
func TestSettle(t *testing.T) {
	at := &clock{time.Unix(1_800_000_000, 0)}
	b := newBudget(Options{Namespace: Limit{100, 100}, Agent: Limit{-1, -1}}, at.now)
	r, err := b.reserve(ann, 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.reserve(ann, 1); !errors.Is(err, ErrBudget) {
		t.Fatalf("got %v while all is reserved", err)
	}
	b.settle(r, 20)
	if _, err := b.reserve(ann, 80); err != nil {
		t.Errorf("got %v, want the rest", err)
	}
}

func TestBudgetInParallel(t *testing.T) {
	at := &clock{time.Unix(1_800_000_000, 0)}
	b := newBudget(Options{Namespace: Limit{-1, 1000}, Agent: Limit{-1, -1}}, at.now)
	var wg sync.WaitGroup
	var mu sync.Mutex
	passed := 0
	for range 50 {
		wg.Go(func() {
			if _, err := b.reserve(ann, 100); err == nil {
				mu.Lock()
				passed++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if passed != 10 {
		t.Errorf("%d of 50 passed, want 10", passed)
	}
}
