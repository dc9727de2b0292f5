package store

import "testing"

func TestReembedReplacesVectors(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	one, two := l.must(l.add("a1", "one").ID), l.must(l.add("a1", "two").ID)
	gone := l.id()
	var got Requeued
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: two.ID, Owner: one.Owner}, Agent: two.Agent}, nil)
	l.do(KindReembed, Reembed{Targets: []Target{{ID: one.ID, Owner: one.Owner}, {ID: two.ID, Owner: one.Owner}, {ID: gone, Owner: one.Owner}}}, &got)
	if got.Count != 1 {
		t.Errorf("%d queued", got.Count)
	}
	job, ok := l.leaseOf(JobEmbed, one.ID)
	if !ok {
		t.Fatal("no job to embed")
	}
	before := l.must(one.ID)
	l.do(KindSetVectors, SetVectors{Job: ref(job), Target: Target{one.ID, one.Owner, one.Version}, Vectors: testVectors()}, nil)
	if after := l.must(one.ID); after.Embedded != before.Embedded+1 || after.Version != before.Version {
		t.Errorf("before %d, after %d, version %d", before.Embedded, after.Embedded, after.Version)
	}
	l.refuse(KindReembed, Reembed{Targets: make([]Target, maxReembed+1)}, "invalid")
	l.mustCheck()
}
