package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// RecallInput is a task with the experiences that were recalled for it, best first.
type RecallInput struct {
	Task    string
	Context string
	Items   []Item // distinct ids, at most 50
}

// RankedItem is an item's place. Scored is false for one that the model did not name: it keeps its order after the others.
type RankedItem struct {
	ID     string
	Score  float64 // [0,1]
	Scored bool
}

var rerankSchema = schema{"ranking", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["ranking"],"properties":{"ranking":{"type":"array","maxItems":50,"items":{"type":"object","additionalProperties":false,"required":["id","score"],"properties":{"id":{"type":"string","maxLength":64},"score":{"type":"number","minimum":0,"maximum":1}}}}}}`)}

// Rerank orders items by their use for the task. The result has every item once. An answer that names an id which was
// not sent, or one twice, is repaired once and then ErrUnreadable; the caller keeps the order it had.
func (c *Client) Rerank(ctx context.Context, who Caller, in RecallInput) ([]RankedItem, error) {
	if len(in.Items) < 2 {
		return unscored(in.Items), nil
	}
	var out []RankedItem
	err := c.ask(ctx, question{
		who: who, role: RoleRerank, schema: rerankSchema,
		prompt: func(maxChars int) (string, string, error) {
			return render(RoleRerank, languageOf(in.Task), in.data(maxChars))
		},
		read: func(answer string) (err error) {
			out, err = in.readRanking(answer)
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("rerank: %w", err)
	}
	return out, nil
}

func (in RecallInput) data(maxChars int) map[string]any {
	return map[string]any{
		"Task": limitText(in.Task, maxChars), "Context": limitText(in.Context, maxChars), "Items": fitItems(in.Items, maxChars/2),
		"MaxSteps": maxRewriteSteps,
	}
}

func (in RecallInput) has(id string) bool {
	return slices.ContainsFunc(in.Items, func(it Item) bool { return it.ID == id })
}

func unscored(items []Item) []RankedItem {
	out := make([]RankedItem, len(items))
	for i, it := range items {
		out[i].ID = it.ID
	}
	return out
}

func (in RecallInput) readRanking(answer string) ([]RankedItem, error) {
	var raw struct {
		Ranking *[]struct {
			ID    string   `json:"id"`
			Score *float64 `json:"score"`
		} `json:"ranking"`
	}
	if err := parse(answer, &raw); err != nil {
		return nil, err
	}
	if raw.Ranking == nil || len(*raw.Ranking) == 0 {
		return nil, errors.New(`"ranking" is missing or empty`)
	}
	named := map[string]bool{}
	var out []RankedItem
	for _, x := range *raw.Ranking {
		switch {
		case !in.has(x.ID):
			return nil, errors.New("it names an id that is not in the list")
		case named[x.ID]:
			return nil, errors.New("it names an id twice")
		case x.Score == nil || !unitRange(*x.Score):
			return nil, errors.New("a score is missing or not between 0 and 1")
		}
		named[x.ID] = true
		out = append(out, RankedItem{x.ID, *x.Score, true})
	}
	slices.SortStableFunc(out, func(a, b RankedItem) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	for _, it := range in.Items {
		if !named[it.ID] {
			out = append(out, RankedItem{ID: it.ID})
		}
	}
	return out, nil
}
