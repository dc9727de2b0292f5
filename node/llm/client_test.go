package llm

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestJudgeReadsWhatModelsWrite(t *testing.T) {
	for name, answer := range map[string]string{
		"plain":          goodVerdict,
		"fence":          "```json\n" + goodVerdict + "\n```",
		"prose":          "Sure! Here it is: " + goodVerdict + " I hope this helps.",
		"reasoning":      "<think>maybe {\"actionability\": 0}</think>" + goodVerdict,
		"trailing comma": strings.Replace(goodVerdict, `"fits"}`, `"fits, } or not",}`, 1),
		"byte order":     "\ufeff" + goodVerdict,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, nil, says(answer))
			v, err := h.judge(t)
			if err != nil || math.Abs(v.Score-.7) > 1e-9 || v.Generator != "llm/m-judge/judge.en@"+PromptVersion {
				t.Errorf("got %+v, %v", v, err)
			}
			if n := len(h.script.requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// TestUnreadableVerdictIsNoPass asks for one repair and then gives an error with no score.
func TestUnreadableVerdictIsNoPass(t *testing.T) {
	for name, answer := range map[string]string{
		"garbage":      "I cannot judge this.",
		"empty":        "",
		"half":         goodVerdict[:50],
		"out of range": strings.Replace(goodVerdict, "0.9", "9", 1),
		"negative":     strings.Replace(goodVerdict, "0.9", "-0.1", 1),
		"missing":      strings.Replace(goodVerdict, `"clarity":0.6,`, "", 1),
		"null":         strings.Replace(goodVerdict, "0.9", "null", 1),
		"text":         strings.Replace(goodVerdict, "0.9", `"high"`, 1),
		"the schema":   string(judgeSchema.body),
		"a list":       "[1,2,3]",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, nil, says(answer))
			v, err := h.judge(t)
			if !errors.Is(err, ErrUnreadable) || v != (Verdict{}) {
				t.Errorf("got %+v, %v; want ErrUnreadable", v, err)
			}
			got := h.script.requests()
			if len(got) != 2 || len(got[1].Messages) != 4 || !has(got[1].Messages[3].Content, "cannot be used") {
				t.Fatalf("%d requests, want a question and one repair", len(got))
			}
			if strings.Contains(err.Error(), "I cannot judge") {
				t.Errorf("the error repeats the answer: %v", err)
			}
			u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]
			if u.Calls != 2 || u.Repairs != 1 || u.Failed != 1 {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

func TestRepairSucceeds(t *testing.T) {
	h := newHarness(t, nil, says("{\"actionability\":"), says(goodVerdict))
	if v, err := h.judge(t); err != nil || v.Score == 0 {
		t.Fatalf("got %+v, %v", v, err)
	}
	u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]
	want := Usage{Calls: 2, Repairs: 1, PromptTokens: 20, AnswerTokens: 10, ProviderCached: 8}
	if u != want {
		t.Errorf("usage %+v, want %+v", u, want)
	}
}

func TestCutAnswerIsToldSo(t *testing.T) {
	h := newHarness(t, nil, saysUntil(goodVerdict[:40], "length"), says(goodVerdict))
	if _, err := h.judge(t); err != nil {
		t.Fatal(err)
	}
	if last := h.script.requests()[1].Messages[3].Content; !has(last, "cut at 400 tokens") {
		t.Errorf("repair says %q", last)
	}
}

func TestTriesAgain(t *testing.T) {
	for _, tc := range []struct {
		name  string
		steps []step
		waits []time.Duration
		err   error
	}{
		{"503 then well", []step{fails(503, "busy"), says(goodVerdict)}, []time.Duration{backOff}, nil},
		{"429 with Retry-After", []step{fails(429, `{"error":{"message":"slow down"}}`, "Retry-After", "7"), says(goodVerdict)}, []time.Duration{7 * time.Second}, nil},
		{"429 with a long Retry-After", []step{fails(429, "", "Retry-After", "3600")}, nil, ErrUnavailable},
		{"500 for ever", []step{fails(500, "{}")}, []time.Duration{backOff, 2 * backOff}, ErrUnavailable},
		{"no JSON at all", []step{fails(200, "<html>proxy error</html>"), says(goodVerdict)}, []time.Duration{backOff}, nil},
		{"half a body", []step{fails(200, `{"choices":[{"mess`), says(goodVerdict)}, []time.Duration{backOff}, nil},
		{"401", []step{fails(401, `{"error":{"message":"bad key sk-secret","code":"invalid_api_key"}}`)}, nil, ErrRefused},
		{"404", []step{fails(404, `{"error":{"message":"no such model"}}`)}, nil, ErrRefused},
		{"redirect", []step{fails(302, "", "Location", "http://192.0.2.1/")}, nil, ErrRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHarness(t, nil, tc.steps...)
			_, err := h.judge(t)
			if !errors.Is(err, tc.err) {
				t.Fatalf("got %v, want %v", err, tc.err)
			}
			if len(h.pauses.list) != len(tc.waits) {
				t.Fatalf("waited %v, want %v", h.pauses.list, tc.waits)
			}
			for i, w := range tc.waits {
				if h.pauses.list[i] != w {
					t.Errorf("waited %v, want %v", h.pauses.list, tc.waits)
				}
			}
			if err != nil && strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the error tells the key: %v", err)
			}
		})
	}
	h := newHarness(t, nil, fails(429, "", "Retry-After", "3600"))
	if _, err := h.judge(t); RetryAfter(err) != time.Hour {
		t.Errorf("RetryAfter is %v, want what the endpoint said", RetryAfter(err))
	}
}

