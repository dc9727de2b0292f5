package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/node/api"
	"cairn/node/store"
)

func lesson(i int) api.AddExperience {
	return api.AddExperience{
		Scenario: fmt.Sprintf("Refund order %d of a customer who paid by card", i),
		Content:  fmt.Sprintf("Call refund(order=%d) only after verify_payment(order=%d).", i, i), TaskType: "refund",
		Tools: []string{"refund", "verify_payment"},
	}
}

func (s *site) add(c api.Caller, req api.AddExperience, w api.Write) api.Done[api.Experience] {
	s.t.Helper()
	out, err := s.node.AddExperience(context.Background(), c, req, w)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestIdempotencyKey(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	w := api.Write{IdempotencyKey: "k1", BodyHash: [32]byte{1}}
	first := s.add(ann, lesson(1), w)
	again := s.add(ann, lesson(1), w)
	if !again.Replayed || again.Value.ID != first.Value.ID || again.Status != 201 || again.Index != first.Index {
		t.Errorf("replay %+v, want the first answer %+v", again, first)
	}
	_, err := s.node.AddExperience(context.Background(), ann, lesson(2), api.Write{IdempotencyKey: "k1", BodyHash: [32]byte{2}})
	if codeOf(err) != api.CodeConflict {
		t.Errorf("same key, other body: %v, want conflict", err)
	}
	if other := s.add(bob, lesson(1), w); other.Replayed {
		t.Error("another agent's key replayed")
	}
	if list := s.own(ann); len(list) != 1 {
		t.Errorf("%d experiences, want 1", len(list))
	}
}

func (s *site) own(c api.Caller) []api.Experience {
	s.t.Helper()
	list, err := s.node.Experiences(context.Background(), c, api.ListFilter{Pool: "own", Page: api.Page{Limit: 500}})
	if err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

func TestAgentKeyIsShownOnce(t *testing.T) {
	s := newSite(t)
	w := api.Write{IdempotencyKey: "enrol", BodyHash: [32]byte{9}}
	req := api.CreateAgent{ID: "ann-1", Principal: "ann"}
	first, err := s.node.CreateAgent(context.Background(), s.admin, req, w)
	if err != nil || first.Value.Key == nil {
		t.Fatalf("created %+v, %v", first, err)
	}
	again, err := s.node.CreateAgent(context.Background(), s.admin, req, w)
	if err != nil || again.Value.Key != nil || again.Value.KeyID != first.Value.KeyID {
		t.Errorf("replay %+v, %v, want the same key id and no key", again.Value, err)
	}
	caller := s.caller(*first.Value.Key)
	if _, err := s.node.RemoveAgent(context.Background(), s.admin, "ann-1", api.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.node.Authenticate(context.Background(), *first.Value.Key); codeOf(err) != api.CodeUnauthenticated {
		t.Errorf("a removed agent's key: %v, want unauthenticated", err)
	}
	if _, err := s.node.AddExperience(context.Background(), caller, lesson(1), api.Write{}); err == nil {
		t.Error("a removed agent wrote")
	}
	if _, err := s.node.CreateAgent(context.Background(), s.admin, req, api.Write{}); codeOf(err) != api.CodeConflict {
		t.Errorf("an id given again: %v, want conflict", err)
	}
}

func TestParallelWritesAreAllKept(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	const writers, each = 8, 12
	var wg sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				_, err := s.node.AddExperience(context.Background(), ann, lesson(1000*w+i), api.Write{})
				errs <- err
			}
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.own(ann)); got != writers*each {
		t.Errorf("%d experiences, want %d", got, writers*each)
	}
}

func TestExactDuplicateIsMerged(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	first := s.add(ann, lesson(1), api.Write{})
	copied := lesson(1)
	copied.Content = "  " + strings.ToUpper(copied.Content[:1]) + copied.Content[1:] + " "
	again := s.add(ann, copied, api.Write{})
	if again.Status != 200 || again.Value.MergedInto != first.Value.ID {
		t.Errorf("duplicate answered %d %q, want 200 merged into %s", again.Status, again.Value.MergedInto, first.Value.ID)
	}
	other := s.add(ann, lesson(2), api.Write{})
	if other.Status != 201 {
		t.Error("another order number was merged")
	}
}

func TestVersionsAndErasure(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann := s.agent("ann-1", "ann")
	e := s.add(ann, lesson(1), api.Write{}).Value
	content := "Ask for the receipt, then call refund(order=1)."
	if _, err := s.node.PatchExperience(ctx, ann, e.ID, 0, api.PatchExperience{Content: &content}, api.Write{}); codeOf(err) != api.CodePrecondition {
		t.Errorf("patch without If-Match: %v", err)
	}
	if _, err := s.node.PatchExperience(ctx, ann, e.ID, 7, api.PatchExperience{Content: &content}, api.Write{}); codeOf(err) != api.CodePrecondition {
		t.Errorf("patch of another version: %v", err)
	}
	patched, err := s.node.PatchExperience(ctx, ann, e.ID, 1, api.PatchExperience{Content: &content}, api.Write{})
	if err != nil || patched.Value.Version != 2 || patched.Value.Content != content {
		t.Fatalf("patched %+v, %v", patched.Value, err)
	}
	history, err := s.node.History(ctx, ann, e.ID)
	if err != nil || len(history.Items) != 2 || history.Items[0].Content != e.Content {
		t.Errorf("history %+v, %v", history, err)
	}
	erased, err := s.node.EraseExperience(ctx, ann, e.ID, 2, api.Write{})
	if err != nil || len(erased.Value.Erased) != 1 {
		t.Fatalf("erased %+v, %v", erased, err)
	}
	if _, err := s.node.Experience(ctx, ann, e.ID); codeOf(err) != api.CodeNotFound {
		t.Errorf("erased item: %v", err)
	}
	proof := s.purged(ann, erased.Value.Receipt)
	if proof.Places["state"] != "purged" || proof.Places["index"] != "purged" {
		t.Errorf("proof %+v", proof)
	}
	if a := s.recall(ann, e.Scenario); len(a.Experiences) != 0 {
		t.Errorf("an erased item was recalled")
	}
}

func TestReceiptsCannotBeForged(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	rec := s.record(ann, booking(task, true))
	a := s.recall(ann, task)
	ok := true
	outcome := func(c api.Caller, receipt string, used ...string) error {
		_, err := s.node.Outcome(ctx, c, receipt, api.OutcomeRequest{Success: &ok, Used: &used}, api.Write{})
		return err
	}
	forged := a.Receipt[:len(a.Receipt)-2] + "AA"
	if forged == a.Receipt {
		forged = a.Receipt[:len(a.Receipt)-2] + "BB"
	}
	cases := []struct {
		name string
		err  error
		want api.Code
	}{
		{"foreign", outcome(bob, a.Receipt, rec.Experiences[0].ID), api.CodeNotFound},
		{"forged", outcome(ann, forged, rec.Experiences[0].ID), api.CodeNotFound},
		{"garbage", outcome(ann, "rcp_x"), api.CodeNotFound},
		{"item not in the recall", outcome(ann, a.Receipt, "01ARZ3NDEKTSV4RRFFQ69G5FAV"), api.CodeInvalid},
		{"first report", outcome(ann, a.Receipt, rec.Experiences[0].ID), ""},
		{"second report", outcome(ann, a.Receipt, rec.Experiences[0].ID), api.CodeConflict},
		{"expired", outcome(ann, s.sealed(ann, time.Now().Add(-8*24*time.Hour))), api.CodeConflict},
	}
	for _, c := range cases {
		if got := codeOf(c.err); got != c.want || c.want == "" && c.err != nil {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
}

// sealed is a receipt of a recall at some time.
func (s *site) sealed(c api.Caller, at time.Time) string {
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
	out, err := sealReceipt(site, ns.ID, &store.Receipt{Recall: store.ID{1}, Agent: c.Agent, At: at.UnixMilli()})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestBadInputIsNamed(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann := s.agent("ann-1", "ann")
	before, _ := s.node.store.Applied()
	high, nan, zero, many := 1.5, 0.0, 0, 51
	nan = nan / nan
	steps := make([]api.Step, 300)
	for i := range steps {
		steps[i].Tool = "x"
	}
	record := func(change func(*api.RecordTrajectory)) error {
		req := booking(task, true)
		change(&req)
		return second(s.node.RecordTrajectory(ctx, ann, req, 0, api.Write{}))
	}
	cases := []struct {
		location string
		err      error
	}{
		{"body.task", record(func(r *api.RecordTrajectory) { r.Task = " \t" })},
		{"body.task", record(func(r *api.RecordTrajectory) { r.Task = "a\x00b" })},
		{"body.task", record(func(r *api.RecordTrajectory) { r.Task = "\xff\xfe" })},
		{"body.attempts", record(func(r *api.RecordTrajectory) { r.Attempts = nil })},
		{"body.attempts[0].reward", record(func(r *api.RecordTrajectory) { r.Attempts[0].Reward = &high })},
		{"body.attempts[0].reward", record(func(r *api.RecordTrajectory) { r.Attempts[0].Reward = &nan })},
		{"body.attempts[0].steps", record(func(r *api.RecordTrajectory) { r.Attempts[0].Steps = steps })},
		{"body.attempts[0].steps[0].tool", record(func(r *api.RecordTrajectory) { r.Attempts[0].Steps[0].Tool = "" })},
		{"body.share", record(func(r *api.RecordTrajectory) { r.Share = "all" })},
		{"body.k", second(s.node.Recall(ctx, ann, api.RecallRequest{Task: task, K: &zero}))},
		{"body.k", second(s.node.Recall(ctx, ann, api.RecallRequest{Task: task, K: &many}))},
		{"body.pools[0]", second(s.node.Recall(ctx, ann, api.RecallRequest{Task: task, Pools: []string{"*"}}))},
		{"query.limit", second(s.node.Experiences(ctx, ann, api.ListFilter{Page: api.Page{Limit: -1}}))},
		{"query.cursor", second(s.node.Experiences(ctx, ann, api.ListFilter{Page: api.Page{Cursor: "!"}}))},
		{"query.cursor", second(s.node.Experiences(ctx, ann, api.ListFilter{Page: api.Page{Cursor: "garbage"}}))},
		{"query.agent", second(s.node.Experiences(ctx, s.admin, api.ListFilter{Agent: "*"}))},
		{"body.id", second(s.node.CreateAgent(ctx, s.admin, api.CreateAgent{ID: "*"}, api.Write{}))},
	}
	for _, c := range cases {
		e := api.AsError(c.err)
		if c.err == nil || e.Code != api.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Location != c.location {
			t.Errorf("%v, want invalid at %s", c.err, c.location)
		}
	}
	if after, _ := s.node.store.Applied(); after != before {
		t.Errorf("bad input wrote: applied %d, want %d", after, before)
	}
	if err := second(s.node.CreateAgent(ctx, ann, api.CreateAgent{ID: "eve"}, api.Write{})); codeOf(err) != api.CodeDenied {
		t.Errorf("enrolment by an agent: %v, want denied", err)
	}
}

func TestRestartKeepsEverything(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	rec := s.record(ann, booking(task, true))
	direct := s.add(ann, lesson(1), api.Write{})
	_, hash := s.node.store.Hash()
	s.stop()
	s.start()
	if _, again := s.node.store.Hash(); again != hash {
		t.Error("the state changed over a restart")
	}
	if got := s.recall(ann, task); len(got.Experiences) == 0 || got.Experiences[0].Experience.ID != rec.Experiences[0].ID {
		t.Errorf("recalled %+v after a restart", got.Experiences)
	}
	if e, err := s.node.Experience(context.Background(), ann, direct.Value.ID); err != nil || e.Content != direct.Value.Content {
		t.Errorf("read %+v, %v after a restart", e, err)
	}
}

func TestFeedResumesByCursor(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	open := func(c api.Caller, cursor string) api.FeedStream {
		f, err := s.node.Feed(ctx, c, cursor, api.FeedFilter{Types: []string{"experience.recorded"}})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := f.Next(ctx); err != nil || m.Type != "welcome" {
			t.Fatalf("first message %+v, %v, want welcome", m, err)
		}
		return f
	}
	next := func(f api.FeedStream) api.FeedMessage {
		m, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	feed, foreign := open(ann, ""), open(bob, "")
	var ids []string
	for i := range 6 {
		ids = append(ids, s.add(ann, lesson(i), api.Write{}).Value.ID)
	}
	mine := s.add(bob, lesson(99), api.Write{}).Value.ID
	cursor := ""
	for _, want := range ids[:3] {
		m := next(feed)
		if m.Experience != want {
			t.Fatalf("event about %s, want %s", m.Experience, want)
		}
		cursor = m.Cursor
	}
	s.stop()
	s.start()
	feed = open(ann, cursor)
	for _, want := range ids[3:] {
		if m := next(feed); m.Experience != want {
			t.Fatalf("after the restart: event about %s, want %s", m.Experience, want)
		}
	}
	if m := next(open(bob, "1:0.0")); m.Experience != mine {
		t.Errorf("bob's feed shows %+v first, want its own item", m)
	}
	foreign.Close()
	for _, bad := range []string{"x", "1:2", "1:-1.0", "+1:1.0", "9:1.0", "1:999999.0"} {
		if _, err := s.node.Feed(ctx, ann, bad, api.FeedFilter{}); codeOf(err) != api.CodeInvalid {
			t.Errorf("cursor %q: %v, want invalid", bad, err)
		}
	}
}

func TestNamespacesAreApart(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	made, err := s.node.CreateNamespace(ctx, s.admin, api.CreateNamespace{ID: "other"}, api.Write{})
	if err != nil || made.Value.AdminKey == nil {
		t.Fatalf("%+v, %v", made, err)
	}
	foreignAdmin := s.caller(*made.Value.AdminKey)
	ann := s.agent("ann-1", "ann")
	e := s.add(ann, lesson(1), api.Write{}).Value
	if _, err := s.node.Experience(ctx, foreignAdmin, e.ID); codeOf(err) != api.CodeNotFound {
		t.Errorf("another namespace's admin reads %v", err)
	}
	if _, err := s.node.Settings(ctx, foreignAdmin, "default"); codeOf(err) != api.CodeNotFound {
		t.Errorf("another namespace's settings: %v", err)
	}
	if _, err := s.node.CreateNamespace(ctx, foreignAdmin, api.CreateNamespace{ID: "third"}, api.Write{}); codeOf(err) != api.CodeDenied {
		t.Errorf("a tenant's admin made a namespace: %v", err)
	}
	list, err := s.node.Experiences(ctx, foreignAdmin, api.ListFilter{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("another namespace lists %d items, %v", len(list.Items), err)
	}
}

func TestListsArePaged(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	want := map[string]bool{}
	for i := range 7 {
		want[s.add(ann, lesson(i), api.Write{}).Value.ID] = true
	}
	cursor, pages := "", 0
	for {
		list, err := s.node.Experiences(context.Background(), ann, api.ListFilter{Pool: "own", Page: api.Page{Limit: 3, Cursor: cursor}})
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, e := range list.Items {
			if !want[e.ID] {
				t.Errorf("page %d has %s, unknown or seen before", pages, e.ID)
			}
			delete(want, e.ID)
		}
		if list.NextCursor == nil {
			break
		}
		cursor = *list.NextCursor
	}
	if pages != 3 || len(want) != 0 {
		t.Errorf("%d pages, %d items missing", pages, len(want))
	}
}

// purged waits until an erasure's job has removed what hung on the erased ids.
func (s *site) purged(c api.Caller, receipt string) api.Erasure {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		changed := s.node.store.Changed()
		proof, err := s.node.Erasure(ctx, c, receipt)
		if err != nil {
			s.t.Fatal(err)
		}
		if proof.Places["state"] == "purged" {
			return proof
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.t.Fatalf("the erasure is still pending: %+v", proof)
		}
	}
}
