package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// The contract with a real endpoint, named by CAIRN_TEST_LLM_URL (up to /v1) and, where it has several models,
// CAIRN_TEST_LLM_MODEL. It tests the protocol and nothing of what the model says: a model of any size will do.

func realURL(t *testing.T) string {
	t.Helper()
	url := os.Getenv("CAIRN_TEST_LLM_URL")
	if url == "" {
		t.Skip("skipped: CAIRN_TEST_LLM_URL names no language model endpoint")
	}
	return url
}

func realClient(t *testing.T, change func(*Model)) *Client {
	t.Helper()
	return clientOf(t, realURL(t), change)
}

func clientOf(t *testing.T, url string, change func(*Model)) *Client {
	t.Helper()
	seed := 11
	m := Model{Name: modelName(t, url), MaxTokens: 120, Seed: &seed, Timeout: 2 * time.Minute, MaxPrompt: 4000}
	if change != nil {
		change(&m)
	}
	o := DefaultOptions()
	o.BaseURL, o.CacheSize = url, -1
	for _, role := range Roles {
		o.Models[role] = m
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func modelName(t *testing.T, url string) string {
	t.Helper()
	if name := os.Getenv("CAIRN_TEST_LLM_MODEL"); name != "" {
		return name
	}
	res, err := http.Get(strings.TrimRight(url, "/") + "/models") //nolint:gosec,noctx // named by whoever runs the test
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Data) == 0 {
		t.Fatalf("list of models: %v", err)
	}
	return list.Data[0].ID
}

// askReal sends one bounded question under a schema, past the checks of the roles.
func askReal(t *testing.T, c *Client, text string) (reply, error) {
	t.Helper()
	s := schema{"colours", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["colours"],
		"properties":{"colours":{"type":"array","maxItems":2,"items":{"type":"string","maxLength":12}}}}`)}
	return c.endpoints[RoleJudge].send(context.Background(), []message{{"system", "Answer with JSON."}, {"user", text}}, s)
}

func TestContractSchema(t *testing.T) {
	c := realClient(t, nil)
	var texts [2]string
	for i := range texts {
		out, err := askReal(t, c, "Name two colours.")
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Colours []string }
		if err := parse(out.text, &v); err != nil || len(v.Colours) > 2 {
			t.Errorf("answer %q: %v", out.text, err)
		}
		if !out.known || out.tokens.PromptTokens == 0 || out.tokens.CompletionTokens == 0 {
			t.Errorf("no token counts: %+v", out.tokens)
		}
		texts[i] = out.text
	}
	if texts[0] != texts[1] {
		t.Errorf("one seed, two answers: %q and %q", texts[0], texts[1])
	}
	if c.endpoints[RoleJudge].format.get() != formatSchema {
		t.Log("the endpoint does not take a JSON schema")
	}
}

func TestContractStream(t *testing.T) {
	c := realClient(t, func(m *Model) { m.Stream = true })
	out, err := askReal(t, c, "Name two colours.")
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Colours []string }
	if err := parse(out.text, &v); err != nil || !out.known {
		t.Errorf("answer %q, usage known %v: %v", out.text, out.known, err)
	}
}

func TestContractTimeout(t *testing.T) {
	c := realClient(t, func(m *Model) { m.Timeout, m.Retries = time.Millisecond, -1 })
	if _, err := askReal(t, c, "Name two colours."); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestContractOverflow(t *testing.T) {
	c := realClient(t, nil)
	if _, err := askReal(t, c, strings.Repeat("one two three four five six seven ", 6000)); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v, want ErrTooLong", err)
	}
}

// tap stands between a client and the real endpoint and keeps what came back.
type tap struct {
	*httptest.Server
	mu      sync.Mutex
	answers []openai.ChatCompletionResponse
	asked   []request
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	x := &tap{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host },
		ModifyResponse: func(r *http.Response) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			var answer openai.ChatCompletionResponse
			if r.StatusCode == http.StatusOK && strings.HasSuffix(r.Request.URL.Path, "/chat/completions") && json.Unmarshal(body, &answer) == nil {
				x.mu.Lock()
				x.answers = append(x.answers, answer)
				x.mu.Unlock()
			}
			return nil
		},
	}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var req request
		if json.Unmarshal(body, &req) == nil {
			x.mu.Lock()
			x.asked = append(x.asked, req)
			x.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(x.Close)
	return x
}

// TestContractPrompts puts the question of each prompt once, with its schema, to the real endpoint, and reads the answer by
// the same parser. A small model may fail the checks, and then the error says so; but what it gave under the schema, unless
// it was cut, is an object with the fields asked for.
func TestContractPrompts(t *testing.T) {
	endpoint := realURL(t)
	for _, p := range promptCases() {
		t.Run(p.name, func(t *testing.T) {
			x := newTap(t, endpoint)
			c := clientOf(t, x.URL+strings.TrimPrefix(endpoint, origin(t, endpoint)), func(m *Model) { m.MaxTokens, m.Retries = 300, -1 })
			got, generator, err := p.ask(context.Background(), c)
			if err != nil && !errors.Is(err, ErrUnreadable) {
				t.Fatal(err)
			}
			if zero := reflect.ValueOf(got).IsZero(); zero != (err != nil) {
				t.Errorf("got %+v with %v", got, err)
			}
			if err == nil && generator != "" && !strings.HasSuffix(generator, "/"+p.name+"@"+PromptVersion) {
				t.Errorf("made by %s", generator)
			}
			x.check(t, p, c.endpoints[p.role].format.get())
			for _, u := range c.Usage() {
				if u.Calls != int64(len(x.answers)) || u.Estimated != 0 || u.PromptTokens == 0 || u.AnswerTokens == 0 {
					t.Errorf("usage %+v after %d answers", u, len(x.answers))
				}
			}
			t.Logf("%d answers, %v", len(x.answers), err)
		})
	}
}

// check looks at the answers: one, or two where the first one had to be repaired.
func (x *tap) check(t *testing.T, p promptCase, level int32) {
	t.Helper()
	if n := len(x.answers); n < 1 || n > 2 {
		t.Fatalf("%d answers, want one, or one more to repair it", n)
	}
	if level != formatSchema {
		t.Log("the endpoint does not take a JSON schema")
		return
	}
	var form struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(x.asked[len(x.asked)-1].ResponseFormat.JSONSchema.Schema, &form); err != nil || len(form.Required) == 0 {
		t.Fatalf("schema sent with %s: %v", p.name, err)
	}
	for _, a := range x.answers {
		choice := a.Choices[0]
		if choice.FinishReason == openai.FinishReasonLength {
			t.Logf("cut at %d tokens", a.Usage.CompletionTokens)
			continue
		}
		var object map[string]any
		if err := parse(choice.Message.Content, &object); err != nil {
			t.Errorf("answer %q: %v", choice.Message.Content, err)
		}
		for _, name := range form.Required {
			if _, ok := object[name]; !ok {
				t.Errorf("answer %q lacks %s", choice.Message.Content, name)
			}
		}
	}
}

func origin(t *testing.T, endpoint string) string {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}
