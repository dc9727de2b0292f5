package node

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

const monitorNow = 400 * dayMS

// aged makes n experiences that were created some ms ago.
func aged(n int, age int64, with func(i int, e *store.Experience)) (out []*store.Experience) {
	for i := range n {
		e := &store.Experience{CreatedAt: monitorNow - age, Status: federation.StatusActive}
		e.ID[0], e.ID[15] = byte(age>>24), byte(i)
		if with != nil {
			with(i, e)
		}
		out = append(out, e)
	}
	return out
}

func given(f, u federation.Micro) func(int, *store.Experience) {
	return func(i int, e *store.Experience) {
		e.Recalled, e.Helped, e.RecalledAt = (f+federation.Micro(i))*federation.One, u*federation.One, monitorNow-1
	}
}

// TestMonitors holds each sign on both sides of its limit, and what it names first.
func TestMonitors(t *testing.T) {
	one := federation.One
	bad, good := aged(3, dayMS, given(10, 1)), aged(3, 2*dayMS, given(10, 10))
	unused := aged(20, 40*dayMS, nil)
	buffered := aged(25, 6*dayMS+hourMS, func(_ int, e *store.Experience) { e.Status = federation.StatusBuffered })
	surprising := aged(2, hourMS, func(i int, e *store.Experience) { e.RPE = -federation.Micro(i+1) * one / 4 })
	supported := aged(2, hourMS, func(i int, e *store.Experience) { e.Success, e.UpdatedAt = i+2, monitorNow })
	cases := []struct {
		name  string
		h     health
		kind  string // "" for no alert
		first store.ID
		count int
	}{
		{"useless and falling", health{recent: tally{"given": 20, "helped": 11}, before: tally{"given": 20, "helped": 16}, items: append(bad, good...)}, "low_utility", bad[2].ID, 3},
		{"useless and rising", health{recent: tally{"given": 20, "helped": 11}, before: tally{"given": 20, "helped": 5}, items: bad}, "", store.ID{}, 0},
		{"useful and falling", health{recent: tally{"given": 20, "helped": 12}, before: tally{"given": 20, "helped": 16}}, "", store.ID{}, 0},
		{"useless, hardly given", health{recent: tally{"given": 19}, before: tally{"given": 20, "helped": 16}}, "", store.ID{}, 0},
		{"finds nothing", health{recent: tally{"recalls": 20, "recalls/empty": 11}}, "empty_recalls", store.ID{}, 0},
		{"finds half", health{recent: tally{"recalls": 20, "recalls/empty": 10}}, "", store.ID{}, 0},
		{"says it again", health{recent: tally{"merges": 11, "recorded": 9}, items: supported}, "duplicates", supported[1].ID, 2},
		{"says new things", health{recent: tally{"merges": 10, "recorded": 10}, items: supported}, "", store.ID{}, 0},
		{"harms", health{recent: tally{"outcomes": 60, "outcomes/guided": 30, "outcomes/reward": 45 * one, "outcomes/guided/reward": 20 * one}, items: bad}, "negative_lift", bad[2].ID, 3},
		{"helps", health{recent: tally{"outcomes": 60, "outcomes/guided": 30, "outcomes/reward": 45 * one, "outcomes/guided/reward": 25 * one}}, "", store.ID{}, 0},
		{"harms, too few", health{recent: tally{"outcomes": 40, "outcomes/guided": 30, "outcomes/reward": 20 * one, "outcomes/guided/reward": 10 * one}}, "", store.ID{}, 0},
		{"doubles", health{recent: tally{"pools/own": 190, "pools/meta": 10}, before: tally{"pools/own": 100}, items: surprising}, "pool_growth", surprising[0].ID, 2},
		{"grows", health{recent: tally{"pools/own": 150}, before: tally{"pools/own": 100}}, "", store.ID{}, 0},
		{"starts", health{recent: tally{"pools/own": 200}, before: tally{"pools/own": 10}}, "", store.ID{}, 0},
		{"dead weight", health{items: append(slices.Clone(unused), good...)}, "dead_weight", unused[0].ID, 20},
		{"young weight", health{items: aged(30, 20*dayMS, nil)}, "", store.ID{}, 0},
		{"buffered long", health{items: buffered}, "buffer_age", buffered[0].ID, alertItems},
		{"buffered, few", health{items: buffered[:9]}, "", store.ID{}, 0},
		{"late", health{overdue: []store.Job{{Subject: bad[0].ID, Due: monitorNow - hourMS}}, items: append(bad, good...)}, "queue_age", bad[0].ID, 1},
		{"guesses", health{recent: tally{"predictor/n": 50, "predictor/square": 13 * one}, items: surprising}, "predictor_error", surprising[1].ID, 2},
		{"foresees", health{recent: tally{"predictor/n": 50, "predictor/square": 12 * one}, items: surprising}, "", store.ID{}, 0},
		{"model fails", health{recent: tally{"llm/calls": 10, "llm/failed": 3}}, "llm_failures", store.ID{}, 0},
		{"model works", health{recent: tally{"llm/calls": 10, "llm/failed": 2}}, "", store.ID{}, 0},
		{"index misses", health{index: map[string]float64{"": .949, "ann-1": .95}}, "index_recall", store.ID{}, 0},
		{"all is well", health{}, "", store.ID{}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.h.now = monitorNow
			for _, x := range []*tally{&c.h.recent, &c.h.before} {
				if *x == nil {
					*x = tally{}
				}
			}
			got := c.h.alerts()
			if c.kind == "" {
				if len(got) != 0 {
					t.Errorf("got %+v, want no alert", got)
				}
				return
			}
			if len(got) != 1 || got[0].Kind != c.kind || len(got[0].Experiences) != c.count || got[0].Detail == "" {
				t.Fatalf("got %+v, want one %s that names %d", got, c.kind, c.count)
			}
			if c.count > 0 && got[0].Experiences[0] != c.first.String() {
				t.Errorf("names %s first, want %s", got[0].Experiences[0], c.first)
			}
		})
	}
}

