package node

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// oracle is an OpenAI-compatible server that answers by what it is asked for: the name of the schema.
type oracle struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]string // by schema; a number is a status
	asked   map[string]int
	prompts []string
}

func newOracle(t *testing.T, answers map[string]string) *oracle {
	t.Helper()
	o := &oracle{answers: answers, asked: map[string]int{}}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Messages       []struct{ Content string }
			ResponseFormat struct {
				JSONSchema struct{ Name string } `json:"json_schema"`
			} `json:"response_format"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Errorf("request: %v", err)
			return
		}
		name := req.ResponseFormat.JSONSchema.Name
		o.mu.Lock()
		o.asked[name]++
		answer := o.answers[name]
		for _, m := range req.Messages {
			o.prompts = append(o.prompts, m.Content)
		}
		o.mu.Unlock()
		switch answer {
		case "503":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "hang":
			<-r.Context().Done()
		default:
			content, _ := json.Marshal(answer)
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`, content)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *oracle) set(name, answer string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers[name] = answer
}

func (o *oracle) count(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[name]
}

const (
	goodLesson = `{"experiences":[{"lens":"success_pattern","scenario":"booking a flight for a customer","content":"Call login before search_flights, then book the flight that was found.","keywords":["login","flight","booking"],"tools":["login","search_flights","book"],"attempts":[0],"confidence":0.9}]}`
	goodMarks  = `{"actionability":0.9,"accuracy":0.8,"relevance":0.7,"clarity":0.6,"uniqueness":0.5,"reason":"fits"}`
)

func newModelSite(t *testing.T, o *oracle, change func(*llm.Options), roles ...llm.Role) *site {
	t.Helper()
	opts := llm.DefaultOptions()
	opts.BaseURL = o.URL + "/v1"
	for _, role := range roles {
		opts.Models[role] = llm.Model{Name: "scripted", Retries: -1}
	}
	opts.EnsureDefaults()
	if change != nil {
		change(&opts)
	}
	encoder, err := sharedEncoder()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: t.TempDir()}
	s.node, err = Open(context.Background(), Config{
		Dir: s.dir, PeerAddr: "127.0.0.1:0", PeerInsecure: true, Encoder: encoder, EmbedDeadline: time.Minute,
		Logger: slog.New(slog.DiscardHandler), LLM: &opts, RetryAfter: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	s.admin = s.caller(s.node.AdminKey())
	return s
}

// awaitJob waits until a job about something is as wanted.
func (s *site) awaitJob(want func(store.Job) bool) store.Job {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		changed := s.node.store.Changed()
		v, _, err := s.node.openFor(s.admin)
		if err != nil {
			s.t.Fatal(err)
		}
		var found *store.Job
		err = v.Jobs(nil, func(_ []byte, j *store.Job) bool {
			if want(*j) {
				found = j
			}
			return found == nil
		})
		v.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		if found != nil {
			return *found
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.t.Fatal("no such job in time")
		}
	}
}

func TestModelDistilsJudgesAndRewards(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": goodLesson, "verdict": goodMarks, "reward": `{"score":1,"reason":"booked"}`})
	s := newModelSite(t, o, nil, llm.RoleDistil, llm.RoleJudge, llm.RoleReward)
	c := s.agent("ann", "alice")
	req := booking("book a flight from AMS to LIS", true)
	req.Attempts[0].Reward = nil
	got := s.record(c, req)
	if len(got.Gate) != 1 || got.Gate[0].Actual == nil || *got.Gate[0].Actual != 1 {
		t.Errorf("gate %+v, want the judged reward", got.Gate)
	}
	at := slices.IndexFunc(got.Experiences, func(e api.Experience) bool { return e.Lineage.Generator == "llm/scripted/distil.en@"+llm.PromptVersion })
	if at < 0 {
		t.Fatalf("no lesson of the model among %+v, discarded %+v", got.Experiences, got.Discarded)
	}
	if e := got.Experiences[at]; e.Confidence < .69 || e.Confidence > .71 {
		t.Errorf("confidence %v, want the verdict's mean .7", e.Confidence)
	}
	s.node.book(context.Background())
	spent, _ := s.node.spentBy(llm.Caller{Namespace: c.Namespace, Agent: "ann"}, time.Now().Unix()/86_400)
	asked := o.count("experiences") + o.count("verdict") + o.count("reward")
	if spent != int64(120*asked) {
		t.Errorf("booked %d tokens for %d questions of 120", spent, asked)
	}
	for _, p := range o.prompts {
		if strings.Contains(p, s.node.AdminKey()) {
			t.Error("a prompt holds a key")
		}
	}
}

