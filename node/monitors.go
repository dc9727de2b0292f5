package node

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// Limits of the monitors of a namespace's health. Rates are those of the last window; with less than the number beside it
// a rate says nothing.
const (
	monitorWindow   = 7 * dayMS
	utilityLimit    = .6 // mean utility, and less than in the window before
	utilityGiven    = 20
	emptyLimit      = .5 // of the recalls that found nothing
	emptyRecalls    = 20
	duplicateLimit  = .5 // of what was recorded that was there already
	duplicateWrites = 20
	liftLimit       = -.05 // mean reward after recalls that gave something, less that of the others
	liftOutcomes    = 30
	growthLimit     = .5 // growth of all pools in a window, from growthItems experiences on
	growthItems     = 100
	unusedLimit     = .5 // of the experiences older than unusedAfter that were never given
	unusedAfter     = 30 * dayMS
	unusedItems     = 20
	bufferLimit     = 6 * 24. // hours in the gate's buffer; after 7 days an experience is archived untried
	bufferItems     = 10
	queueLimit      = 600. // seconds that a job is overdue
	errorLimit      = .25  // mean square; what guessing .5 has at worst
	errorAttempts   = 50
	llmLimit        = .2 // of the questions to models that failed or were refused
	llmQuestions    = 10
	recallLimit     = .95 // of the true neighbours that the index finds

	alertItems = 20 // experiences that one alert names

	kindIndexRecall = "index_recall" // of the index of one node, the only sign that is not the state's
)

// health is what the monitors of a namespace look at.
type health struct {
	now            int64
	recent, before tally               // the last window and the one before it
	items          []*store.Experience // live, in order of id
	overdue        []store.Job         // queued or waiting for longer than queueLimit, oldest first
	index          map[string]float64  // recall of the pools with a graph, by owner
}

// windows are the sums of the last window and of the one before it, up to the state's time.
func windows(v *store.View, ns *store.Namespace) (recent, before tally, err error) {
	recent, before = tally{}, tally{}
	since := v.Now() - monitorWindow
	err = v.Hours(ns, since-monitorWindow, func(h *store.Hour) bool {
		if h.Start < since {
			before.add(h)
		} else {
			recent.add(h)
		}
		return true
	})
	return recent, before, err
}

func (n *Node) health(v *store.View, ns *store.Namespace) (*health, error) {
	h := &health{now: v.Now(), items: n.index.live()[ns.Number], index: map[string]float64{}}
	slices.SortFunc(h.items, func(a, b *store.Experience) int { return a.ID.Compare(b.ID) })
	var err error
	if h.recent, h.before, err = windows(v, ns); err != nil {
		return nil, err
	}
	err = v.Jobs(nil, func(_ []byte, j *store.Job) bool {
		if j.Namespace == ns.ID && j.Status == store.JobQueued && overdue(j, h.now) > queueLimit {
			h.overdue = append(h.overdue, *j)
		}
		return true
	})
	checked := n.metrics.check.get()
	owners := map[uint32]string{}
	if len(checked) > 0 {
		err = errors.Join(err, v.Agents(ns, nil, func(_ []byte, a *store.Agent) bool {
			owners[a.Number] = a.ID
			return true
		}))
	}
	for key, recall := range checked {
		if key.ns == ns.Number {
			h.index[owners[key.owner]] = recall
		}
	}
	return h, err
}

// overdue is for how many seconds a job should have been done. One that waits for what is out of reach has been since it
// was made.
func overdue(j *store.Job, now int64) float64 {
	since := j.Due
	if j.Waits > 0 {
		since = j.CreatedAt
	}
	return float64(now-since) / 1000
}

// live lists the live experiences by namespace, in no order.
func (f *follower) live() map[uint32][]*store.Experience {
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := map[uint32][]*store.Experience{}
	for _, e := range f.entries {
		if state := e.state.Load(); state != nil {
			out[e.pool.ns] = append(out[e.pool.ns], state.exp)
		}
	}
	return out
}

// alerts are the signs of ill health, most of which name the experiences to look at first.
func (h *health) alerts() []api.Alert {
	var out []api.Alert
	for _, find := range []func() []api.Alert{
		h.utility, h.empty, h.duplicates, h.lift, h.growth, h.unused, h.buffer, h.queue, h.predictor, h.spending, h.search,
	} {
		out = append(out, find()...)
	}
	return out
}

