package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is what the scripted server was sent.
type request struct {
	Model          string  `json:"model"`
	MaxTokens      int     `json:"max_tokens"`
	Temperature    float64 `json:"temperature"`
	Stream         bool    `json:"stream"`
	Seed           *int    `json:"seed"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	key string
}

// step is one answer of the script.
type step func(w http.ResponseWriter, r *http.Request)

// script is an OpenAI-compatible server that gives its answers one after the other; the last one again and again.
type script struct {
	*httptest.Server
	mu    sync.Mutex
	steps []step
	got   []request
}

func newScript(t *testing.T, steps ...step) *script {
	t.Helper()
	s := &script{steps: steps}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var req request
		if err := json.Unmarshal(body, &req); err != nil {
			t.Errorf("request: %v", err)
		}
		req.key = r.Header.Get("Authorization")
		if r.URL.Path != "/v1/chat/completions" {
			t.Errorf("path %s", r.URL.Path)
		}
		s.mu.Lock()
		next := s.steps[0]
		if len(s.steps) > 1 {
			s.steps = s.steps[1:]
		}
		s.got = append(s.got, req)
		s.mu.Unlock()
		next(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *script) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.got...)
}

// says answers with a text and ten tokens sent, five received, four of the ten from the provider's cache.
func says(text string) step {
	return saysUntil(text, "stop")
}

func saysUntil(text, finish string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		content, _ := json.Marshal(text)
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],
			"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4}}}`, content, finish)
	}
}

func fails(status int, body string, header ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body) //nolint:errcheck // a test server
	}
}

// hangs answers nothing until the client goes.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func streams(pieces ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			content, _ := json.Marshal(p)
			fmt.Fprintf(w, "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", content)
		}
		io.WriteString(w, "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\ndata: [DONE]\n\n") //nolint:errcheck // a test server
	}
}

// pauses counts waits instead of waiting.
type pauses struct {
	mu   sync.Mutex
	list []time.Duration
}

func (p *pauses) wait(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	p.list = append(p.list, d)
	p.mu.Unlock()
	return ctx.Err()
}

// clock is a time that only the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// harness is a client of a script.
type harness struct {
	*Client
	script *script
	pauses *pauses
	clock  *clock
}

func newHarness(t *testing.T, change func(*Options), steps ...step) *harness {
	t.Helper()
	h := &harness{script: newScript(t, steps...), pauses: &pauses{}, clock: &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	o := DefaultOptions()
	o.BaseURL, o.Key = h.script.URL+"/v1", "sk-secret"
	for _, role := range Roles {
		o.Models[role] = Model{Name: "m-" + string(role), Timeout: 10 * time.Second, Retries: 2}
	}
	if change != nil {
		change(&o)
	}
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	h.Client = newClient(o, h.clock.now, h.pauses.wait)
	t.Cleanup(h.Client.Close)
	return h
}

func change(role Role, f func(*Model)) func(*Options) {
	return func(o *Options) {
		m := o.Models[role]
		f(&m)
		o.Models[role] = m
	}
}

var ann = Caller{"default", "ann"}

const goodVerdict = `{"actionability":0.9,"accuracy":0.8,"relevance":0.7,"clarity":0.6,"uniqueness":0.5,"reason":"fits"}`

func (h *harness) judge(t *testing.T) (Verdict, error) {
	t.Helper()
	return h.Judge(context.Background(), ann, JudgeInput{
		TaskType: "airline", Task: "book a flight", Scenario: "booking", Content: "Call `login` before `book`.", Tools: []string{"login", "book"},
	})
}

func has(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
