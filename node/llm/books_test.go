package llm

import (
	"errors"
	"testing"
	"time"
)

// TestBooksOutliveTheProcess opens a budget over books that show spending: the daily cap holds and the bucket starts empty.
func TestBooksOutliveTheProcess(t *testing.T) {
	at := &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	spent, last := int64(900), at.at.Add(-10*time.Second)
	o := Options{Namespace: Limit{-1, 1000}, Agent: Limit{60, -1}}
	o.Spent = func(who Caller, day int64) (int64, time.Time) {
		if day != at.at.Unix()/86_400 {
			return 0, time.Time{}
		}
		return spent, last
	}
	b := newBudget(o, at.now)
	if _, err := b.reserve(ann, 10); !errors.Is(err, ErrBudget) || RetryAfter(err) > time.Minute {
		t.Errorf("a bucket after a payment 10 s ago: %v, want it to fill first", err)
	}
	at.at = at.at.Add(time.Minute)
	if _, err := b.reserve(ann, 60); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	at.at = at.at.Add(time.Minute)
	if _, err := b.reserve(ann, 60); !errors.Is(err, ErrBudget) || RetryAfter(err) < time.Hour {
		t.Errorf("900 booked and 60 taken of 1000: %v, want to wait for the next day", err)
	}
	at.at = at.at.Add(24 * time.Hour)
	if _, err := b.reserve(ann, 60); err != nil {
		t.Errorf("the next day: %v", err)
	}
}

func TestDrainBeginsNewAccounts(t *testing.T) {
	h := newHarness(t, nil, says(goodVerdict))
	if _, err := h.judge(t); err != nil {
		t.Fatal(err)
	}
	got := h.Drain()
	if len(got) != 1 || len(h.Usage()) != 0 {
		t.Fatalf("drained %v, left %v", got, h.Usage())
	}
	h.Restore(got)
	if u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]; u.Calls != 1 || u.PromptTokens != 10 {
		t.Errorf("put back %+v", u)
	}
}
