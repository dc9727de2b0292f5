package store

import (
	"slices"
	"testing"

	"cairn/federation"
)

// strategyLab is a site with four successes of alice and carol in the meta-pool, and one of dan's that fails.
type strategyLab struct {
	*lab
	bad ID
}

func strategySite(t *testing.T) (l *strategyLab, sources []ID) {
	t.Helper()
	l = &strategyLab{lab: fleet(t, "bob", "carol", "dan")}
	_, l.bad = l.shelve("dan-1", "what fails")
	for i, text := range []string{"one", "two", "three", "four"} {
		added := l.add([]string{"author", "carol-1"}[i%2], text, share(federation.ShareCandidate), func(e *Experience) {
			e.Kind, e.Success = federation.KindSuccess, 2
		})
		job, _ := l.leaseOf(JobNominate, added.ID)
		item := l.nominate(l.must(added.ID), job).Candidate
		l.proved(item, l.bad)
		if out, _ := l.promote(item); !out.Done {
			t.Fatalf("%s is not promoted: %+v", text, out)
		}
		sources = append(sources, item)
	}
	return l, sources
}

// sharedStrategy leases the sub-pool's job and makes its result.
func (l *strategyLab) sharedStrategy(sources []ID, jurors ...string) SharedStrategy {
	l.t.Helper()
	job, ok := l.leaseOf(JobCompact, compactSubject(SharedOwner, "air"))
	if !ok {
		l.t.Fatal("no look at the sub-pool is queued")
	}
	b := SharedStrategy{Job: ref(job), Copy: l.lesson("all of them"), Vectors: testVectors(), Screening: federation.ScreeningPass, Jurors: jurors}
	b.Copy.Lineage.Generator = "rule"
	for _, id := range sources {
		b.Sources = append(b.Sources, Target{ID: id, Version: 1})
	}
	return b
}

func TestSharedStrategy(t *testing.T) {
	l, sources := strategySite(t)
	b := l.sharedStrategy(sources, "principal:bob", "principal:dan")
	var out Nominated
	l.do(KindSharedStrategy, b, &out)
	if out.Reason != "" {
		t.Fatalf("not shelved: %s", out.Reason)
	}
	e := l.wantStatus(out.Candidate, federation.StatusCandidate)
	if !slices.Equal(e.Authors, []string{"alice", "carol"}) || !slices.Equal(e.Lineage.DerivedFrom, sources) || e.Trust.Citations != 0 {
		t.Errorf("strategy of %v from %v with trust %+v", e.Authors, e.Lineage.DerivedFrom, e.Trust)
	}
	// What the sources' principals say of it does not count: it is made of their own.
	for range 8 {
		l.report("author", federation.One, e.ID)
		l.report("carol-1", federation.One, e.ID)
	}
	if e = l.must(e.ID); e.Trust.Citations != 0 {
		t.Errorf("its authors gave it %d citations", e.Trust.Citations)
	}
	for range 8 {
		for _, juror := range []string{"bob-1", "dan-1"} {
			l.report(juror, federation.One, e.ID)
			l.report(juror, 0, l.bad)
		}
	}
	if out, _ := l.promote(e.ID); !out.Done {
		t.Errorf("its own evidence does not promote it: %+v", out)
	}
	l.wantStatus(sources[0], federation.StatusPromoted)
	l.mustCheck()
	l.do(KindCurate, Curate{Target: Target{ID: sources[3]}, Action: ActionHold, By: "admin"}, nil)
	l.wantStatus(e.ID, federation.StatusHeld)
	l.do(KindCurate, Curate{Target: Target{ID: sources[3]}, Action: ActionRelease, By: "admin"}, nil)
	l.wantStatus(e.ID, federation.StatusPromoted)
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: sources[3]}}, nil)
	if l.get(e.ID) != nil {
		t.Error("the strategy outlives a source that was erased")
	}
	l.mustCheck()
}

func TestSharedStrategyRefusals(t *testing.T) {
	l, sources := strategySite(t)
	good := l.sharedStrategy(sources, "principal:bob", "principal:dan")
	with := func(change func(*SharedStrategy)) SharedStrategy {
		b := good
		b.Sources, b.Jurors = slices.Clone(b.Sources), slices.Clone(b.Jurors)
		change(&b)
		return b
	}
	for _, c := range []struct {
		name, code string
		body       SharedStrategy
	}{
		{"three sources", "invalid", with(func(b *SharedStrategy) { b.Sources = b.Sources[:3] })},
		{"a source twice", "invalid", with(func(b *SharedStrategy) { b.Sources[3] = b.Sources[0] })},
		{"a source that changed", "precondition", with(func(b *SharedStrategy) { b.Sources[1].Version = 7 })},
		{"a source that is no item of the pool", "precondition", with(func(b *SharedStrategy) { b.Sources[1].ID = l.bad })},
		{"an author on the jury", "precondition", with(func(b *SharedStrategy) { b.Jurors[0] = "principal:alice" })},
		{"a short jury", "precondition", with(func(b *SharedStrategy) { b.Jurors = b.Jurors[:1] })},
		{"the id of another", "conflict", with(func(b *SharedStrategy) { b.Copy.ID = sources[0] })},
		{"a lost lease", "conflict", with(func(b *SharedStrategy) { b.Job.Lease = 1 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.t = t
			before := l.dump()
			l.refuse(KindSharedStrategy, c.body, c.code)
			if l.dump() != before {
				t.Error("the refusal changed the state")
			}
		})
	}
}

func TestSharedStrategyWithoutOutsideJudge(t *testing.T) {
	l, sources := strategySite(t)
	suspended := true
	for _, p := range []string{"bob", "dan"} {
		l.do(KindUpdatePrincipal, UpdatePrincipal{ID: p, Suspended: &suspended}, nil)
	}
	var out Nominated
	l.do(KindSharedStrategy, l.sharedStrategy(sources), &out)
	if out.Reason != federation.ReasonNoOutsideJudge {
		t.Errorf("got %+v", out)
	}
	l.mustCheck()
}
