package main

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"cairn/node/api"
)

// echo answers every request with v and keeps the request's body.
type echo struct {
	v    any
	path string
	body map[string]any
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.path = r.URL.RequestURI()
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &e.body)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(e.v)
}

func TestRequestsOfCommands(t *testing.T) {
	for _, tc := range []struct {
		name, stdin string
		args        []string
		path, body  string
	}{
		{"agent add", "", []string{"agent", "add", "a1", "--principal", "p", "--tool", "x,y", "--environment", "os=linux"},
			"/v1/agents", `{"id":"a1","principal":"p","tools":["x","y"],"environment":{"os":"linux"}}`},
		{"experience by flags", "", []string{"record", "experience", "--scenario", "s", "--content", "c", "--keyword", "k", "--share", "never"},
			"/v1/experiences", `{"scenario":"s","content":"c","keywords":["k"],"share":"never"}`},
		{"experience from stdin with a flag", `{"scenario":"s","content":"c"}`, []string{"record", "experience", "-", "--content", "d"},
			"/v1/experiences", `{"scenario":"s","content":"d"}`},
		{"trajectory", `{"task":"t","attempts":[{"steps":[{"tool":"x"}],"reward":1}]}`, []string{"record", "trajectory", "--complete", "--wait", "5s"},
			"/v1/trajectories?wait=5s", `{"task":"t","complete":true,"attempts":[{"steps":[{"tool":"x"}],"reward":1}]}`},
		{"recall", "", []string{"recall", "do it", "-k", "0", "--pool", "own", "--task-type", "x", "--min-trust", ".5"},
			"/v1/recall", `{"task":"do it","task_type":"x","k":0,"pools":["own"],"filters":{"min_trust":0.5}}`},
		{"recall by messages", `[{"role":"user","content":"do it"},{"role":"assistant","content":null}]`, []string{"recall", "--messages", "-", "-k", "3"},
			"/v1/recall", `{"messages":[{"role":"user","content":"do it"},{"role":"assistant","content":""}],"k":3}`},
		{"outcome", "", []string{"outcome", "rcp_x", "--failure", "--evidence", "verified", "--used", "a,b"},
			"/v1/recalls/rcp_x/outcome", `{"success":false,"evidence":"verified","used":["a","b"]}`},
		{"reflect", `{"task":"t","attempts":[{"steps":[],"success":false}]}`, []string{"reflect", "rcp_x"},
			"/v1/reflections", `{"receipt":"rcp_x","trajectory":{"task":"t","attempts":[{"steps":[],"success":false}]}}`},
		{"retried without attempts", "", []string{"retried", "r1", "--failure"}, "/v1/reflections/r1/outcome", `{"success":false}`},
		{"outcome that used nothing", "", []string{"outcome", "rcp_x", "--reward", "0", "--unused"},
			"/v1/recalls/rcp_x/outcome", `{"reward":0,"used":[]}`},
		{"hold shown", "", []string{"hold", "e1", "--reason", "r"}, "/v1/experiences/e1/hold", `{"reason":"r","dry_run":true}`},
		{"hold", "", []string{"hold", "e1", "--yes"}, "/v1/experiences/e1/hold", `{}`},
		{"release", "", []string{"release", "e1", "--yes", "--reason", "r"}, "/v1/experiences/e1/release", `{"reason":"r"}`},
		{"revoke shown", "", []string{"revoke", "e1"}, "/v1/experiences/e1/revoke", `{"dry_run":true}`},
		{"approve", "", []string{"promotions", "approve", "p1", "--reason", "r"}, "/v1/promotions/p1/approve", `{"reason":"r"}`},
		{"reject", "", []string{"promotions", "reject", "p1"}, "/v1/promotions/p1/reject", `{}`},
		{"list of promotions", "", []string{"promotions", "list", "--status", "pending", "--limit", "3"}, "/v1/promotions?limit=3&status=pending", `null`},
		{"sample", "", []string{"audit", "sample"}, "/v1/audit/samples?n=20", `null`},
		{"verdict", "", []string{"audit", "judge", "e1", "bad"}, "/v1/audit/samples/e1", `{"verdict":"bad"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &echo{v: map[string]any{"id": "it"}}
			got := cairn(t, e, tc.stdin, append(tc.args, "--json")...)
			if got.code != exitOK {
				t.Fatalf("code %d: %s", got.code, got.stderr)
			}
			if e.path != tc.path {
				t.Errorf("path = %s, want %s", e.path, tc.path)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(tc.body), &want); err != nil {
				t.Fatal(err)
			}
			if f, ok := e.body["filters"].(map[string]any); ok && len(f) == 0 {
				delete(e.body, "filters")
			}
			if g, w := compact(e.body), compact(want); g != w {
				t.Errorf("body = %s, want %s", g, w)
			}
		})
	}
}

func compact(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestHumanOutput(t *testing.T) {
	trust := &api.Trust{Value: .51, Mean: .6, Low: .51, High: .69}
	for _, tc := range []struct {
		name string
		v    any
		args []string
		want []string
	}{
		{"recall", api.RecallAnswer{Receipt: "rcp_1", Experiences: []api.Recalled{{
			Experience: api.Experience{ID: "e1", Pool: "meta", Content: "Plan that worked: a()", Trust: trust}, Rank: 1, Score: .8, Exploratory: true}}},
			[]string{"recall", "x"}, []string{"1. e1", "trust 0.51 [0.51, 0.69]", "(exploratory)", "Plan that worked: a()", "receipt rcp_1"}},
		{"empty recall", api.RecallAnswer{WhyEmpty: "floor"}, []string{"recall", "x"}, []string{"nothing fits (floor)"}},
		{"guidance", api.RecallAnswer{Guidance: "the text"}, []string{"recall", "x", "--guidance"}, []string{"the text\n"}},
		{"trust", api.TrustDetail{Experience: "e1", Trust: *trust, Missing: []string{"2 more jurors"}, Jurors: []api.JurorTerm{{Juror: "bo", Heard: true}}},
			[]string{"trust", "e1"}, []string{"0.510", "2 more jurors", "bo", "yes"}},
		{"reflect", api.RetryAdvice{ID: "r1", Status: "open", Attempt: 1, Hypothesis: "log in first", BasedOn: []string{"e1"}, RetriesLeft: 2},
			[]string{"retried", "r1", "--failure"}, []string{"1, 2 left after it", "log in first", "e1"}},
		{"retry without a hypothesis", api.RetryAdvice{ID: "r1", Status: "open", Attempt: 1}, []string{"retried", "r1", "--failure"}, []string{"nothing is known"}},
		{"reflection that ended", api.RetryAdvice{ID: "r1", Status: "solved", Attempt: 2}, []string{"retried", "r1", "--success"}, []string{"solved"}},
		{"models", api.Models{
			Roles:     []api.ModelRole{{Role: "distil", Enabled: true, Model: "m-7", Endpoint: "http://llm:8080", RestsForSeconds: 90}, {Role: "judge"}},
			Namespace: api.ModelBudget{PerMinute: 200, PerDay: -1}, Waiting: 3,
			Usage: api.LLMStats{TokensToday: 17, Lines: []api.LLMLine{{Role: "distil", Model: "m-7", Calls: 4, PromptTokens: 9, AnswerTokens: 8}}},
		}, []string{"models"}, []string{"m-7", "asked again in 1m30s", "by rule", "no bound", "spent today", "waiting jobs"}},
		{"outcome with a hypothesis", api.OutcomeAnswer{Reflection: &api.Reflection{ID: "r1", Hypothesis: "log in first"}},
			[]string{"outcome", "r", "--failure"}, []string{"r1", "log in first"}},
		{"outcome", api.OutcomeAnswer{Trust: []api.TrustChange{{Experience: "e1", Before: .255, After: .4}}},
			[]string{"outcome", "r", "--success"}, []string{"0.255 -> 0.400"}},
		{"hold shown", api.Curated{Experience: "e1", Status: "promoted", Closes: []string{"e2"}, Notifies: []string{"bo-1", "cy-1"}, DryRun: true},
			[]string{"hold", "e1"}, []string{"would be held", "e1, with 1 derived", "e2", "bo-1, cy-1"}},
		{"revocation", api.Curated{Experience: "e1", Status: "revoked"}, []string{"revoke", "e1", "--yes"}, []string{"revoked", "was given to", "none"}},
		{"promotions", api.List[api.Promotion]{Items: []api.Promotion{{ID: "p1", Experience: "e1", Action: "promote", Status: "pending", Reasons: []string{"trust .51"}}}, NextCursor: new("c2")},
			[]string{"promotions", "list"}, []string{"p1", "pending", "trust .51", "--cursor c2"}},
		{"approval", api.Promotion{ID: "p1", Experience: "e1", Status: "approved"}, []string{"promotions", "approve", "p1"}, []string{"p1 approved", "e1"}},
		{"samples", api.Samples{Judged: 5, Bad: .2, Low: .04, High: .62, Items: []api.Sample{
			{ID: "e1", Verdict: "bad", By: "aud", Experience: api.Experience{Content: "Plan that worked: a()", Trust: trust}}, {ID: "e2"}}},
			[]string{"audit", "sample"}, []string{"bad (aud)", "not judged", "Plan that worked: a()", "0.20 [0.04, 0.62]"}},
		{"no samples", api.Samples{}, []string{"audit", "sample", "-n", "0"}, []string{"nothing to draw"}},
		{"alerts", api.List[api.Alert]{Items: []api.Alert{{Kind: "contrary_reports", Severity: "warning", Detail: "bo lies apart", Value: .4, Limit: .25, Experiences: []string{"e1"}, RaisedAt: "2026-03-01T12:00:00.000Z"}}},
			[]string{"alerts"}, []string{"contrary reports", "bo lies apart (0.40, limit 0.25)", "since 2026-03-01T12", "see e1"}},
		{"no alerts", api.List[api.Alert]{}, []string{"alerts"}, []string{"no alerts"}},
		{"agents", api.List[api.Agent]{Items: []api.Agent{{ID: "a1", Roles: []string{"agent"}}}, NextCursor: new("c2")},
			[]string{"agent", "list"}, []string{"a1", "--cursor c2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := cairn(t, &echo{v: tc.v}, "", tc.args...)
			if got.code != exitOK {
				t.Fatalf("code %d: %s", got.code, got.stderr)
			}
			missing(t, "stdout", got.stdout, tc.want...)
		})
	}
}

func TestUnknownFieldsOfAFileAreNamed(t *testing.T) {
	got := cairn(t, answers{}, `{"scenario":"s","content":"c","colour":"red"}`, "record", "experience", "-")
	if got.code != exitUsage {
		t.Errorf("code = %d, want %d", got.code, exitUsage)
	}
	missing(t, "stderr", got.stderr, "colour")
}
