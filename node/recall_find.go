package node

import (
	"context"
	"math/rand/v2"
	"slices"

	"cairn/federation"
	"cairn/index/embed"
	"cairn/node/recall"
	"cairn/node/store"
)

// question is what a recall searches for.
type question struct {
	text   string
	vector embed.Vector // zero when it could not be made in time
}

// found is what the pools hold for a question.
type found struct {
	ordinary []recall.Candidate
	ledger   *probation
}

// find searches the pools and ranks what was found.
func (r *recalling) find(ctx context.Context) error {
	q := r.question(ctx)
	got, err := r.gather(ctx, q)
	if err != nil {
		return err
	}
	shelf, err := r.shelf(ctx, q, got.ledger)
	if err != nil {
		return err
	}
	ordinary, shelf := withoutCopies(got.ordinary, shelf)
	opts := recall.DefaultOptions()
	opts.K = r.k
	if r.req.TokenBudget > 0 {
		opts.TokenBudget = max(1, r.req.TokenBudget-recall.PreambleTokens)
	}
	opts.Explore = r.req.Mode == "inject"
	if r.req.Mode == "search" {
		opts.Lambda = 1 // a wide view in order of score; what goes into a prompt is to differ
	}
	opts.Epsilon, opts.Coin = epsilonOf(r.ns.Settings), rand.Float64()
	ranked, omitted := rankOnce(ordinary, shelf, opts)
	ranked, r.unproven = got.ledger.extra(ranked, opts)
	r.fill(r.askModels(ctx, ranked), omitted)
	return nil
}

func (r *recalling) question(ctx context.Context) question {
	q := question{text: r.req.Task}
	if r.req.Context != "" {
		q.text += "\n" + r.req.Context
	}
	var err error
	if q.vector, err = r.n.embed(ctx, q.text); err != nil {
		r.out.Degraded = append(r.out.Degraded, "embedding: keywords only")
	}
	r.embedParts(ctx, q.vector)
	return q
}

// gather searches for the ordinary places: in the sub-pool to which the task belongs, and in all when that holds too little.
func (r *recalling) gather(ctx context.Context, q question) (found, error) {
	route := r.routed(q)
	if route == nil || !route.Followed {
		return r.ordinary(ctx, q)
	}
	r.route = route.TaskType
	got, err := r.ordinary(ctx, q)
	r.route = ""
	if err != nil {
		return found{}, err
	}
	settled := 0
	for _, c := range got.ordinary {
		if !c.Buffered {
			settled++
		}
	}
	if settled >= r.k {
		return got, nil
	}
	route.Followed = false
	r.total, r.passed = 0, 0
	return r.ordinary(ctx, q)
}

func (r *recalling) ordinary(ctx context.Context, q question) (found, error) {
	got := found{ledger: new(probation)}
	if slices.Contains(r.req.Pools, "own") {
		own, err := r.search(ctx, poolKey{r.ns.Number, r.agent.Number}, q.text, q.vector, r.keepOwn)
		if err != nil {
			return found{}, err
		}
		got.ordinary = append(got.ordinary, own...)
	}
	if slices.Contains(r.req.Pools, "meta") {
		meta, err := r.search(ctx, poolKey{r.ns.Number, store.SharedOwner}, q.text, q.vector, r.keepMeta)
		if err != nil {
			return found{}, err
		}
		got.ordinary = append(got.ordinary, meta...)
		if got.ledger, err = r.onProbation(ctx, q.text, q.vector); err != nil {
			return found{}, err
		}
		got.ordinary = append(got.ordinary, got.ledger.proven...)
	}
	return got, nil
}

// shelf are the candidates that may have the exploratory place, of every task type: what is on trial is to be tried.
func (r *recalling) shelf(ctx context.Context, q question, ledger *probation) ([]recall.Candidate, error) {
	if r.req.Mode != "inject" || !slices.Contains(r.req.Pools, "meta") {
		return nil, nil
	}
	shelf, err := r.search(ctx, poolKey{r.ns.Number, store.SharedOwner}, q.text, q.vector, r.keepCandidate)
	if err != nil {
		return nil, err
	}
	if shelf, err = r.unseen(shelf); err != nil {
		return nil, err
	}
	return r.undisproved(ledger, shelf)
}

// whyEmpty says why nothing is given. A search that has only keywords does not look at every experience, so that what it did
// not meet is looked for.
func (r *recalling) whyEmpty() string {
	if r.total == 0 {
		r.total, r.passed = r.n.index.census(r.ns.Number, func(s *entryState) (inScope, passes bool) {
			return r.inScope(s), r.hard(s.exp)
		})
	}
	return recall.WhyEmpty(r.total, r.passed)
}

// inScope reports whether an experience is in a pool that the recall may give from.
func (r *recalling) inScope(s *entryState) bool {
	if s.exp.Shared() {
		return slices.Contains(r.req.Pools, "meta") && r.keepMeta(s)
	}
	return slices.Contains(r.req.Pools, "own") && s.exp.Owner == r.agent.Number && r.keepOwn(s)
}

// census counts the experiences of a namespace that are in scope, and of these whether any passes.
func (f *follower) census(ns uint32, look func(*entryState) (inScope, passes bool)) (total, passed int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, ent := range f.entries {
		state := ent.state.Load()
		if ent.pool.ns != ns || state == nil {
			continue
		}
		inScope, passes := look(state)
		if inScope {
			total++
		}
		if inScope && passes {
			return total, 1
		}
	}
	return total, 0
}

// onRoute reports whether an experience is in the sub-pool that is searched: that of the route, what belongs to no task
// type, and principles that were proved in several.
func (r *recalling) onRoute(e *store.Experience) bool {
	return r.route == "" || e.TaskType == r.route || e.TaskType == "" || e.General && e.Status == federation.StatusPromoted
}
