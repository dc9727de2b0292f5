package node

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	for _, name := range []string{"trajectories", "attempts", "recorded", "recalls", "outcomes", "citations", "merges", "nominations", "promotions", "demotions", "archived", "expired"} {
		out.Counters[name] = int(counters[name])
	}
	out.Counters["recalls_empty"] = int(counters["recalls/empty"])
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
	ratio(out.Ratios, "mean_reward", counters["outcomes/reward"], counters["outcomes"]*federation.One)
	ratio(out.Ratios, "duplicate_rate", counters["merges"], counters["merges"]+counters["recorded"])
	ratio(out.Ratios, "predictor_mse", counters["predictor/square"], counters["predictor/n"]*federation.One)
	err = v.TaskTypes(ns, func(taskType string, t federation.Tally) bool {
		out.TaskTypes = append(out.TaskTypes, api.TaskTypeStats{TaskType: taskType, Outcomes: int(t.N), Mean: score(t.Mean(0))})
		return true
	})
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

// metrics are the node's own numbers; those of Raft come from package consensus.
type metrics struct {
	n            *Node
	recalls      *prometheus.HistogramVec
	attempts     prometheus.Counter
	outcomes     prometheus.Counter
	embedMisses  prometheus.Counter
	receiptsLost prometheus.Counter
	applied      *prometheus.Desc
	indexed      *prometheus.Desc
	indexRows    *prometheus.Desc
}

func newMetrics(n *Node) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		n: n,
		recalls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cairn_recall_seconds", Help: "Time to answer a recall.", Buckets: prometheus.ExponentialBuckets(.0005, 2, 14),
		}, []string{"mode"}),
		attempts:     counter("cairn_attempts_total", "Attempts recorded through this node."),
		outcomes:     counter("cairn_outcomes_total", "Outcomes reported through this node."),
		embedMisses:  counter("cairn_embed_misses_total", "Embeddings that missed their deadline or failed; keywords and a job stand in."),
		receiptsLost: counter("cairn_receipts_dropped_total", "Receipts dropped because they could not be committed; outcomes bring their own."),
		applied:      prometheus.NewDesc("cairn_applied_index", "Log index applied to the state.", nil, nil),
		indexed:      prometheus.NewDesc("cairn_indexed_index", "Log index reflected by the search index.", nil, nil),
		indexRows:    prometheus.NewDesc("cairn_index_experiences", "Experiences in the search index.", nil, nil),
	}
}

func (m *metrics) parts() []prometheus.Collector {
	return []prometheus.Collector{m.recalls, m.attempts, m.outcomes, m.embedMisses, m.receiptsLost}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.parts() {
		c.Describe(out)
	}
	out <- m.applied
	out <- m.indexed
	out <- m.indexRows
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range m.parts() {
		c.Collect(out)
	}
	at, _ := m.n.store.Applied()
	out <- prometheus.MustNewConstMetric(m.applied, prometheus.GaugeValue, float64(at))
	if m.n.index == nil {
		return // still opening
	}
	out <- prometheus.MustNewConstMetric(m.indexed, prometheus.GaugeValue, float64(m.n.index.watermark()))
	m.n.index.mu.RLock()
	rows := len(m.n.index.entries)
	m.n.index.mu.RUnlock()
	out <- prometheus.MustNewConstMetric(m.indexRows, prometheus.GaugeValue, float64(rows))
}