// named picks up to alertItems of the experiences that keep holds for, those with the least rank first.
func (h *health) named(keep func(*store.Experience) bool, rank func(*store.Experience) float64) []string {
	var found []*store.Experience
	for _, e := range h.items {
		if keep(e) {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b *store.Experience) int { return cmp.Compare(rank(a), rank(b)) })
	out := []string{}
	for _, e := range found[:min(len(found), alertItems)] {
		out = append(out, e.ID.String())
	}
	return out
}

func isGiven(e *store.Experience) bool { return e.Recalled >= federation.One }

// helpRate is u/f of an experience that was given.
func helpRate(e *store.Experience) float64 { return float64(e.Helped) / float64(e.Recalled) }

// unhelpful names what was given most in vain.
func (h *health) unhelpful() []string {
	return h.named(func(e *store.Experience) bool { return isGiven(e) && helpRate(e) < utilityLimit },
		func(e *store.Experience) float64 { return float64(e.Helped - e.Recalled) })
}

func (h *health) utility() []api.Alert {
	now, ok := h.recent.ratios()["mean_utility"]
	was, known := h.before.ratios()["mean_utility"]
	if !ok || !known || h.recent["given"] < utilityGiven || h.before["given"] < utilityGiven || now >= utilityLimit || now >= was {
		return nil
	}
	return []api.Alert{alert("low_utility", now, utilityLimit, nil, h.unhelpful(),
		"what was recalled in 7 days helped in %.0f %% of cases, %.0f %% in the week before", 100*now, 100*was)}
}

// empty names nothing: what is missing has no id.
func (h *health) empty() []api.Alert {
	hit, ok := h.recent.ratios()["hit_rate"]
	if !ok || h.recent["recalls"] < emptyRecalls || 1-hit <= emptyLimit {
		return nil
	}
	return []api.Alert{alert("empty_recalls", 1-hit, emptyLimit, nil, nil,
		"%d of %d recalls in 7 days found nothing", h.recent["recalls/empty"], h.recent["recalls"])}
}

func (h *health) duplicates() []api.Alert {
	rate, ok := h.recent.ratios()["duplicate_rate"]
	if !ok || h.recent["merges"]+h.recent["recorded"] < duplicateWrites || rate <= duplicateLimit {
		return nil
	}
	items := h.named(func(e *store.Experience) bool { return e.Success+e.Failure > 1 && e.UpdatedAt >= h.now-monitorWindow },
		func(e *store.Experience) float64 { return -float64(e.Success + e.Failure) })
	return []api.Alert{alert("duplicates", rate, duplicateLimit, nil, items,
		"%.0f %% of what was recorded in 7 days was there already", 100*rate)}
}

func (h *health) lift() []api.Alert {
	r := h.recent.ratios()
	guided := h.recent["outcomes/guided"]
	lift := r["guided_reward"] - r["unguided_reward"]
	if min(guided, h.recent["outcomes"]-guided) < liftOutcomes || lift >= liftLimit {
		return nil
	}
	return []api.Alert{alert("negative_lift", lift, liftLimit, nil, h.unhelpful(),
		"attempts after a recall reached %.2f in 7 days, those without %.2f", r["guided_reward"], r["unguided_reward"])}
}

func (t tally) size() int64 { return t["pools/own"] + t["pools/candidates"] + t["pools/meta"] }

func (h *health) growth() []api.Alert {
	was, is := h.before.size(), h.recent.size()
	if was < growthItems || float64(is-was) <= growthLimit*float64(was) {
		return nil
	}
	newest := h.named(func(e *store.Experience) bool { return e.CreatedAt >= h.now-monitorWindow },
		func(e *store.Experience) float64 { return -float64(e.CreatedAt) })
	return []api.Alert{alert("pool_growth", float64(is-was)/float64(was), growthLimit, nil, newest,
		"the pools grew from %d to %d experiences in 7 days", was, is)}
}

// weight counts the experiences that had time to be given and those of them that never were.
func weight(items []*store.Experience, now int64) (dead, all int) {
	for _, e := range items {
		if now-e.CreatedAt < unusedAfter {
			continue
		}
		all++
		if neverGiven(e) {
			dead++
		}
	}
	return dead, all
}

