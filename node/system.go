package node

import (
	"context"
	"strings"
	"time"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// Stats counts what a namespace holds and did.
func (n *Node) Stats(_ context.Context, c api.Caller) (api.Stats, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Stats{}, err
	}
	defer v.Close()
	counters, err := v.Counters(ns)
	if err != nil {
		return api.Stats{}, err
	}
	out := api.Stats{
		Index: v.Index(), Agents: int(counters["agents"]), Experiences: below(counters, "status/"), Pools: below(counters, "pools/"),
		Routes: below(counters, "route/"), Discarded: below(counters, "discarded/"), Jobs: below(counters, "job/"),
		Counters: map[string]int{}, Ratios: map[string]float64{}, TaskTypes: []api.TaskTypeStats{},
	}
	for _, name := range []string{
		"trajectories", "attempts", "recorded", "recalls", "recalls/empty", "given", "helped", "outcomes", "citations", "merges", "nominations",
		"promotions", "demotions", "archived", "expired", "reflections/retries", "reflections/solved", "reflections/exhausted",
	} {
		out.Counters[shownName(name)] = int(counters[name])
	}
	err = v.Principals(ns, nil, func(_ []byte, p *store.Principal) bool {
		if p.Agents > 0 {
			out.Principals++
		}
		return true
	})
	if err != nil {
		return out, err
	}
	ratio(out.Ratios, "hit_rate", counters["recalls"]-counters["recalls/empty"], counters["recalls"])
	ratio(out.Ratios, "mean_utility", counters["helped"], counters["given"])
	ratio(out.Ratios, "mean_reward", counters["outcomes/reward"], counters["outcomes"]*federation.One)
	ratio(out.Ratios, "duplicate_rate", counters["merges"], counters["merges"]+counters["recorded"])
	ratio(out.Ratios, "predictor_mse", counters["predictor/square"], counters["predictor/n"]*federation.One)
	err = v.TaskTypes(ns, func(taskType string, t federation.Tally) bool {
		out.TaskTypes = append(out.TaskTypes, api.TaskTypeStats{TaskType: taskType, Outcomes: int(t.N), Mean: score(t.Mean(0))})
		return true
	})
	if err != nil {
		return out, err
	}
	if out.Hours, out.Days, err = series(v, ns); err != nil || !privileged(c) {
		return out, err
	}
	out.LLM, err = llmStats(v, ns)
	return out, err
}

func below(counters map[string]int64, prefix string) map[string]int {
	out := map[string]int{}
	for k, x := range counters {
		if name, ok := strings.CutPrefix(k, prefix); ok && x != 0 {
			out[name] = int(x)
		}
	}
	return out
}

func ratio(out map[string]float64, name string, part, whole int64) {
	if whole > 0 {
		out[name] = float64(part) / float64(whole)
	}
}

// Ready is nil when the node knows a leader, applies, has indexed what it applied, and has disk space.
func (n *Node) Ready(ctx context.Context) error {
	status := n.group.Status()
	switch {
	case status.Halted != "":
		return api.Unavailable("apply is halted: "+status.Halted, 30*time.Second, nil)
	case status.Leader == "":
		return api.Unavailable("no leader", time.Second, nil)
	case status.StorageFull:
		return &api.Error{Code: api.CodeStorageFull, Detail: "the disk is 90 % full"}
	}
	if site, err := n.site(); err != nil || site == nil {
		return api.Unavailable("the node has not got the site's state yet", time.Second, err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	at, _ := n.store.Applied()
	if err := n.index.wait(ctx, at); err != nil {
		return api.Unavailable("the index is behind the state", time.Second, err)
	}
	return nil
}
