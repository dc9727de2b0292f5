package node

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cairn/node/store"
)

// metrics are the node's own numbers; those of Raft come from package consensus. Counters are of what went through this
// node, gauges with a namespace are of the state and the same on every node that has caught up.
type metrics struct {
	n            *Node
	check        *selfCheck
	recalls      *prometheus.HistogramVec
	candidates   *prometheus.CounterVec
	attempts     prometheus.Counter
	outcomes     prometheus.Counter
	embedMisses  prometheus.Counter
	receiptsLost prometheus.Counter

	applied, indexed, indexRows, hot                *prometheus.Desc
	indexRecall, indexVectors, indexBytes           *prometheus.Desc
	experiences, monitor, bufferAge, queueAge, dead *prometheus.Desc
	llm, stateFiles, stateDebt, stateBytes, alerts  *prometheus.Desc
}

func newMetrics(n *Node) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &metrics{
		n: n,
		check: &selfCheck{clock: time.Now, measure: func() map[poolKey]float64 {
			return n.index.graphRecall()
		}},
		recalls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cairn_recall_seconds", Help: "Time to answer a recall.", Buckets: prometheus.ExponentialBuckets(.0005, 2, 14),
		}, []string{"mode"}),
		candidates: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cairn_recall_candidates_total", Help: "Experiences that recalls looked at, by where they were read: memory (among the most recalled tenth of their pool) or state.",
		}, []string{"from"}),
		attempts:     counter("cairn_attempts_total", "Attempts recorded through this node."),
		outcomes:     counter("cairn_outcomes_total", "Outcomes reported through this node."),
		embedMisses:  counter("cairn_embed_misses_total", "Embeddings that missed their deadline or failed; keywords and a job stand in."),
		receiptsLost: counter("cairn_receipts_dropped_total", "Receipts dropped because they could not be committed; outcomes bring their own."),
		applied:      gauge("cairn_applied_index", "Log index applied to the state."),
		indexed:      gauge("cairn_indexed_index", "Log index reflected by the search index."),
		indexRows:    gauge("cairn_index_experiences", "Experiences in the search index."),
		hot:          gauge("cairn_recall_hot", "Experiences of the most recalled tenth of their pool: hot (all), kept (with vectors in memory, since a recall met them).", "what"),
		indexRecall:  gauge("cairn_index_recall", "Share of true neighbours that search finds in the worst pool; 1 where search is exact. Measured at most once a minute."),
		indexVectors: gauge("cairn_index_vectors", "Vectors in the search index: live (can be found), graph (linked), tail (scanned beside a graph), dead (places to be used again).", "state"),
		indexBytes:   gauge("cairn_index_bytes", "Size of the search index: memory (vectors with codes, labels and links), file (what is mapped of them), keywords (memory of the keyword index).", "where"),
		experiences:  gauge("cairn_experiences", "Live experiences.", "namespace", "pool"),
		monitor:      gauge("cairn_monitor", "Health of a namespace over the last 7 days: hit_rate, mean_utility, mean_reward, guided_reward, unguided_reward, duplicate_rate, predictor_mse; never_recalled is the share of the experiences older than 30 days.", "namespace", "monitor"),
		bufferAge:    gauge("cairn_buffer_age_seconds", "Age of the oldest experience in the gate's buffer.", "namespace"),
		queueAge:     gauge("cairn_queue_age_seconds", "For how long the oldest job has been due; 0 when none is."),
		dead:         gauge("cairn_dead_jobs", "Jobs that gave up.", "namespace"),
		alerts:       gauge("cairn_alerts", "Alerts that the feed raised and did not clear.", "namespace"),
		llm:          gauge("cairn_llm_spent_total", "What a namespace asked of language models: calls, tokens, cached, failed, refused.", "namespace", "what"),
		stateFiles:   gauge("cairn_state_l0_files", "Files in level 0 of the state's database."),
		stateDebt:    gauge("cairn_state_compaction_debt_bytes", "Bytes the state's database still has to compact."),
		stateBytes:   gauge("cairn_state_disk_bytes", "Size of the state's database on disk."),
	}
}

