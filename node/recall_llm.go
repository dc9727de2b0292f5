package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/node/llm"
	"cairn/node/recall"
	"cairn/node/store"
)

// modelDeadline bounds all that models do for one recall.
const modelDeadline = 2 * time.Second

// askModels lets models order what was found and write steps from it, where the caller asked for that, both under one
// deadline. What they do not do in time, or not readably, is named in degraded; order and rendering then stay as they are.
func (r *recalling) askModels(ctx context.Context, ranked []recall.Ranked) []recall.Ranked {
	if !r.req.Rerank && !r.req.Rewrite {
		return ranked
	}
	ctx, cancel := context.WithTimeout(ctx, modelDeadline)
	defer cancel()
	if r.req.Rerank {
		var err error
		if ranked, err = r.rerank(ctx, ranked); err != nil {
			r.degrade(ctx, "rerank", err)
		}
	}
	if r.req.Rewrite {
		if err := r.rewrite(ctx, ranked); err != nil {
			r.degrade(ctx, "rewrite", err)
		}
	}
	return ranked
}

func (r *recalling) degrade(ctx context.Context, step string, err error) {
	why := "unavailable"
	switch {
	case errors.Is(err, llm.ErrDisabled):
		why = "no model"
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		why = "timeout"
	case errors.Is(err, llm.ErrBudget):
		why = "budget"
	case errors.Is(err, llm.ErrUnreadable), errors.Is(err, llm.ErrTooLong), errors.Is(err, llm.ErrRefused):
		why = "no valid answer"
	}
	r.out.Degraded = append(r.out.Degraded, step+": "+why)
}

func (r *recalling) payer() llm.Caller { return llm.Caller{Namespace: r.ns.ID, Agent: r.agent.ID} }

func (r *recalling) material(ranked []recall.Ranked) llm.RecallInput {
	in := llm.RecallInput{Task: r.req.Task, Context: r.req.Context}
	for _, x := range ranked {
		e := x.Hit.Meta.(*store.Experience)
		in.Items = append(in.Items, llm.Item{
			ID: x.ID, Kind: string(e.Kind), Scenario: e.Scenario, Content: e.Content, Confidence: score(e.Confidence()),
		})
	}
	return in
}

// rerank orders the ordinary places. What is on trial keeps its own: those places are given for another reason than fit.
func (r *recalling) rerank(ctx context.Context, ranked []recall.Ranked) ([]recall.Ranked, error) {
	var places []int
	var ordinary []recall.Ranked
	for i, x := range ranked {
		if !x.Exploratory && !r.unproven[x.ID] {
			places = append(places, i)
			ordinary = append(ordinary, x)
		}
	}
	if len(ordinary) < 2 && r.n.models.enabled(llm.RoleRerank) {
		return ranked, nil
	}
	order, err := askInRecall(&r.n.models, llm.RoleRerank, func() ([]llm.RankedItem, error) {
		return r.n.models.client.Rerank(ctx, r.payer(), r.material(ordinary))
	})
	if err != nil {
		return ranked, err
	}
	at := map[string]int{}
	for i, x := range order {
		at[x.ID] = i
	}
	slices.SortStableFunc(ordinary, func(a, b recall.Ranked) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	out := slices.Clone(ranked)
	for i, place := range places {
		out[place] = ordinary[i]
		out[place].Rank = place
	}
	return out, nil
}

// rewrite puts steps for this task before the experiences they come from.
func (r *recalling) rewrite(ctx context.Context, ranked []recall.Ranked) error {
	if len(ranked) == 0 && r.n.models.enabled(llm.RoleRewrite) {
		return nil
	}
	got, err := askInRecall(&r.n.models, llm.RoleRewrite, func() (llm.Rewritten, error) {
		return r.n.models.client.Rewrite(ctx, r.payer(), r.material(ranked))
	})
	if err != nil {
		return err
	}
	place := map[string]int{}
	for i, x := range ranked {
		place[x.ID] = i + 1
	}
	for i, s := range got.Steps {
		r.steps = append(r.steps, fmt.Sprintf("%d. %s %s", i+1, s.Text, sources(s.Sources, place)))
	}
	for _, c := range got.Conflicts {
		r.steps = append(r.steps, fmt.Sprintf("[%d] and [%d] contradict each other; [%d] was followed: %s",
			place[c.Kept], place[c.Dropped], place[c.Kept], c.Reason))
	}
	return nil
}

func sources(ids []string, place map[string]int) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprint(place[id]))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// askInRecall asks at once or not at all: a recall does not wait for a model that was out of reach a moment ago.
func askInRecall[T any](m *models, role llm.Role, ask func() (T, error)) (out T, err error) {
	if !m.enabled(role) {
		return out, llm.ErrDisabled
	}
	if m.resting(role) > 0 {
		return out, llm.ErrUnavailable
	}
	out, err = ask()
	return out, m.noted(role, err)
}
