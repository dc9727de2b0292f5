package world

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// notebook is an ideal memory: it keeps the plan of every success with the task's values taken out and recalls those of
// the same family and environment, the most successful first. Shared, all agents use one book.
type notebook struct {
	shared bool

	mu    sync.Mutex
	books map[string]map[string]*note
}

type note struct{ recalled, helped float64 }

func (n *notebook) book(a Agent, t Task) map[string]*note {
	key := t.Type + t.Environment["office"]
	if !n.shared {
		key += a.ID
	}
	if n.books == nil {
		n.books = map[string]map[string]*note{}
	}
	if n.books[key] == nil {
		n.books[key] = map[string]*note{}
	}
	return n.books[key]
}

func (n *notebook) Recall(_ context.Context, a Agent, t Task) (Recall, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	book := n.book(a, t)
	rate := func(text string) float64 { return (book[text].helped + 1) / (book[text].recalled + 2) }
	texts := slices.Sorted(maps.Keys(book))
	slices.SortStableFunc(texts, func(x, y string) int {
		switch {
		case rate(x) > rate(y):
			return -1
		case rate(x) < rate(y):
			return 1
		}
		return 0
	})
	var r Recall
	for _, text := range texts {
		r.Items = append(r.Items, Item{ID: text, Content: "Plan that worked: " + text, Recalled: book[text].recalled, Helped: book[text].helped})
	}
	r.Receipt = t.ID + "|" + t.Type + t.Environment["office"]
	return r, nil
}

func (n *notebook) Outcome(_ context.Context, a Agent, receipt string, o Outcome) error {
	if a.Liar {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, key, _ := strings.Cut(receipt, "|")
	if !n.shared {
		key += a.ID
	}
	for _, text := range o.Used {
		n.books[key][text].recalled++
		n.books[key][text].helped += o.Reward
	}
	return nil
}

func (n *notebook) Record(_ context.Context, a Agent, t Task, attempt Attempt) error {
	if !attempt.Success {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	book := n.book(a, t)
	text := generalise(t, attempt).String()
	if book[text] == nil {
		book[text] = &note{}
	}
	return nil
}

// generalise takes the task's values out of an attempt.
func generalise(t Task, attempt Attempt) Plan {
	var plan Plan
	for _, s := range attempt.Steps {
		args := map[string]string{}
		for name, v := range s.Call.Args {
			args[name] = v
			if t.Values[name] == v {
				args[name] = "<" + name + ">"
			}
		}
		plan = append(plan, Call{Tool: s.Call.Tool, Args: args})
	}
	return plan
}

func TestTheWorldCanBeLearnt(t *testing.T) {
	for seed := range uint64(5) {
		none := run(t, seed, 86, nil)
		private := run(t, seed, 86, &notebook{})
		shared := run(t, seed, 86, &notebook{shared: true})
		t.Logf("seed %d: none %.3f private %.3f shared %.3f", seed, none.All.Success, private.All.Success, shared.All.Success)
		if private.All.Low <= none.All.High {
			t.Errorf("seed %d: private %+v does not lie above none %+v", seed, private.All, none.All)
		}
		if shared.All.Low <= private.All.High {
			t.Errorf("seed %d: shared %+v does not lie above private %+v", seed, shared.All, private.All)
		}
		if last := shared.Quarters[3]; last.Success < .9 {
			t.Errorf("seed %d: last quarter of shared = %+v, want at least .9", seed, last)
		}
	}
}
