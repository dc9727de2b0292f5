package store

import (
	"slices"
	"testing"

	"cairn/federation"
)

// plans records successes of one agent and returns them.
func (l *lab) plans(agent string, texts ...string) (ids []ID) {
	l.t.Helper()
	for _, text := range texts {
		e := l.add(agent, text, func(e *Experience) { e.Kind, e.Success = federation.KindSuccess, 2 })
		ids = append(ids, e.ID)
	}
	return ids
}

// strategyOf makes a strategy of experiences as a job would.
func (l *lab) strategyOf(agent, text string, sources ...ID) Strategy {
	l.t.Helper()
	e := l.lesson(text)
	e.Agent, e.Kind, e.Lineage = agent, federation.KindSuccess, Lineage{Lens: LensStrategy, Generator: "rule"}
	s := Strategy{Experience: e, Vectors: testVectors()}
	for _, id := range sources {
		x := l.must(id)
		s.Sources = append(s.Sources, Target{x.ID, x.Owner, x.Version})
	}
	return s
}

// compacted applies a strategy by the sub-pool's job.
func (l *lab) compacted(owner uint32, items ...Strategy) []ID {
	l.t.Helper()
	job, ok := l.leaseOf(JobCompact, compactSubject(owner, "air"))
	if !ok {
		l.t.Fatal("no compaction is queued")
	}
	var out Kept
	l.do(KindCompacted, Compacted{Job: ref(job), Items: items}, &out)
	return out.Experiences
}

func TestSourcesGiveWayToAProvenStrategy(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	sources := l.plans("a1", "one", "two", "three", "four")
	id := l.compacted(a.Number, l.strategyOf("a1", "all", sources...))[0]
	l.mustCheck()
	s := l.must(id)
	if s.Status != federation.StatusActive || s.Success != 8 || s.Recalled != 0 || !slices.Equal(s.Lineage.DerivedFrom, sources) {
		t.Fatalf("strategy %+v", s)
	}
	for use := range provenUses {
		for _, source := range sources {
			if got := l.must(source).Status; got != federation.StatusActive {
				t.Fatalf("a source is %s after %d uses", got, use)
			}
		}
		l.report("a1", federation.One, id)
		l.mustCheck()
	}
	for _, source := range sources {
		if e := l.must(source); e.Status != federation.StatusSuperseded || e.SupersededBy != id {
			t.Errorf("source is %s by %s", e.Status, e.SupersededBy)
		}
	}
	list := l.merges(a.Number)
	if len(list) != 4 || list[0].Cause != MergeCompacted || list[0].Into != id {
		t.Fatalf("merges %+v", list)
	}
	again := l.add("a1", "two", func(e *Experience) { e.Kind = federation.KindSuccess })
	if again.ID != id || !again.Merged {
		t.Errorf("a source's text is kept as %+v, want the strategy", again)
	}
	l.do(KindUndoMerge, UndoMerge{From: sources[1], Owner: a.Number, By: "a1"}, nil)
	l.mustCheck()
	l.report("a1", federation.One, id)
	if e := l.must(sources[1]); e.Status != federation.StatusActive {
		t.Errorf("a source that was taken back is %s after another use", e.Status)
	}
	if again = l.add("a1", "two"); again.ID != sources[1] {
		t.Errorf("the text of what was taken back is kept as %+v", again)
	}
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{sources[0], a.Number, 0}}, nil)
	if l.get(id) != nil {
		t.Error("a strategy stands after one of its sources was erased")
	}
	l.mustCheck()
}

