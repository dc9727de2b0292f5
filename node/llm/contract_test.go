package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// The contract with a real endpoint, named by CAIRN_TEST_LLM_URL (up to /v1) and, where it has several models,
// CAIRN_TEST_LLM_MODEL. It tests the protocol and nothing of what the model says: a model of any size will do.

func realClient(t *testing.T, change func(*Model)) *Client {
	t.Helper()
	url := os.Getenv("CAIRN_TEST_LLM_URL")
	if url == "" {
		t.Skip("skipped: CAIRN_TEST_LLM_URL names no language model endpoint")
	}
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

// TestContractRoles goes the whole way once: a small model may fail the checks, and then says so.
func TestContractRoles(t *testing.T) {
	c := realClient(t, func(m *Model) { m.MaxTokens = 300 })
	v, err := c.Judge(context.Background(), ann, JudgeInput{Task: "book a flight", Scenario: "booking", Content: "Call login before book."})
	if err != nil && !errors.Is(err, ErrUnreadable) {
		t.Fatal(err)
	}
	t.Logf("verdict %+v, %v", v, err)
	u := c.Usage()
	if len(u) != 1 {
		t.Errorf("usage %+v", u)
	}
}
