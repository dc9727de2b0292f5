package web

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"cairn/node/api"
)

func TestWriteAnswers(t *testing.T) {
	st := newSite(t)
	key := "ck_new"
	st.fake.answers["CreateAgent"] = api.Done[api.CreatedAgent]{Value: api.CreatedAgent{Agent: api.Agent{ID: "p"}, Key: &key}, Index: 9, Status: 201}
	got := st.do("POST", "/v1/agents", `{"id":"p"}`, "Authorization", "Bearer "+adminKey, "Idempotency-Key", "k-1")
	if got.status != 201 || got.header.Get("Cairn-Index") != "9" || got.header.Get("Idempotent-Replay") != "" || !strings.Contains(got.body, `"key":"ck_new"`) {
		t.Errorf("create = %d %v %s", got.status, got.header, got.body)
	}
	call := st.fake.last()
	if c := call.args[0].(api.Caller); c.Agent != "admin" {
		t.Errorf("caller = %+v", c)
	}
	if w := call.args[2].(api.Write); w.IdempotencyKey != "k-1" || w.BodyHash == [32]byte{} {
		t.Errorf("write = %+v", w)
	}

	st.fake.answers["AddExperience"] = api.Done[api.Experience]{Value: api.Experience{ID: "e", Version: 3, MergedInto: "d"}, Index: 10, Status: 200, Replayed: true}
	got = st.do("POST", "/v1/experiences", `{"scenario":"s","content":"c"}`)
	if got.status != 200 || got.header.Get("Idempotent-Replay") != "true" || got.header.Get("ETag") != `"3"` {
		t.Errorf("duplicate = %d %v", got.status, got.header)
	}
	if got = st.do("POST", "/v1/trajectories", attempts(`{"steps":[]}`)); got.status != 202 {
		t.Errorf("trajectory = %d", got.status)
	}
	if got = st.do("DELETE", "/v1/agents/a", ""); got.status != 204 || got.body != "" || got.header.Get("Cairn-Index") != "0" {
		t.Errorf("removal = %d %q %v", got.status, got.body, got.header)
	}
}

func TestWaitReachesTheService(t *testing.T) {
	st := newSite(t)
	st.do("POST", "/v1/trajectories?wait=1m0s", attempts(`{"steps":[]}`))
	if d := st.fake.last().args[2].(time.Duration); d != time.Minute {
		t.Errorf("wait = %v", d)
	}
}

func TestBodyHashTellsRequestsApart(t *testing.T) {
	st := newSite(t)
	hash := func(method, path, body string) [32]byte {
		st.do(method, path, body)
		args := st.fake.last().args
		return args[len(args)-1].(api.Write).BodyHash
	}
	base := hash("POST", "/v1/trajectories", attempts(`{"steps":[]}`))
	if again := hash("POST", "/v1/trajectories?wait=5s", attempts(`{"steps":[]}`)); again != base {
		t.Error("wait changes the hash")
	}
	others := map[string][32]byte{
		"body":   hash("POST", "/v1/trajectories", attempts(` {"steps":[]}`)),
		"path":   hash("PATCH", "/v1/agents/a", `{}`),
		"path 2": hash("PATCH", "/v1/agents/b", `{}`),
		"method": hash("DELETE", "/v1/agents/a", ``),
	}
	seen := map[[32]byte]string{base: "base"}
	for name, h := range others {
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
}

func TestReadAnswers(t *testing.T) {
	st := newSite(t)
	st.fake.answers["Experience"] = api.Experience{ID: "e", Version: 4}
	got := st.do("GET", "/v1/experiences/e?consistency=session", "", "Cairn-Index", "99")
	if got.status != 200 || got.header.Get("ETag") != `"4"` || got.header.Get("Cairn-Index") != "812" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("experience = %d %v", got.status, got.header)
	}
	if r := st.fake.reads[0]; r != (api.Read{Consistency: "session", Index: 99}) {
		t.Errorf("read = %+v", r)
	}
	if got = st.do("GET", "/v1/experiences?pool=own&agent=a&limit=7&min_trust=.5&q=a+b", ""); got.body != `{"items":[],"next_cursor":null}` {
		t.Errorf("empty list = %s", got.body)
	}
	want := api.ListFilter{Pool: "agent:planner-1", Agent: "a", MinTrust: .5, Q: "a b", Page: api.Page{Limit: 7}}
	if f := st.fake.last().args[1].(api.ListFilter); f != want {
		t.Errorf("filter = %+v", f)
	}
	st.do("GET", "/v1/meta", "")
	if f := st.fake.last().args[1].(api.ListFilter); f.Pool != "meta" || f.Limit != 50 {
		t.Errorf("meta filter = %+v", f)
	}
	st.do("GET", "/v1/agents/me", "")
	if id := st.fake.last().args[1]; id != "planner-1" {
		t.Errorf("me = %v", id)
	}
}

func TestRecallAnswer(t *testing.T) {
	st := newSite(t)
	st.fake.answers["Recall"] = api.RecallAnswer{Index: 77, WhyEmpty: "floor"}
	got := st.do("POST", "/v1/recall?consistency=linear", `{"task":"x"}`, "Cairn-Index", "5")
	if got.status != 200 || got.header.Get("Cairn-Index") != "77" || !strings.Contains(got.body, `"experiences":[]`) {
		t.Errorf("recall = %d %v %s", got.status, got.header, got.body)
	}
	if r := st.fake.reads[0]; r != (api.Read{Consistency: "linear", Index: 5}) {
		t.Errorf("read = %+v", r)
	}
}

