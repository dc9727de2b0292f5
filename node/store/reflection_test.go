package store

import (
	"fmt"
	"testing"

	"cairn/federation"
)

// reflection makes the command for a failure under a receipt.
func (l *lab) reflection(r Receipt, id ID, tries int, sources ...ID) Reflect {
	return Reflect{
		ID: id, Receipt: r, Tries: tries, Record: l.recording(r.Agent, "retried", false, 0), Seen: textHash(fmt.Sprint(len(l.log))),
		Next: Retry{Hypothesis: "log in first", BasedOn: sources, Generator: "rule/1"},
	}
}

// retried makes the command for a retry's end.
func (l *lab) retried(agent string, id ID, tries int, success bool) Retried {
	reward := federation.Micro(0)
	if success {
		reward = federation.One
	}
	record := l.recording(agent, "retried", success, reward)
	return Retried{ID: id, Agent: agent, Tries: tries, Success: success, Record: &record, Next: Retry{Hypothesis: "again, slower"}}
}

func (l *lab) reflectionOf(agent string, recall ID) (out *Reflection) {
	l.t.Helper()
	l.read(func(v *View, ns *Namespace) {
		a, err := v.Agent(ns, agent)
		if err != nil {
			l.t.Fatal(err)
		}
		if a == nil { // removed meanwhile
			return
		}
		if out, err = v.ReflectionOf(ns, a.Number, recall); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

// begun is a fleet of one with a reflection under way.
func begun(t *testing.T, sources ...string) (l *lab, r Receipt, id ID, items []ID) {
	l = fleet(t, "alice")
	for _, text := range sources {
		items = append(items, l.add("alice-1", text).ID)
	}
	r, id = l.recall("alice-1"), l.id()
	var got Reflected
	l.do(KindReflect, l.reflection(r, id, 0, items...), &got)
	if got.ID != id || got.Attempt != 1 || got.Status != ReflectionOpen || got.Recorded != 1 {
		t.Fatalf("reflected %+v", got)
	}
	l.mustCheck()
	return l, r, id, items
}

func TestReflectionSolved(t *testing.T) {
	l, r, id, _ := begun(t)
	var got Reflected
	l.do(KindRetried, l.retried("alice-1", id, 1, true), &got)
	if got.Status != ReflectionSolved || got.Attempt != 1 || got.Recorded != 1 {
		t.Errorf("retried %+v", got)
	}
	ref := l.reflectionOf("alice-1", r.Recall)
	if ref == nil || ref.Success != 1 || len(ref.Failures) != 1 || ref.Failures[0] != 0 || !ref.Tries[0].Success {
		t.Fatalf("reflection %+v, want the failure 0 and the success 1", ref)
	}
	if l.job(JobDistil, ref.Trajectory) == nil {
		t.Error("the group is not distilled")
	}
	l.refuse(KindRetried, l.retried("alice-1", id, 1, true), "conflict")
	l.refuse(KindReflect, l.reflection(r, id, 1), "conflict")
	l.mustCheck()
}

// TestReflectionAtMostThreeRetries goes both ways to the next retry: the report of a failure, and another failure under the
// same receipt.
func TestReflectionAtMostThreeRetries(t *testing.T) {
	l, r, id, _ := begun(t)
	var got Reflected
	l.do(KindReflect, l.reflection(r, id, 1), &got)
	if got.Attempt != 2 || got.Status != ReflectionOpen {
		t.Fatalf("second %+v", got)
	}
	l.do(KindRetried, l.retried("alice-1", id, 2, false), &got)
	if got.Attempt != 3 || got.Status != ReflectionOpen {
		t.Fatalf("third %+v", got)
	}
	l.refuse(KindReflect, l.reflection(r, id, 3), "conflict")
	l.do(KindRetried, l.retried("alice-1", id, 3, false), &got)
	if got.Attempt != 3 || got.Status != ReflectionExhausted {
		t.Fatalf("the third failed: %+v", got)
	}
	l.refuse(KindRetried, l.retried("alice-1", id, 3, false), "conflict")
	l.refuse(KindReflect, l.reflection(r, id, 3), "conflict")
	if ref := l.reflectionOf("alice-1", r.Recall); len(ref.Failures) != 4 {
		t.Errorf("failures %v, want the first and three retries", ref.Failures)
	}
	l.mustCheck()
}

func TestReflectionRefuses(t *testing.T) {
	l, r, id, _ := begun(t)
	other := l.reflection(r, l.id(), 0)
	l.refuse(KindReflect, other, "conflict")                  // the receipt has one
	l.refuse(KindReflect, l.reflection(r, id, 2), "conflict") // decided on another state
	l.refuse(KindRetried, l.retried("bob-1", id, 1, true), "unauthenticated")
	elsewhere := l.reflection(r, id, 1)
	elsewhere.Record.Group = textHash("another task")
	l.refuse(KindReflect, elsewhere, "invalid")
	success := l.reflection(l.recall("alice-1"), l.id(), 0)
	success.Record = l.recording("alice-1", "x", false, federation.One)
	l.refuse(KindReflect, success, "invalid") // a success is nothing to reflect on
	lie := l.retried("alice-1", id, 1, true)
	*lie.Record = l.recording("alice-1", "retried", false, 0)
	l.refuse(KindRetried, lie, "invalid")
	forged := l.reflection(Receipt{Agent: "alice-1", At: l.now}, l.id(), 0)
	l.refuse(KindReflect, forged, "not_found")
	l.now += ReceiptTTL + 1
	l.refuse(KindReflect, l.reflection(r, id, 1), "conflict")
	l.refuse(KindRetried, l.retried("alice-1", id, 1, true), "conflict")
	if got := l.reflectionOf("alice-1", r.Recall); len(got.Tries) != 1 || len(got.Failures) != 1 {
		t.Errorf("refusals left %+v", got)
	}
	l.mustCheck()
}

// TestReflectionOfNamedAttempt takes an attempt that was recorded before under an id of its own.
func TestReflectionOfNamedAttempt(t *testing.T) {
	l := fleet(t, "alice")
	before := l.recording("alice-1", "retried", false, 0, 0)
	before.Attempts[1].ExternalID = "try-7"
	l.do(KindRecordTrajectory, before, nil)
	r, id := l.recall("alice-1"), l.id()
	b := l.reflection(r, id, 0)
	b.Record.Attempts[0].ExternalID = "try-7"
	var got Reflected
	l.do(KindReflect, b, &got)
	if ref := l.reflectionOf("alice-1", r.Recall); got.Recorded != 0 || ref.Failures[0] != 1 {
		t.Errorf("recorded %d, failures %v, want the attempt that stands", got.Recorded, ref.Failures)
	}
	l.mustCheck()
}

func TestReflectionExpires(t *testing.T) {
	l, r, _, _ := begun(t)
	l.now += rawRetention - 1
	l.tick()
	if l.reflectionOf("alice-1", r.Recall) == nil {
		t.Fatal("gone before its time")
	}
	l.now++
	l.tick()
	if l.reflectionOf("alice-1", r.Recall) != nil || l.counter("reflections") != 0 {
		t.Error("it outlives its attempts")
	}
	l.mustCheck()
}

func TestReflectionGoesWithWhatItQuotes(t *testing.T) {
	l, r, _, items := begun(t, "log in before searching", "pay last")
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: items[1], Owner: l.must(items[1]).Owner}, Agent: "alice-1"}, nil)
	job, ok := l.leaseOf(JobPurge, items[1])
	if !ok {
		t.Fatal("no purge job")
	}
	l.do(KindPurge, Purge{Job: ref(job), ID: items[1]}, nil)
	if got := l.reflectionOf("alice-1", r.Recall); got != nil {
		t.Errorf("an erased lesson is quoted in %+v", got)
	}
	l.mustCheck()
}

