package consensus

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the instruments of one group. They exist from Open on and are
// exported by Group.Collectors.
type metrics struct {
	commitSeconds prometheus.Histogram
	syncSeconds   prometheus.Histogram
	applySeconds  prometheus.Histogram
	appendEntries prometheus.Histogram
	applyEntries  prometheus.Histogram
	leaderChanges prometheus.Counter
	restores      prometheus.Counter
	restarts      prometheus.Counter
	mismatches    prometheus.Counter
	halted        prometheus.Gauge
}

var (
	latencyBuckets = prometheus.ExponentialBuckets(0.0001, 2, 16) // 100 us .. 3.3 s
	batchBuckets   = prometheus.ExponentialBuckets(1, 2, 10)      // 1 .. 512
)

func newMetrics() *metrics {
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "cairn", Subsystem: "raft", Name: name, Help: help, Buckets: buckets,
		})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "cairn", Subsystem: "raft", Name: name, Help: help})
	}
	return &metrics{
		commitSeconds: histogram("commit_seconds", "Time from proposal to applied result on the proposing node.", latencyBuckets),
		syncSeconds:   histogram("sync_seconds", "Time to write one batch of the log to disk.", latencyBuckets),
		applySeconds:  histogram("apply_seconds", "Time the state machine took for one batch.", latencyBuckets),
		appendEntries: histogram("append_entries", "Entries in one write of the log.", batchBuckets),
		applyEntries:  histogram("apply_entries", "Entries in one batch of the state machine.", batchBuckets),
		leaderChanges: counter("leader_changes_total", "Times this node began or stopped to lead."),
		restores:      counter("restores_total", "States installed from a peer or a backup."),
		restarts:      counter("restarts_total", "Times raft was started again after a restore loop."),
		mismatches:    counter("state_mismatch_total", "Times another node's state hash differed from this node's."),
		halted: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "cairn", Subsystem: "raft", Name: "apply_halted", Help: "1 when this node no longer applies entries.",
		}),
	}
}

// Collectors returns the group's instruments for registration with a
// Prometheus registry. All names start with cairn_raft_.
func (g *Group) Collectors() []prometheus.Collector {
	m := g.metrics
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "cairn", Subsystem: "raft", Name: name, Help: help,
		}, value)
	}
	return []prometheus.Collector{
		m.commitSeconds, m.syncSeconds, m.applySeconds, m.appendEntries, m.applyEntries, m.leaderChanges,
		m.restores, m.restarts, m.mismatches, m.halted,
		gauge("leader", "1 when this node leads and has applied everything before its term.", func() float64 {
			if g.IsLeader() {
				return 1
			}
			return 0
		}),
		gauge("apply_lag", "Committed entries that this node has not applied.", func() float64 {
			s := g.Status()
			return float64(s.Commit - min(s.Commit, s.Applied))
		}),
		gauge("disk_used_ratio", "Used share of the disk that holds the log, 0 to 1.", g.disk.usedRatio),
		gauge("disk_free_bytes", "Bytes that are left on the disk that holds the log.", func() float64 { return float64(g.disk.left.Load()) }),
		gauge("oldest_entry_age_seconds", "Age of the oldest entry in the log; a follower away for longer needs files.", g.store.oldestAge),
		gauge("log_l0_files", "Files in level 0 of the log database.", func() float64 {
			return g.store.database(func(m *pebble.Metrics) float64 { return float64(m.Levels[0].TablesCount) })
		}),
		gauge("log_compaction_debt_bytes", "Bytes the log database still has to compact.", func() float64 {
			return g.store.database(func(m *pebble.Metrics) float64 { return float64(m.Compact.EstimatedDebt) })
		}),
		gauge("log_disk_bytes", "Size of the log database on disk.", func() float64 {
			return g.store.database(func(m *pebble.Metrics) float64 { return float64(m.DiskSpaceUsage()) })
		}),
	}
}

// oldestAge is the age in seconds of the oldest entry, 0 for an empty log.
func (s *logStore) oldestAge() float64 {
	first, err := s.FirstIndex()
	if err != nil || first == 0 {
		return 0
	}
	var e raft.Log
	if err := s.GetLog(first, &e); err != nil || e.AppendedAt.IsZero() {
		return 0
	}
	return time.Since(e.AppendedAt).Seconds()
}

// database reads one of Pebble's figures, 0 once the store is closed.
func (s *logStore) database(read func(*pebble.Metrics) float64) float64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0
	}
	return read(s.db.Metrics())
}
