package clusterbench

import (
	"slices"

	"cairn/cmd/cairn-bench/bar"
)

// Spec announces a row. Op is empty where nothing is demanded.
type Spec struct {
	Name, Unit, Op string
	Bar            float64
	What           string
}

// Row is a measured figure: the median over rounds and their range. A row that could not be measured has a reason in NotRun.
type Row struct {
	Spec
	Value, Low, High float64
	// Reference is the figure of what Cairn is compared with, nil without one.
	Reference *float64
	NotRun    string
}

// OK reports whether the row meets its bar. One that was not run does not meet a bar.
func (r Row) OK() bool { return r.Op == "" || r.NotRun == "" && bar.Holds(r.Value, r.Op, r.Bar) }

// Rows are all rows in the order in which they are printed.
func Rows() []Spec {
	at := func(name, unit, op string, bar float64, what string) Spec { return Spec{name, unit, op, bar, what} }
	return []Spec{
		at("write_c1_vs_etcd", "ratio", ">=", 1.2, "durable writes of 2 KB a second through the leader, 1 client, Cairn's over etcd's"),
		at("write_c8_vs_etcd", "ratio", ">=", 1.4, "the same, 8 clients on one connection"),
		at("write_c64_vs_etcd", "ratio", ">=", 1.5, "the same, 64 clients"),
		at("write_c256_vs_etcd", "ratio", ">=", 1.0, "the same, 256 clients"),
		at("follower_write_vs_direct", "ratio", ">=", 0.8, "writes a second through a follower over those through the leader, 64 clients"),
		at("linear_read_c1_vs_etcd", "ratio", ">=", 1.5, "linearizable reads a second at the leader, 1 client, Cairn's over etcd's"),
		at("linear_read_c64_vs_etcd", "ratio", ">=", 1.0, "the same, 64 clients"),
		at("stale_linear_reads", "reads", "<=", 0, "of 1,000 reads at a leader that was stopped, deposed and continued, how many gave an older value"),
		at("failover_vs_etcd", "ratio", "<=", 0.8, "time from kill -9 of the leader to the first acknowledged write at a follower, default timeouts, Cairn's over etcd's"),
		at("planned_gap_vs_kill", "ratio", "<=", 0.1, "longest pause between acknowledged writes at a follower around SIGTERM of the leader, over the time after kill -9"),
		at("logstore_batch64_vs_bolt", "ratio", ">=", 3, "synced appends of 64 entries of 2 KB a second, over those of raft-boltdb"),
		at("truncation_vs_bolt", "ratio", ">=", 40, "time raft-boltdb takes to remove 8,192 entries from the front, over the log store's"),
		at("snapshot_vs_dump", "ratio", "<=", 0.05, "time of a snapshot of 100,000 values of 2 KB, over writing them all to raft's file store"),
		at("catchup_vs_restore", "ratio", "<=", 0.4, "time until an empty node has a state of 100,000 values of 2 KB, over raft with a dump as snapshot"),
		at("idle_cpu_core", "core", "<=", 0.01, "CPU of one idle node that is a site by itself"),
		at("idle_cpu_core_of_three", "core", "", 0, "CPU of the busiest node of an idle site of three"),
		at("write_c1", "1/s", "", 0, "writes behind write_c1_vs_etcd; reference: etcd's"),
		at("write_c8", "1/s", "", 0, "writes behind write_c8_vs_etcd; reference: etcd's"),
		at("write_c64", "1/s", "", 0, "writes behind write_c64_vs_etcd; reference: etcd's"),
		at("write_c256", "1/s", "", 0, "writes behind write_c256_vs_etcd; reference: etcd's"),
		at("linear_read_c1", "1/s", "", 0, "reads behind linear_read_c1_vs_etcd; reference: etcd's"),
		at("linear_read_c64", "1/s", "", 0, "reads behind linear_read_c64_vs_etcd; reference: etcd's"),
		at("failover_ms", "ms", "", 0, "behind failover_vs_etcd; reference: etcd's"),
		at("planned_gap_ms", "ms", "", 0, "behind planned_gap_vs_kill; reference: the time after kill -9"),
		at("logstore_batch64_ms", "ms", "", 0, "behind logstore_batch64_vs_bolt; reference: raft-boltdb's"),
		at("truncation_ms", "ms", "", 0, "behind truncation_vs_bolt; reference: raft-boltdb's"),
		at("snapshot_ms", "ms", "", 0, "behind snapshot_vs_dump; reference: the dump"),
		at("catchup_ms", "ms", "", 0, "behind catchup_vs_restore; reference: raft with a dump"),
	}
}

func spec(name string) Spec {
	for _, s := range Rows() {
		if s.Name == name {
			return s
		}
	}
	return Spec{Name: name}
}

// rounds are the figures of one thing, a value a round.
type rounds []float64

func (r rounds) spread() (low, mid, high float64) {
	s := slices.Sorted(slices.Values(r))
	n := len(s)
	if n == 0 {
		return 0, 0, 0
	}
	mid = s[n/2]
	if n%2 == 0 {
		mid = (s[n/2-1] + s[n/2]) / 2
	}
	return s[0], mid, s[n-1]
}

func (r rounds) median() float64 {
	_, mid, _ := r.spread()
	return mid
}

// over are the ratios of each round.
func (r rounds) over(other rounds) rounds {
	var out rounds
	for i := range min(len(r), len(other)) {
		if other[i] > 0 {
			out = append(out, r[i]/other[i])
		}
	}
	return out
}

// results gathers rows by name.
type results map[string]Row

func (r results) put(name string, values rounds, reference *float64) {
	row := Row{Spec: spec(name), Reference: reference}
	row.Low, row.Value, row.High = values.spread()
	r[name] = row
}

// compared adds the ratio of ours to theirs, round by round, and our own figure with theirs as reference.
func (r results) compared(ratio, plain string, ours, theirs rounds) {
	r.put(ratio, ours.over(theirs), nil)
	r.put(plain, ours, new(theirs.median()))
}

// ordered are all rows; one without a figure has a reason.
func (r results) ordered(reason func(name string) string) []Row {
	var out []Row
	for _, s := range Rows() {
		row, ok := r[s.Name]
		if !ok {
			row = Row{Spec: s, NotRun: reason(s.Name)}
		}
		out = append(out, row)
	}
	return out
}
