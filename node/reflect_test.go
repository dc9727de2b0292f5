package node

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// failedBooking is a failed attempt at the task of booking, told apart by what was said.
func failedBooking(task, observation string) api.RecordTrajectory {
	t := booking(task, false)
	t.Complete = false
	t.Attempts[0].Steps[0].Observation = observation
	return t
}

func (s *site) reflect(c api.Caller, receipt string, t api.RecordTrajectory) (api.RetryAdvice, error) {
	s.t.Helper()
	out, err := s.node.Reflect(context.Background(), c, api.ReflectRequest{Receipt: receipt, Trajectory: t}, api.Write{})
	return out.Value, err
}

func (s *site) retried(c api.Caller, id string, success bool, t *api.RecordTrajectory) (api.RetryAdvice, error) {
	s.t.Helper()
	out, err := s.node.RetryOutcome(context.Background(), c, id, api.RetryRequest{Success: success, Trajectory: t}, api.Write{})
	return out.Value, err
}

const similarTask = "book the cheapest flight from BER to OPO for kim"

// TestReflectionLeadsToALesson goes the whole way: a success, a failure at a similar task, a hypothesis, a retry that
// succeeds, and the lesson of it.
func TestReflectionLeadsToALesson(t *testing.T) {
	s := newSite(t)
	c := s.agent("ann", "alice")
	known := s.record(c, booking(similarTask, true))
	if err := s.node.index.wait(context.Background(), known.Index); err != nil {
		t.Fatal(err)
	}
	recalled := s.recall(c, task)
	first, err := s.reflect(c, recalled.Receipt, failedBooking(task, "error: not logged in"))
	if err != nil {
		t.Fatal(err)
	}
	if first.Attempt != 1 || first.RetriesLeft != 2 || first.Status != store.ReflectionOpen || first.Generator != "rule/1" ||
		!strings.Contains(first.Hypothesis, "not logged in") || !strings.Contains(first.Hypothesis, "`login`") {
		t.Errorf("first %+v", first)
	}
	if len(first.BasedOn) == 0 || first.BasedOn[len(first.BasedOn)-1] != known.ID {
		t.Errorf("based on %v, want the past success %s", first.BasedOn, known.ID)
	}
	again, err := s.reflect(c, recalled.Receipt, failedBooking(task, "error: not logged in"))
	if err != nil || again.ID != first.ID || again.Attempt != 1 || again.Hypothesis != first.Hypothesis {
		t.Errorf("the same failure again: %+v, %v", again, err)
	}
	retry := booking(task, true)
	solved, err := s.retried(c, first.ID, true, &retry)
	if err != nil || solved.Status != store.ReflectionSolved || solved.RetriesLeft != 0 || solved.Job == "" || solved.Trajectory != first.Trajectory {
		t.Fatalf("solved %+v, %v", solved, err)
	}
	if _, err := s.retried(c, first.ID, true, &retry); codeOf(err) != api.CodeConflict {
		t.Errorf("reported twice: %v", err)
	}
	lesson := s.lessonOf(c, first.Trajectory, "reflection")
	if len(lesson.Lineage.Reflections) != 1 || lesson.Lineage.Reflections[0] != first.ID || lesson.Lineage.Trajectories[0] != first.Trajectory ||
		lesson.Lineage.Lens != "reflection" || !strings.HasPrefix(lesson.Content, "Do: call `login`") || lesson.Support != (api.Support{Success: 1, Failure: 1}) {
		t.Errorf("lesson %+v", lesson)
	}
	stats, err := s.node.Stats(context.Background(), s.admin)
	if err != nil || stats.Counters["outcomes"] != 1 {
		t.Errorf("outcomes %d, want that of the success without a receipt alone, %v", stats.Counters["outcomes"], err)
	}
	if got := stats.Counters; got["reflections_retries"] != 1 || got["reflections_solved"] != 1 || got["reflections_exhausted"] != 0 ||
		total(stats.Hours.Sums["reflections_solved"]) != 1 {
		t.Errorf("reflections are not in the statistics: %v", got)
	}
	s.lineageOfRetry(c, lesson, known.ID)
}