func neverGiven(e *store.Experience) bool { return e.RecalledAt == 0 && e.Recalled == 0 }

func (h *health) unused() []api.Alert {
	dead, all := weight(h.items, h.now)
	if all < unusedItems || float64(dead) <= unusedLimit*float64(all) {
		return nil
	}
	oldest := h.named(func(e *store.Experience) bool { return neverGiven(e) && h.now-e.CreatedAt >= unusedAfter },
		func(e *store.Experience) float64 { return float64(e.CreatedAt) })
	return []api.Alert{alert("dead_weight", float64(dead)/float64(all), unusedLimit, nil, oldest,
		"%d of %d experiences older than 30 days were never recalled", dead, all)}
}

// bufferAge is for how many hours the oldest experience has been in the gate's buffer, and how many are past the limit.
func bufferAge(items []*store.Experience, now int64) (oldest float64, past int) {
	for _, e := range items {
		if e.Status != federation.StatusBuffered {
			continue
		}
		age := buffered(e, now)
		oldest = max(oldest, age)
		if age > bufferLimit {
			past++
		}
	}
	return oldest, past
}

func buffered(e *store.Experience, now int64) float64 {
	return float64(now-e.CreatedAt) / float64(hourMS)
}

func (h *health) buffer() []api.Alert {
	oldest, past := bufferAge(h.items, h.now)
	if past < bufferItems {
		return nil
	}
	items := h.named(func(e *store.Experience) bool {
		return e.Status == federation.StatusBuffered && buffered(e, h.now) > bufferLimit
	}, func(e *store.Experience) float64 { return float64(e.CreatedAt) })
	return []api.Alert{alert("buffer_age", oldest, bufferLimit, nil, items,
		"%d experiences leave the gate's buffer untried within a day", past)}
}

func (h *health) queue() []api.Alert {
	if len(h.overdue) == 0 {
		return nil
	}
	oldest := 0.0
	about := map[store.ID]bool{}
	for i := range h.overdue {
		oldest = max(oldest, overdue(&h.overdue[i], h.now))
		about[h.overdue[i].Subject] = true
	}
	items := h.named(func(e *store.Experience) bool { return about[e.ID] }, func(e *store.Experience) float64 { return float64(e.CreatedAt) })
	return []api.Alert{alert("queue_age", oldest, queueLimit, nil, items,
		"%d jobs are more than 10 minutes late, the oldest %.0f seconds", len(h.overdue), oldest)}
}

func (h *health) predictor() []api.Alert {
	mse, ok := h.recent.ratios()["predictor_mse"]
	if !ok || h.recent["predictor/n"] < errorAttempts || mse <= errorLimit {
		return nil
	}
	worst := h.named(func(e *store.Experience) bool { return e.RPE != 0 && e.CreatedAt >= h.now-monitorWindow },
		func(e *store.Experience) float64 { return -math.Abs(score(e.RPE)) })
	return []api.Alert{alert("predictor_error", mse, errorLimit, nil, worst,
		"expected rewards were off by %.2f (root of the mean square) in 7 days; the gate is no better than a guess", math.Sqrt(mse))}
}

// spending names no experience: a question that failed made none.
func (h *health) spending() []api.Alert {
	lost := h.recent["llm/failed"] + h.recent["llm/refused"]
	asked := max(h.recent["llm/calls"]+h.recent["llm/refused"], lost)
	if asked < llmQuestions || float64(lost) <= llmLimit*float64(asked) {
		return nil
	}
	return []api.Alert{alert("llm_failures", float64(lost)/float64(asked), llmLimit, nil, nil,
		"%d questions to language models failed and %d were refused for want of budget in 7 days",
		h.recent["llm/failed"], h.recent["llm/refused"])}
}

// search names the owner of the pool; the shared pool has none.
func (h *health) search() []api.Alert {
	var out []api.Alert
	for _, owner := range slices.Sorted(maps.Keys(h.index)) {
		if recall := h.index[owner]; recall < recallLimit {
			pool, members := "the shared pool", []string(nil)
			if owner != "" {
				pool, members = "the pool of "+owner, []string{owner}
			}
			out = append(out, alert(kindIndexRecall, recall, recallLimit, members, nil,
				"the index of %s finds %.0f %% of the true neighbours on this node", pool, 100*recall))
		}
	}
	return out
}