func TestSlowEndpoint(t *testing.T) {
	h := newHarness(t, change(RoleJudge, func(m *Model) { m.Timeout, m.Retries = time.Second, -1 }), hangs)
	if _, err := h.judge(t); !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]; u.Estimated != 1 || u.PromptTokens == 0 {
		t.Errorf("a question that was read and not answered costs: %+v", u)
	}
}

func TestCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// The caller gives up once the question has arrived, however long that took.
	h := newHarness(t, nil, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hangs(w, r)
	})
	if _, err := h.Judge(ctx, ann, JudgeInput{Content: "x"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if n := len(h.script.requests()); n != 1 {
		t.Errorf("%d requests after the caller gave up, want 1", n)
	}
}

func TestUnreachableEndpoint(t *testing.T) {
	h := newHarness(t, nil, says(goodVerdict))
	h.script.Close()
	if _, err := h.judge(t); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// TestFormatFalls takes what the endpoint offers: a schema, else any object, else the prompt alone; and keeps in mind what
// was refused.
func TestFormatFalls(t *testing.T) {
	refuse := fails(400, `{"error":{"message":"'response_format' of type json_schema is not supported"}}`)
	h := newHarness(t, func(o *Options) { o.CacheSize = -1 }, refuse, refuse, says(goodVerdict))
	for range 2 {
		if _, err := h.judge(t); err != nil {
			t.Fatal(err)
		}
	}
	var kinds []string
	for _, r := range h.script.requests() {
		kind := "none"
		if r.ResponseFormat != nil {
			kind = r.ResponseFormat.Type
		}
		kinds = append(kinds, kind)
	}
	if got := strings.Join(kinds, " "); got != "json_schema json_object none none" {
		t.Errorf("asked for %s", got)
	}
}

func TestRequestCarriesSettings(t *testing.T) {
	seed := 7
	h := newHarness(t, change(RoleJudge, func(m *Model) { m.Seed, m.MaxTokens, m.Temperature = &seed, 123, .5 }), says(goodVerdict))
	if _, err := h.judge(t); err != nil {
		t.Fatal(err)
	}
	r := h.script.requests()[0]
	if r.Model != "m-judge" || r.MaxTokens != 123 || r.Temperature != .5 || r.Seed == nil || *r.Seed != 7 || r.key != "Bearer sk-secret" ||
		r.ResponseFormat.JSONSchema.Name != "verdict" {
		t.Errorf("request %+v", r)
	}
}

// TestKeyStaysWithItsEndpoint: a role with an endpoint of its own does not get the common key.
func TestKeyStaysWithItsEndpoint(t *testing.T) {
	other := newScript(t, says(goodVerdict))
	h := newHarness(t, change(RoleJudge, func(m *Model) { m.BaseURL = other.URL + "/v1" }), says(goodVerdict))
	if _, err := h.judge(t); err != nil {
		t.Fatal(err)
	}
	if got := other.requests(); len(got) != 1 || got[0].key != "" {
		t.Errorf("sent %+v", got)
	}
}

func TestStream(t *testing.T) {
	h := newHarness(t, change(RoleJudge, func(m *Model) { m.Stream = true }), streams(goodVerdict[:20], goodVerdict[20:60], goodVerdict[60:]))
	if v, err := h.judge(t); err != nil || v.Score == 0 {
		t.Fatalf("got %+v, %v", v, err)
	}
	if u := h.Usage()[UsageKey{ann, RoleJudge, "m-judge"}]; u.PromptTokens != 7 || u.AnswerTokens != 3 {
		t.Errorf("usage %+v", u)
	}
}

func TestStreamThatStops(t *testing.T) {
	stall := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\n")) //nolint:errcheck // a test server
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	h := newHarness(t, change(RoleJudge, func(m *Model) { m.Stream, m.Timeout, m.Retries = true, time.Second, -1 }), stall)
	if _, err := h.judge(t); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// TestContextOverflow asks once more with a third of the text.
func TestContextOverflow(t *testing.T) {
	full := fails(400, `{"error":{"message":"This model's maximum context length is 4096 tokens","code":"context_length_exceeded"}}`)
	long := JudgeInput{Task: strings.Repeat("very long task ", 2000), Scenario: "s", Content: strings.Repeat("content ", 2000)}
	h := newHarness(t, nil, full, says(goodVerdict))
	if _, err := h.Judge(context.Background(), ann, long); err != nil {
		t.Fatal(err)
	}
	got := h.script.requests()
	if a, b := len(got[0].Messages[1].Content), len(got[1].Messages[1].Content); 2*b > a || a > 24_000 {
		t.Errorf("asked with %d, then %d bytes", a, b)
	}
	h = newHarness(t, nil, full)
	if _, err := h.Judge(context.Background(), ann, long); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v", err)
	}
}

func TestDisabled(t *testing.T) {
	var none *Client
	for _, c := range []*Client{none, newHarness(t, func(o *Options) { o.Models = nil }, says("")).Client} {
		if c.Enabled(RoleJudge) {
			t.Error("enabled without a model")
		}
		if _, err := c.Judge(context.Background(), ann, JudgeInput{}); !errors.Is(err, ErrDisabled) {
			t.Errorf("got %v", err)
		}
	}
}