// lineageOfRetry checks that the graph of a lesson shows the reflection it came from and what that was made from, and that a
// stranger sees neither.
func (s *site) lineageOfRetry(c api.Caller, lesson api.Experience, success string) {
	s.t.Helper()
	g, err := s.node.Provenance(context.Background(), c, lesson.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	reflection := "reflection:" + lesson.Lineage.Reflections[0]
	for _, want := range []api.GraphEdge{
		{From: "activity:distil:" + lesson.ID, To: reflection, Relation: "wasInformedBy"},
		{From: reflection, To: "agent:ann", Relation: "wasAssociatedWith"},
		{From: reflection, To: "trajectory:" + lesson.Lineage.Trajectories[0], Relation: "used"},
		{From: reflection, To: "trajectory:" + success, Relation: "used"},
	} {
		if !slices.Contains(g.Edges, want) {
			s.t.Errorf("no edge %+v in %+v", want, g.Edges)
		}
	}
	if _, err := s.node.Provenance(context.Background(), s.agent("bob", "bob"), lesson.ID); err == nil {
		s.t.Error("a stranger reads the lineage of a private lesson")
	}
}

// lessonOf waits for a lesson of a kind from a group.
func (s *site) lessonOf(c api.Caller, trajectory, kind string) api.Experience {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		changed := s.node.store.Changed()
		got, err := s.node.Trajectory(ctx, c, trajectory)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, id := range got.Experiences {
			e, err := s.node.Experience(ctx, c, id)
			if err != nil {
				s.t.Fatal(err)
			}
			if e.Kind == kind {
				return e
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.t.Fatalf("no lesson of kind %s: %+v", kind, got)
		}
	}
}

func TestReflectionEndsAfterThreeRetries(t *testing.T) {
	s := newSite(t)
	c := s.agent("ann", "alice")
	s.record(c, booking(similarTask, true))
	receipt := s.recall(c, task).Receipt
	advice, err := s.reflect(c, receipt, failedBooking(task, "error: not logged in"))
	if err != nil {
		t.Fatal(err)
	}
	second := failedBooking(task, "error: session expired")
	if advice, err = s.retried(c, advice.ID, false, &second); err != nil || advice.Attempt != 2 || advice.RetriesLeft != 1 || advice.Hypothesis == "" {
		t.Fatalf("second %+v, %v", advice, err)
	}
	if same, err := s.reflect(c, receipt, second); err != nil || same.Attempt != 2 {
		t.Errorf("the failure that was reported, reflected on: %+v, %v", same, err)
	}
	if advice, err = s.reflect(c, receipt, failedBooking(task, "error: no such airport")); err != nil || advice.Attempt != 3 || advice.RetriesLeft != 0 {
		t.Fatalf("third %+v, %v", advice, err)
	}
	if _, err := s.reflect(c, receipt, failedBooking(task, "error: closed")); codeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "at most 3 retries") {
		t.Errorf("a fourth retry: %v", err)
	}
	if advice, err = s.retried(c, advice.ID, false, nil); err != nil || advice.Status != store.ReflectionExhausted || advice.Hypothesis != "" {
		t.Errorf("the third failed: %+v, %v", advice, err)
	}
	if _, err := s.retried(c, advice.ID, true, nil); codeOf(err) != api.CodeConflict {
		t.Errorf("after the end: %v", err)
	}
	stats, err := s.node.Stats(context.Background(), c)
	if err != nil || stats.Counters["reflections_retries"] != 3 || stats.Counters["reflections_exhausted"] != 1 {
		t.Errorf("statistics %v, %v", stats.Counters, err)
	}
}

func TestReflectionRefusals(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann", "alice"), s.agent("bob", "bob")
	receipt := s.recall(ann, task).Receipt
	failed := failedBooking(task, "error: not logged in")
	if _, err := s.reflect(bob, receipt, failed); codeOf(err) != api.CodeNotFound {
		t.Errorf("a foreign receipt: %v", err)
	}
	if _, err := s.reflect(ann, receipt[:len(receipt)-2]+"AA", failed); codeOf(err) != api.CodeNotFound {
		t.Errorf("a forged receipt: %v", err)
	}
	if _, err := s.reflect(ann, receipt, booking(task, true)); codeOf(err) != api.CodeInvalid {
		t.Errorf("a success: %v", err)
	}
	if old := s.receiptOf(ann, time.Now().UnixMilli()-store.ReceiptTTL-1); second(s.reflect(ann, old, failed)) == nil {
		t.Error("an expired receipt was taken")
	}
	advice, err := s.reflect(ann, receipt, failed)
	if err != nil || len(advice.BasedOn) != 0 || !strings.Contains(advice.Hypothesis, "not logged in") {
		t.Fatalf("without a past success: %+v, %v", advice, err)
	}
	other := failedBooking("cancel the flight", "error: x")
	if _, err := s.retried(ann, advice.ID, false, &other); codeOf(err) != api.CodeInvalid {
		t.Errorf("another task: %v", err)
	}
	if _, err := s.retried(bob, advice.ID, true, nil); codeOf(err) != api.CodeNotFound {
		t.Errorf("a foreign reflection: %v", err)
	}
	if _, err := s.retried(ann, advice.ID, true, &failed); codeOf(err) != api.CodeInvalid {
		t.Errorf("a failure as success: %v", err)
	}
}