func TestStrategiesThatAreRefused(t *testing.T) {
	l := newLab(t)
	a, b := l.agent("a1", "alice"), l.agent("b1", "bob")
	sources := l.plans("a1", "one", "two", "three", "four")
	others := l.plans("b1", "five", "six", "seven", "eight")
	job, ok := l.leaseOf(JobCompact, compactSubject(a.Number, "air"))
	if !ok {
		t.Fatal("no compaction is queued")
	}
	good := func() Strategy { return l.strategyOf("a1", "all", sources...) }
	for _, tc := range []struct {
		name, code string
		change     func(s *Strategy)
	}{
		{"few sources", "invalid", func(s *Strategy) { s.Sources = s.Sources[:3] }},
		{"one twice", "invalid", func(s *Strategy) { s.Sources[3] = s.Sources[0] }},
		{"of another agent", "precondition", func(s *Strategy) { s.Sources[0] = Target{others[0], b.Number, 1} }},
		{"by another agent", "invalid", func(s *Strategy) { s.Experience.Agent = "b1" }},
		{"of another version", "precondition", func(s *Strategy) { s.Sources[0].Version = 2 }},
		{"of another type", "invalid", func(s *Strategy) { s.Experience.TaskType = "rail" }},
		{"of another lens", "invalid", func(s *Strategy) { s.Experience.Lineage.Lens = "success" }},
		{"an id that exists", "conflict", func(s *Strategy) { s.Experience.ID = sources[0] }},
	} {
		s := good()
		tc.change(&s)
		t.Run(tc.name, func(t *testing.T) { l.refuse(KindCompacted, Compacted{Job: ref(job), Items: []Strategy{s}}, tc.code) })
	}
	l.refuse(KindCompacted, Compacted{Job: ref(job), Items: make([]Strategy, maxStrategies+1)}, "invalid")
	l.refuse(KindCompacted, Compacted{Job: JobRef{job.ID, job.Lease + 1}, Items: []Strategy{good()}}, "conflict")
	l.mustCheck()
}

func TestAStrategyThatStandsTakesMoreSources(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	first := l.plans("a1", "one", "two", "three", "four")
	id := l.compacted(a.Number, l.strategyOf("a1", "all", first...))[0]
	more := l.plans("a1", "five", "six", "seven", "eight")
	if got := l.compacted(a.Number, l.strategyOf("a1", "all", more...))[0]; got != id {
		t.Fatalf("the same text is kept as %s, want %s", got, id)
	}
	if s := l.must(id); len(s.Lineage.DerivedFrom) != 8 || s.Version != 1 {
		t.Errorf("strategy %+v", s)
	}
	l.mustCheck()
	l.read(func(v *View, ns *Namespace) {
		for _, source := range append(first, more...) {
			if got, err := v.StrategyOf(ns, a.Number, source); err != nil || got != id {
				t.Errorf("source of %s, %v, want %s", got, err, id)
			}
		}
	})
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{id, a.Number, 0}}, nil)
	l.mustCheck()
	l.read(func(v *View, ns *Namespace) {
		if got, err := v.StrategyOf(ns, a.Number, first[0]); err != nil || got != id {
			t.Errorf("the mark of an erased strategy: %s, %v: it would be made again", got, err)
		}
	})
}

// compactSome makes a strategy of some live successes of the job's sub-pool.
func (w *walk) compactSome(j Job) {
	var sources []ID
	w.read(func(v *View, ns *Namespace) {
		if err := v.Pool(ns, j.Owner, nil, func(_ []byte, e *Experience) bool {
			if e.Live() && e.TaskType == j.Extra && len(sources) < maxSources {
				sources = append(sources, e.ID)
			}
			return true
		}); err != nil {
			w.t.Fatal(err)
		}
	})
	if len(sources) < MinSources {
		w.send(KindFinishJob, FinishJob{Job: ref(j)})
		return
	}
	s := w.strategyOf(w.must(sources[0]).Agent, "strategy "+w.text(), sources...)
	if r := w.send(KindCompacted, Compacted{Job: ref(j), Items: []Strategy{s}}); r.Reject != nil {
		w.send(KindFinishJob, FinishJob{Job: ref(j), Error: r.Reject.Code})
		return
	}
	w.seen = append(w.seen, s.Experience.ID, s.Experience.ID, s.Experience.ID)
}