func (m *metrics) parts() []prometheus.Collector {
	return []prometheus.Collector{m.recalls, m.candidates, m.attempts, m.outcomes, m.embedMisses, m.receiptsLost}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.parts() {
		c.Describe(out)
	}
	for _, d := range []*prometheus.Desc{
		m.applied, m.indexed, m.indexRows, m.hot, m.indexRecall, m.indexVectors, m.indexBytes, m.experiences, m.monitor, m.bufferAge,
		m.queueAge, m.dead, m.alerts, m.llm, m.stateFiles, m.stateDebt, m.stateBytes,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range m.parts() {
		c.Collect(out)
	}
	at, _ := m.n.store.Applied()
	put := gauges(out)
	put(m.applied, float64(at))
	if db := m.n.store.Metrics(); db != nil {
		put(m.stateFiles, float64(db.Levels[0].TablesCount))
		put(m.stateDebt, float64(db.Compact.EstimatedDebt))
		put(m.stateBytes, float64(db.DiskSpaceUsage()))
	}
	if m.n.index == nil {
		return // still opening
	}
	put(m.indexed, float64(m.n.index.watermark()))
	m.n.index.mu.RLock()
	rows := len(m.n.index.entries)
	m.n.index.mu.RUnlock()
	put(m.indexRows, float64(rows))
	hot, kept := m.n.index.hot.Len()
	put(m.hot, float64(hot), "hot")
	put(m.hot, float64(kept), "kept")
	m.collectIndex(put)
	m.collectState(out)
}

// gauges sends numbers as they stand.
func gauges(out chan<- prometheus.Metric) func(d *prometheus.Desc, value float64, labels ...string) {
	return func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
}

func (m *metrics) collectIndex(put func(d *prometheus.Desc, value float64, labels ...string)) {
	var live, graph, tail, dead int
	var memory, mapped, keywords int64
	for _, pool := range m.n.index.all() {
		st := pool.Stats()
		keywords += int64(st.Keywords.Bytes)
		for _, s := range st.Spaces {
			live, graph, tail, dead = live+s.Rows, graph+s.Graph, tail+s.Tail, dead+s.Dead
			memory, mapped = memory+s.Bytes, mapped+s.Mapped
		}
	}
	put(m.indexVectors, float64(live), "live")
	put(m.indexVectors, float64(graph), "graph")
	put(m.indexVectors, float64(tail), "tail")
	put(m.indexVectors, float64(dead), "dead")
	put(m.indexBytes, float64(memory), "memory")
	put(m.indexBytes, float64(mapped), "file")
	put(m.indexBytes, float64(keywords), "keywords")
	put(m.indexRecall, m.check.worst())
}

// collectState leaves out what cannot be read while the node closes.
func (m *metrics) collectState(out chan<- prometheus.Metric) {
	v, err := m.n.store.View()
	if err != nil {
		return
	}
	defer v.Close()
	late := 0.
	if due, ok, err := v.NextDue(); err == nil && ok {
		late = max(0, float64(v.Now()-due)/1000)
	}
	gauges(out)(m.queueAge, late)
	live := m.n.index.live()
	err = v.Namespaces(nil, func(_ []byte, ns *store.Namespace) bool {
		m.collectNamespace(out, v, ns, live[ns.Number])
		return true
	})
	if err != nil {
		m.n.log.Error("read metrics of the state", "error", err)
	}
}

func (m *metrics) collectNamespace(out chan<- prometheus.Metric, v *store.View, ns *store.Namespace, items []*store.Experience) {
	recent, _, err := windows(v, ns)
	if err != nil {
		m.n.log.Error("read a namespace's monitors", "namespace", ns.ID, "error", err)
		return
	}
	put := gauges(out)
	for name, value := range recent.ratios() {
		put(m.monitor, value, ns.ID, name)
	}
	if never, all := weight(items, v.Now()); all > 0 {
		put(m.monitor, float64(never)/float64(all), ns.ID, "never_recalled")
	}
	oldest, _ := bufferAge(items, v.Now())
	put(m.bufferAge, oldest*3600, ns.ID)
	for _, pool := range []string{"own", "candidates", "meta"} {
		m.putCounter(put, m.experiences, v, ns, "pools/"+pool, pool)
	}
	m.putCounter(put, m.dead, v, ns, "job/"+store.JobDead)
	m.putCounter(put, m.alerts, v, ns, "alerts")
	spent := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
	}
	for _, what := range []string{"calls", "tokens", "cached", "failed", "refused"} {
		m.putCounter(spent, m.llm, v, ns, "llm/"+what, what)
	}
}

func (m *metrics) putCounter(put func(d *prometheus.Desc, value float64, labels ...string), d *prometheus.Desc, v *store.View, ns *store.Namespace, name string, labels ...string) {
	if value, err := v.Counter(ns, name); err == nil {
		put(d, float64(value), append([]string{ns.ID}, labels...)...)
	}
}