func TestOverdueCountsFromWhenWorkShouldHaveBegun(t *testing.T) {
	if got := overdue(&store.Job{Due: monitorNow - 5000, CreatedAt: monitorNow - hourMS}, monitorNow); got != 5 {
		t.Errorf("a job due 5 s ago is %v s late", got)
	}
	if got := overdue(&store.Job{Due: monitorNow + 5000, CreatedAt: monitorNow - hourMS, Waits: 2}, monitorNow); got != 3600 {
		t.Errorf("a job that has waited an hour for a model is %v s late", got)
	}
}

func TestSelfCheckMeasuresOnceAMinute(t *testing.T) {
	now, measured := time.Unix(1000, 0), 0
	check := &selfCheck{clock: func() time.Time { return now }, measure: func() map[poolKey]float64 {
		measured++
		return map[poolKey]float64{{1, 0}: 1, {1, 2}: 1 - float64(measured)/10}
	}}
	if got := check.worst(); got != .9 {
		t.Errorf("worst pool has %v, want .9", got)
	}
	now = now.Add(checkEvery - time.Second)
	check.get()
	if measured != 1 {
		t.Errorf("measured %d times within a minute", measured)
	}
	now = now.Add(time.Second)
	if got := check.worst(); got != .8 || measured != 2 {
		t.Errorf("a minute later: %v after %d measurements", got, measured)
	}
	check.measure, now = func() map[poolKey]float64 { return nil }, now.Add(checkEvery)
	if got := check.worst(); got != 1 {
		t.Errorf("without graphs recall is %v", got)
	}
}

func TestMonitorsOfALiveSite(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	for range emptyRecalls + 1 {
		s.report(ann, s.recall(ann, task), false)
	}
	s.record(ann, booking(task, true))
	alerts, err := s.node.Alerts(context.Background(), s.admin)
	if err != nil || len(alerts.Items) != 1 || alerts.Items[0].Kind != "empty_recalls" || alerts.Items[0].Value != 1 {
		t.Errorf("alerts %+v, %v; want that recalls are empty", alerts, err)
	}
	text := s.scrape()
	for _, want := range []string{
		`cairn_monitor{monitor="hit_rate",namespace="default"} 0`, `cairn_experiences{namespace="default",pool="own"}`,
		`cairn_index_recall 1`, `cairn_index_vectors{state="live"}`, `cairn_index_bytes{where="memory"}`, `cairn_index_bytes{where="keywords"}`, `cairn_queue_age_seconds`,
		`cairn_buffer_age_seconds{namespace="default"}`, `cairn_dead_jobs{namespace="default"} 0`,
		"cairn_state_l0_files", "cairn_state_compaction_debt_bytes", "cairn_state_disk_bytes",
		`cairn_llm_spent_total{namespace="default",what="tokens"} 0`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

func TestIndexAlertNamesTheOwner(t *testing.T) {
	s := newSite(t)
	s.agent("ann-1", "ann")
	v, ns, err := s.node.openFor(s.admin)
	if err != nil {
		t.Fatal(err)
	}
	a, err := v.Agent(ns, "ann-1")
	if err != nil {
		t.Fatal(err)
	}
	owner := a.Number
	v.Close()
	s.node.metrics.check = &selfCheck{clock: time.Now, measure: func() map[poolKey]float64 {
		return map[poolKey]float64{{ns.Number, owner}: .5, {ns.Number + 1, owner}: .1}
	}}
	alerts, err := s.node.Alerts(context.Background(), s.admin)
	if err != nil || len(alerts.Items) != 1 || alerts.Items[0].Kind != "index_recall" || !slices.Equal(alerts.Items[0].Members, []string{"ann-1"}) {
		t.Errorf("alerts %+v, %v", alerts, err)
	}
	if _, err := s.node.Alerts(context.Background(), api.Caller{}); err == nil {
		t.Error("nobody reads alerts")
	}
}

// scrape renders the metrics of one gather.
func (s *site) scrape() string {
	s.t.Helper()
	families, err := s.node.Registry().Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		for _, m := range f.GetMetric() {
			out.WriteString(f.GetName())
			for i, l := range m.GetLabel() {
				out.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + l.GetName() + `="` + l.GetValue() + `"`)
			}
			if len(m.GetLabel()) > 0 {
				out.WriteString("}")
			}
			out.WriteString(" " + strconv.FormatFloat(m.GetGauge().GetValue()+m.GetCounter().GetValue(), 'f', -1, 64) + "\n")
		}
	}
	return out.String()
}