// receiptOf signs a receipt of another time.
func (s *site) receiptOf(c api.Caller, at int64) string {
	s.t.Helper()
	v, ns, err := s.node.openFor(c)
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	site, err := v.Site()
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := sealReceipt(site, ns.ID, &store.Receipt{Recall: store.ID{7}, Agent: c.Agent, At: at})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// TestOutcomeBringsAReflection: a failure that is reported with its attempts gets a hypothesis where there is a past
// success, and none where there is not; the report repeated answers the same.
func TestOutcomeBringsAReflection(t *testing.T) {
	s := newSite(t)
	c := s.agent("ann", "alice")
	report := func(token, key string) api.OutcomeAnswer {
		t.Helper()
		no, failed := false, failedBooking(task, "error: not logged in")
		out, err := s.node.Outcome(context.Background(), c, token, api.OutcomeRequest{Success: &no, Trajectory: &failed}, api.Write{IdempotencyKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return out.Value
	}
	if got := report(s.recall(c, task).Receipt, ""); got.Reflection != nil || got.Trajectory == "" {
		t.Errorf("without a past success: %+v", got)
	}
	s.record(c, booking(similarTask, true))
	token := s.recall(c, task).Receipt
	got := report(token, "once")
	if got.Reflection == nil || !strings.Contains(got.Reflection.Hypothesis, "`login`") || got.Trajectory == "" {
		t.Fatalf("answer %+v", got)
	}
	if again := report(token, "once"); again.Reflection == nil || *again.Reflection != *got.Reflection || again.Trajectory != got.Trajectory {
		t.Errorf("repeated: %+v, first %+v", again, got)
	}
	retry := booking(task, true)
	if solved, err := s.retried(c, got.Reflection.ID, true, &retry); err != nil || solved.Status != store.ReflectionSolved {
		t.Errorf("retried: %+v, %v", solved, err)
	}
}

// TestErasedSourceTakesTheHypothesis: what quotes an erased lesson is gone, and a closed one is not told.
func TestErasedSourceTakesTheHypothesis(t *testing.T) {
	s := newSite(t)
	c := s.agent("ann", "alice")
	known := s.record(c, booking(similarTask, true))
	receipt := s.recall(c, task).Receipt
	failed := failedBooking(task, "error: not logged in")
	advice, err := s.reflect(c, receipt, failed)
	if err != nil || advice.BasedOn[0] == known.ID {
		t.Fatalf("based on %v, want a lesson of %s first, %v", advice.BasedOn, known.ID, err)
	}
	if _, err := s.node.Curate(context.Background(), s.admin, advice.BasedOn[0], "hold", api.CurateRequest{Reason: "wrong"}, api.Write{}); err != nil {
		t.Fatal(err)
	}
	if again, err := s.reflect(c, receipt, failed); err != nil || again.Hypothesis != "" || again.ID != advice.ID {
		t.Errorf("made from what is held: %+v, %v", again, err)
	}
	e, err := s.node.Experience(context.Background(), c, advice.BasedOn[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.node.EraseExperience(context.Background(), c, e.ID, e.Version, api.Write{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		changed := s.node.store.Changed()
		_, err := s.retried(c, advice.ID, true, nil)
		if codeOf(err) == api.CodeNotFound {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("the reflection outlives what it quotes")
		}
	}
}

func TestModelMakesTheHypothesis(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": `{"experiences":[]}`, "hypothesis": "{\"hypothesis\":\"Call `login` before `search_flights`; nobody was logged in.\"}"})
	s := newModelSite(t, o, nil, llm.RoleDistil)
	c := s.agent("ann", "alice")
	s.record(c, booking(similarTask, true))
	receipt := s.recall(c, task).Receipt
	advice, err := s.reflect(c, receipt, failedBooking(task, "error: not logged in"))
	if err != nil || advice.Generator != "llm/scripted/reflect.en@"+llm.PromptVersion || !strings.HasPrefix(advice.Hypothesis, "Call `login`") {
		t.Fatalf("advice %+v, %v", advice, err)
	}
	o.set("hypothesis", "503")
	second := failedBooking(task, "error: session expired")
	if advice, err = s.retried(c, advice.ID, false, &second); err != nil || advice.Generator != "rule/1" || advice.Hypothesis == "" {
		t.Errorf("while the model is out of reach: %+v, %v", advice, err)
	}
}
