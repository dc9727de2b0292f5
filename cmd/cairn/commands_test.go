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
		{"outcome", "", []string{"outcome", "rcp_x", "--failure", "--evidence", "verified", "--used", "a,b"},
			"/v1/recalls/rcp_x/outcome", `{"success":false,"evidence":"verified","used":["a","b"]}`},
		{"outcome that used nothing", "", []string{"outcome", "rcp_x", "--reward", "0", "--unused"},
			"/v1/recalls/rcp_x/outcome", `{"reward":0,"used":[]}`},
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
		{"outcome", api.OutcomeAnswer{Trust: []api.TrustChange{{Experience: "e1", Before: .255, After: .4}}},
			[]string{"outcome", "r", "--success"}, []string{"0.255 -> 0.400"}},
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