func TestReflectionGoesWithItsAgent(t *testing.T) {
	l, _, _, _ := begun(t)
	for range 120 {
		l.do(KindReflect, l.reflection(l.recall("alice-1"), l.id(), 0), nil)
	}
	l.do(KindRemoveAgent, AgentID{"alice-1"}, nil)
	l.mustCheck()
	for range 20 {
		if !l.tick().More {
			break
		}
	}
	if n := l.counter("reflections"); n != 0 {
		t.Errorf("%d reflections outlive their agent", n)
	}
	l.mustCheck()
}

// reflectSome reflects on a failure, and now and then on the same one again or with a report.
func (w *walk) reflectSome(r Receipt) {
	id, tries := w.id(), 0
	if standing := w.reflectionOf(r.Agent, r.Recall); standing != nil {
		id, tries = standing.ID, len(standing.Tries)
	}
	var sources []ID
	if e := w.get(w.some().ID); e != nil {
		sources = append(sources, e.ID)
	}
	w.send(KindReflect, w.reflection(r, id, tries, sources...))
	for tries = 1; tries <= 4 && w.rng.IntN(3) > 0; tries++ {
		w.now += w.rng.Int64N(1000)
		w.send(KindRetried, w.retried(r.Agent, id, tries, w.rng.IntN(3) == 0))
	}
}