// TestOutageLosesNothing lets a model be away and come back: the job waits without being counted a failure, and is done.
func TestOutageLosesNothing(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": "503", "verdict": goodMarks})
	s := newModelSite(t, o, nil, llm.RoleDistil, llm.RoleJudge)
	c := s.agent("ann", "alice")
	rec, err := s.node.RecordTrajectory(context.Background(), c, booking("book a flight from AMS to LIS", true), 0, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	job := s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobDistil && j.Waits > 0 })
	if job.Tries != 0 || job.Error == "" || job.Status != store.JobQueued {
		t.Errorf("during the outage: %+v", job)
	}
	o.set("experiences", goodLesson)
	again, err := s.node.RecordTrajectory(context.Background(), c, booking("book a flight from AMS to LIS", true), 30*time.Second, api.Write{})
	if err != nil || again.Status != 200 || again.Value.ID != rec.Value.ID || len(again.Value.Experiences) == 0 {
		t.Fatalf("after the outage: %+v, %v", again, err)
	}
}

func TestUnreadableAnswerIsNoPass(t *testing.T) {
	o := newOracle(t, map[string]string{"verdict": "fine, I would admit it"})
	s := newModelSite(t, o, nil, llm.RoleJudge)
	c := s.agent("ann", "alice")
	if _, err := s.node.RecordTrajectory(context.Background(), c, booking("book a flight from AMS to LIS", true), 0, api.Write{}); err != nil {
		t.Fatal(err)
	}
	job := s.awaitJob(func(j store.Job) bool { return j.Kind == store.JobDistil && j.Status == store.JobQueued && j.Tries > 0 })
	if job.Waits != 0 || !strings.Contains(job.Error, "unreadable") || strings.Contains(job.Error, "admit") {
		t.Errorf("job %+v, want a counted try and an error without the answer's text", job)
	}
	if list, err := s.node.Experiences(context.Background(), s.admin, api.ListFilter{Page: api.Page{Limit: 10}}); err != nil || len(list.Items) > 0 {
		t.Errorf("admitted %+v, %v", list.Items, err)
	}
}

func TestWithoutBudgetTheRulesWork(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": goodLesson, "verdict": goodMarks})
	s := newModelSite(t, o, func(o *llm.Options) { o.Namespace = llm.Limit{} }, llm.Roles...)
	c := s.agent("ann", "alice")
	got := s.record(c, booking("book a flight from AMS to LIS", true))
	if len(got.Experiences) == 0 || o.count("experiences")+o.count("verdict") > 0 {
		t.Errorf("%d experiences, asked %v", len(got.Experiences), o.asked)
	}
	for _, e := range got.Experiences {
		if !strings.HasPrefix(e.Lineage.Generator, "rule/") {
			t.Errorf("made by %s", e.Lineage.Generator)
		}
	}
}

func TestRecallRerankedAndRewritten(t *testing.T) {
	o := newOracle(t, map[string]string{})
	s := newModelSite(t, o, nil, llm.RoleRerank, llm.RoleRewrite)
	c := s.agent("ann", "alice")
	for _, text := range []string{"Log in before you search for flights.", "Ask for the class before booking a flight."} {
		_, err := s.node.AddExperience(context.Background(), c, api.AddExperience{Scenario: "booking a flight for a customer", Content: text}, api.Write{})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.indexed()
	ask := func() api.RecallAnswer {
		t.Helper()
		out, err := s.node.Recall(context.Background(), c, api.RecallRequest{
			Task: "book a flight for a customer", Mode: "search", Rerank: true, Rewrite: true,
		})
		if err != nil || len(out.Experiences) != 2 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out
	}
	o.set("ranking", "no")
	o.set("guidance", "no")
	plain := ask()
	if !slices.Equal(plain.Degraded, []string{"rerank: no valid answer", "rewrite: no valid answer"}) {
		t.Errorf("degraded %q", plain.Degraded)
	}
	first, second := plain.Experiences[0].Experience.ID, plain.Experiences[1].Experience.ID
	o.set("ranking", fmt.Sprintf(`{"ranking":[{"id":%q,"score":0.9},{"id":%q,"score":0.1}]}`, second, first))
	o.set("guidance", fmt.Sprintf(`{"steps":[{"text":"Log in, then search.","sources":[%q]}],"conflicts":[]}`, first))
	got := ask()
	if len(got.Degraded) > 0 || got.Experiences[0].Experience.ID != second || got.Experiences[0].Rank != 1 {
		t.Errorf("degraded %q, first %s rank %d; want %s first", got.Degraded, got.Experiences[0].Experience.ID, got.Experiences[0].Rank, second)
	}
	if !strings.Contains(got.Guidance, "Steps:\n> 1. Log in, then search. [2]\n") {
		t.Errorf("guidance %q", got.Guidance)
	}
	o.set("ranking", "hang")
	o.set("guidance", "hang")
	s.node.models.client.Forget(c.Namespace)
	if late := ask(); len(late.Degraded) != 2 || late.Degraded[0] != "rerank: timeout" || late.Experiences[0].Experience.ID != first {
		t.Errorf("degraded %q", late.Degraded)
	}
}