func TestVersionReachesTheService(t *testing.T) {
	st := newSite(t)
	for header, want := range map[string]int{`"3"`: 3, `3`: 3, ` "12" `: 12, "-": 0} {
		st.do("DELETE", "/v1/experiences/e", "", "If-Match", header)
		if got := st.fake.last().args[2]; got != want {
			t.Errorf("If-Match %s = %v, want %d", header, got, want)
		}
	}
}

func TestServiceErrors(t *testing.T) {
	st := newSite(t)
	cases := []struct {
		err    error
		status int
		code   string
		retry  string
	}{
		{api.NotFound("experience"), 404, "not_found", ""},
		{api.Denied("needs admin"), 403, "denied", ""},
		{api.Conflict("version 3 stands"), 409, "conflict", ""},
		{&api.Error{Code: api.CodePrecondition, Detail: "send If-Match"}, 412, "precondition", ""},
		{&api.Error{Code: api.CodeOverloaded, Detail: "slow down", RetryAfter: 1500 * time.Millisecond}, 429, "overloaded", "2"},
		{api.Unavailable("no leader", 0, errString("secret cause")), 503, "unavailable", "1"},
		{&api.Error{Code: api.CodeStorageFull, Detail: "disk is 90 % full"}, 507, "storage_full", ""},
		{errString("secret cause"), 500, "internal", ""},
		{&api.Error{Code: api.CodeInternal, Detail: "secret cause"}, 500, "internal", ""},
		{&api.Error{Code: "made_up", Detail: "secret cause"}, 500, "internal", ""},
	}
	for _, tc := range cases {
		st.fake.fail("Experience", tc.err)
		got := st.do("GET", "/v1/experiences/e", "")
		got.want(t, tc.err.Error(), tc.status, tc.code, "")
		if got.header.Get("Retry-After") != tc.retry {
			t.Errorf("%v: Retry-After = %q, want %q", tc.err, got.header.Get("Retry-After"), tc.retry)
		}
	}
	st.fake.fail("AwaitRead", api.Unavailable("not applied yet", time.Second, nil))
	got := st.do("GET", "/v1/stats", "")
	got.want(t, "a read that cannot be served yet", 503, "unavailable", "")
	st.fake.fail("Authenticate", api.Unavailable("no state", time.Second, nil))
	got = st.do("GET", "/v1/stats", "")
	got.want(t, "a key that cannot be checked", 503, "unavailable", "")
}

type errString string

func (e errString) Error() string { return string(e) }

func TestPanicsAndUnencodableAnswers(t *testing.T) {
	st := newSite(t)
	st.fake.answers["Stats"] = func([]any) any { panic("secret cause") }
	got := st.do("GET", "/v1/stats", "")
	got.want(t, "panic", 500, "internal", "")
	st.fake.answers["Experience"] = api.Experience{RPE: math.NaN()}
	got = st.do("GET", "/v1/experiences/e", "")
	got.want(t, "NaN", 500, "internal", "")
	if logs := st.logs.String(); strings.Count(logs, "handler panicked") != 2 {
		t.Errorf("log = %s", logs)
	}
}

func TestProvenance(t *testing.T) {
	st := newSite(t)
	st.fake.answers["Provenance"] = api.Graph{
		Nodes: []api.GraphNode{
			{ID: "exp:e1", Type: "entity", Label: "experience", Attrs: map[string]string{"version": "1"}},
			{ID: "traj:t1", Type: "entity", Label: "trajectory"},
			{ID: "act:distil", Type: "activity", Label: "distil"},
			{ID: "agent:a", Type: "agent", Label: "a"},
		},
		Edges: []api.GraphEdge{
			{From: "exp:e1", To: "traj:t1", Relation: "wasDerivedFrom"},
			{From: "exp:e1", To: "act:distil", Relation: "wasGeneratedBy"},
			{From: "exp:e1", To: "exp:e1", Relation: "wasRevisionOf"},
			{From: "agent:a", To: "exp:e1", Relation: "judged"},
		},
	}
	got := st.do("GET", "/v1/experiences/e1/provenance", "")
	if got.header.Get("Content-Type") != "application/json" || !strings.Contains(got.body, `"relation":"wasDerivedFrom"`) {
		t.Errorf("graph = %v %s", got.header, got.body)
	}
	got = st.do("GET", "/v1/experiences/e1/provenance", "", "Accept", "application/prov+json")
	var doc map[string]map[string]map[string]any
	if err := json.Unmarshal([]byte(strings.Replace(got.body, `"prefix":{"cairn":"urn:cairn:","prov":"http://www.w3.org/ns/prov#"}`, `"prefix":{}`, 1)), &doc); err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	if got.header.Get("Content-Type") != provJSON || doc["entity"]["cairn:exp:e1"]["cairn:version"] != "1" || doc["agent"]["cairn:agent:a"]["prov:label"] != "a" {
		t.Errorf("PROV-JSON = %v %s", got.header, got.body)
	}
	if r := doc["wasDerivedFrom"]["_:r1"]; r["prov:generatedEntity"] != "cairn:exp:e1" || r["prov:usedEntity"] != "cairn:traj:t1" {
		t.Errorf("derivation = %v", r)
	}
	if len(doc["wasDerivedFrom"]) != 2 || doc["wasInfluencedBy"]["_:r4"]["prov:influencee"] != "cairn:agent:a" {
		t.Errorf("PROV-JSON = %s", got.body)
	}
}
