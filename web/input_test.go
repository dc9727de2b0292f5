package web

import (
	"fmt"
	"strings"
	"testing"

	"cairn/node/api"
)

// recallWith is a recall whose body has one more field.
func recallWith(extra string) string { return `{"task":"book a flight",` + extra + `}` }

// attempts is a trajectory with these attempts.
func attempts(a string) string { return `{"task":"book a flight","attempts":[` + a + `]}` }

func TestBadBodies(t *testing.T) {
	st := newSite(t)
	steps := strings.TrimSuffix(strings.Repeat(`{"tool":"t"},`, 300), ",")
	long := strings.Repeat("é", 8001)
	cases := []struct {
		name, path, body string
		status           int
		locations        string
	}{
		{"no body", "/v1/recall", "", 400, "body"},
		{"spaces", "/v1/recall", "  \n", 400, "body"},
		{"cut off", "/v1/recall", `{"task":"x"`, 400, "body"},
		{"no JSON", "/v1/recall", `task=x`, 400, "body"},
		{"NaN", "/v1/recall", recallWith(`"filters":{"min_trust":NaN}`), 400, "body"},
		{"Infinity", "/v1/recall", recallWith(`"k":Infinity`), 400, "body"},
		{"more after the value", "/v1/recall", `{"task":"x"} {}`, 400, "body"},
		{"two bodies", "/v1/recall", `{"task":"x"}{"task":"y"}`, 400, "body"},
		{"byte order mark", "/v1/recall", "\ufeff{}", 400, "body"},
		{"control character", "/v1/recall", "{\"task\":\"a\nb\"}", 400, "body"},
		{"array", "/v1/recall", `[]`, 422, "body"},
		{"string", "/v1/recall", `"x"`, 422, "body"},
		{"null", "/v1/recall", `null`, 422, "body"},
		{"unknown field", "/v1/recall", recallWith(`"frobnicate":1`), 422, "body.frobnicate"},
		{"unknown nested field", "/v1/recall", recallWith(`"filters":{"x":1}`), 422, "body.filters.x"},
		{"other case", "/v1/recall", recallWith(`"K":1`), 422, "body.K"},
		{"schema link", "/v1/recall", recallWith(`"$schema":"http://x"`), 422, "body.$schema"},
		{"missing field", "/v1/recall", `{}`, 422, "body.task"},
		{"missing nested field", "/v1/trajectories", attempts(`{"steps":[{}]}`), 422, "body.attempts[0].steps[0].tool"},
		{"wrong type", "/v1/recall", `{"task":7}`, 422, "body.task"},
		{"wrong nested type", "/v1/recall", recallWith(`"filters":{"tools":"x"}`), 422, "body.filters.tools"},
		{"null array", "/v1/trajectories", `{"task":"x","attempts":null}`, 422, "body.attempts"},
		{"same key twice", "/v1/recall", recallWith(`"k":1,"k":2`), 422, "body.k"},
		{"same key twice, escaped", "/v1/recall", recallWith(`"k":1,"\u006b":2`), 422, "body.k"},
		{"invalid UTF-8", "/v1/recall", "{\"task\":\"a\xffb\"}", 422, "body.task"},
		{"overlong UTF-8", "/v1/recall", "{\"task\":\"a\xc0\x80b\"}", 422, "body.task"},
		{"half surrogate", "/v1/recall", `{"task":"a\ud800b"}`, 422, "body.task"},
		{"NUL escape", "/v1/recall", `{"task":"a\u0000b"}`, 422, "body.task"},
		{"NUL byte", "/v1/recall", "{\"task\":\"a\x00b\"}", 422, "body.task"},
		{"NUL in an argument", "/v1/trajectories", attempts(`{"steps":[{"tool":"t","args":{"q":["a",{"b":"\u0000"}]}}]}`), 422, "body.attempts[0].steps[0].args.q[1].b"},
		{"NUL in a name", "/v1/trajectories", attempts(`{"steps":[{"tool":"t","args":{"q\u0000":1}}]}`), 422, "body.attempts[0].steps[0].args"},
		{"number out of range", "/v1/recall", recallWith(`"k":1e999`), 422, "body.k"},
		{"too deep", "/v1/trajectories", attempts(`{"steps":[{"tool":"t","args":{"q":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}}]}`), 422, "*"},
		{"empty task", "/v1/recall", `{"task":""}`, 422, "body.task"},
		{"no messages", "/v1/recall", `{"messages":[]}`, 422, "body.messages"},
		{"unknown role", "/v1/recall", `{"messages":[{"role":"boss","content":"x"}]}`, 422, "body.messages[0].role"},
		{"message without content", "/v1/recall", `{"messages":[{"role":"user"}]}`, 422, "body.messages[0].content"},
		{"blank task", "/v1/recall", `{"task":" \t\u00a0\u200b"}`, 422, "body.task"},
		{"blank task of a trajectory", "/v1/trajectories", `{"task":"\n","attempts":[{"steps":[]}]}`, 422, "body.task"},
		{"blank scenario", "/v1/experiences", `{"scenario":"  ","content":"c"}`, 422, "body.scenario"},
		{"blank content", "/v1/experiences", `{"scenario":"s","content":"\u3000"}`, 422, "body.content"},
		{"long task", "/v1/recall", `{"task":"` + long + `"}`, 422, "body.task"},
		{"k = 0", "/v1/recall", recallWith(`"k":0`), 422, "body.k"},
		{"k = 51", "/v1/recall", recallWith(`"k":51`), 422, "body.k"},
		{"k = 5.5", "/v1/recall", recallWith(`"k":5.5`), 422, "body.k"},
		{"k = 5.0", "/v1/recall", recallWith(`"k":5.0`), 422, "body.k"},
		{"unknown mode", "/v1/recall", recallWith(`"mode":"wild"`), 422, "body.mode"},
		{"unknown pool", "/v1/recall", recallWith(`"pools":["own","*"]`), 422, "body.pools[1]"},
		{"300 steps", "/v1/trajectories", attempts(`{"steps":[]},{"steps":[` + steps + `]}`), 422, "body.attempts[1].steps"},
		{"no attempts", "/v1/trajectories", attempts(``), 422, "body.attempts"},
		{"17 attempts", "/v1/trajectories", attempts(strings.TrimSuffix(strings.Repeat(`{"steps":[]},`, 17), ",")), 422, "body.attempts"},
		{"13 keywords", "/v1/experiences", `{"scenario":"s","content":"c","keywords":["1","2","3","4","5","6","7","8","9","10","11","12","13"]}`, 422, "body.keywords"},
		{"valid_until is no time", "/v1/experiences", `{"scenario":"s","content":"c","valid_until":"soon"}`, 422, "body.valid_until"},
		{"agent id with a wildcard", "/v1/agents", `{"id":"*"}`, 422, "body.id"},
		{"agent id me", "/v1/agents", `{"id":"me"}`, 422, "body.id"},
		{"outcome without result", "/v1/recalls/rcp_abc/outcome", `{"note":"x"}`, 422, "body.success"},
		{"reward over 1", "/v1/recalls/rcp_abc/outcome", `{"reward":1.01}`, 422, "body.reward"},
		{"reward in too many parts", "/v1/trajectories", `{"task":"t","attempts":[{"steps":[],"reward_parts":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1}}]}`, 422, "body.attempts[0].reward_parts"},
		{"reward part that is no number", "/v1/trajectories", `{"task":"t","attempts":[{"steps":[],"reward_parts":{"a":"x"}}]}`, 422, "body.attempts[0].reward_parts.a"},
		{"reflection without a receipt", "/v1/reflections", `{"trajectory":{"task":"t","attempts":[{"steps":[]}]}}`, 422, "body.receipt"},
		{"reflection without attempts", "/v1/reflections", `{"receipt":"rcp_abc","trajectory":{"task":"t","attempts":[]}}`, 422, "body.trajectory.attempts"},
		{"blank task of a reflection", "/v1/reflections", `{"receipt":"rcp_abc","trajectory":{"task":" ","attempts":[{"steps":[]}]}}`, 422, "body.trajectory.task"},
		{"retry without a result", "/v1/reflections/x1/outcome", `{}`, 422, "body.success"},
		{"blank task of a retry", "/v1/reflections/x1/outcome", `{"success":true,"trajectory":{"task":" ","attempts":[{"steps":[]}]}}`, 422, "body.trajectory.task"},
		{"blank task of an outcome", "/v1/recalls/rcp_abc/outcome", `{"success":true,"trajectory":{"task":" ","attempts":[{"steps":[]}]}}`, 422, "body.trajectory.task"},
		{"long reason", "/v1/experiences/e1/hold", `{"reason":"` + strings.Repeat("é", 2001) + `"}`, 422, "body.reason"},
		{"dry_run is no truth value", "/v1/experiences/e1/revoke", `{"dry_run":"yes"}`, 422, "body.dry_run"},
		{"dry_run of an approval", "/v1/promotions/p1/approve", `{"dry_run":true}`, 422, "body.dry_run"},
		{"no verdict", "/v1/audit/samples/e1", `{}`, 422, "body.verdict"},
		{"unknown verdict", "/v1/audit/samples/e1", `{"verdict":"fine"}`, 422, "body.verdict"},
		{"a body where none is taken", "/v1/jobs/j1/retry", `{"force":true}`, 422, "body"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := st.do("POST", tc.path, tc.body)
			got.want(t, tc.name, tc.status, "invalid", tc.locations)
		})
	}
	if n := st.fake.count(); n != 0 {
		t.Errorf("%d calls reached the service: %+v", n, st.fake.last())
	}
}

func TestSeveralFaultsAreAllNamed(t *testing.T) {
	st := newSite(t)
	got := st.do("POST", "/v1/recall", `{"k":99,"mode":"x","zz":1}`)
	got.want(t, "several", 422, "invalid", "body.k body.mode body.task body.zz")
	if !strings.Contains(got.prob.Detail, "50") || !strings.Contains(got.prob.Detail, "3 more") {
		t.Errorf("detail = %q, want the limit and the number of others", got.prob.Detail)
	}
	if got.prob.Errors[0].Value != 99.0 {
		t.Errorf("value = %v", got.prob.Errors[0].Value)
	}
}

func TestGoodBodiesPass(t *testing.T) {
	st := newSite(t)
	cases := []struct{ name, path, body, method string }{
		{"recall", "/v1/recall", `{"task":"订机票 \ud83d\ude00","k":50,"filters":{"kind":["success"]},"pools":["own","meta"]}`, "Recall"},
		{"null for optional fields", "/v1/recall", `{"task":"x","k":null,"task_type":null}`, "Recall"},
		{"trajectory", "/v1/trajectories?wait=10s", attempts(`{"steps":[{"tool":"t","args":{"a":{"b":[1,null,true]}}}],"reward":1,"reward_scale":[0,1]}`), "RecordTrajectory"},
		{"8000 characters of two bytes", "/v1/recall", `{"task":"` + strings.Repeat("é", 8000) + `"}`, "Recall"},
		{"empty object where no body is taken", "/v1/jobs/j1/retry", `{}`, "RetryJob"},
		{"no body where none is taken", "/v1/jobs/j1/retry", ``, "RetryJob"},
		{"experience", "/v1/experiences", `{"scenario":"s","content":"c","valid_until":"2027-01-01T00:00:00Z"}`, "AddExperience"},
	}
	for _, tc := range cases {
		if got := st.do("POST", tc.path, tc.body); got.status > 299 || st.fake.last().method != tc.method {
			t.Errorf("%s = %d, reached %s\n%s", tc.name, got.status, st.fake.last().method, got.body)
		}
	}
	if got := st.do("POST", "/v1/recall", `{"task":"x"}`, "Content-Type", "Application/JSON; charset=UTF-8"); got.status != 200 {
		t.Errorf("charset: %d %s", got.status, got.body)
	}
	if got := st.do("POST", "/v1/recall", `{"task":"x"}`, "Content-Type", "-"); got.status != 200 {
		t.Errorf("no media type: %d %s", got.status, got.body)
	}
}

func TestBadQueries(t *testing.T) {
	st := newSite(t)
	st.fake.fail("Experiences", api.Invalid("cursor", "cannot be read", "zzz"))
	cases := []struct {
		path      string
		status    int
		locations string
	}{
		{"/v1/experiences?limit=-1", 422, "query.limit"},
		{"/v1/experiences?limit=0", 422, "query.limit"},
		{"/v1/experiences?limit=501", 422, "query.limit"},
		{"/v1/experiences?limit=ten", 422, "query.limit"},
		{"/v1/experiences?limit=1&limit=2", 422, "query.limit"},
		{"/v1/experiences?limit=", 422, "query.limit"},
		{"/v1/experiences?cursor=%00", 422, "query.cursor"},
		{"/v1/experiences?cursor=***", 422, "query.cursor"},
		{"/v1/experiences?cursor=zzz", 422, "query.cursor"},
		{"/v1/experiences?agent=*", 422, "query.agent"},
		{"/v1/experiences?agent=", 422, "query.agent"},
		{"/v1/experiences?pool=agent:*", 422, "query.pool"},
		{"/v1/experiences?status=any", 422, "query.status"},
		{"/v1/experiences?min_trust=NaN", 422, "query.min_trust"},
		{"/v1/experiences?min_trust=2", 422, "query.min_trust"},
		{"/v1/experiences?since=yesterday", 422, "query.since"},
		{"/v1/experiences?nope=1", 422, "query.nope"},
		{"/v1/experiences?q=%ff", 422, "query.q"},
		{"/v1/experiences?q=%zz", 400, "query"},
		{"/v1/experiences?a;b", 400, "query"},
		{"/v1/experiences?consistency=maybe", 422, "query.consistency"},
		{"/v1/agents/me?x=1", 422, "query.x"},
		{"/v1/receipts?agent=%2A", 422, "query.agent"},
		{"/v1/audit/samples?n=-1", 422, "query.n"},
		{"/v1/audit/samples?n=501", 422, "query.n"},
		{"/v1/promotions/p1?signed=maybe", 422, "query.signed"},
		{"/v1/feed?nope=1", 422, "query.nope"},
		{"/v1/feed?cursor=1:2", 422, "query.cursor"},
		{"/v1/feed?agents=*", 422, "query.agents[0]"},
		{"/v1/feed?min_trust=NaN", 422, "query.min_trust"},
	}
	for _, tc := range cases {
		got := st.do("GET", tc.path, "", "Accept", "text/event-stream")
		got.want(t, tc.path, tc.status, "invalid", tc.locations)
	}
	for _, wait := range []string{"61s", "-1s", "10", "soon"} {
		got := st.do("POST", "/v1/trajectories?wait="+wait, attempts(`{"steps":[]}`))
		got.want(t, "wait="+wait, 422, "invalid", "query.wait")
	}
}

func TestBadHeaders(t *testing.T) {
	st := newSite(t)
	exp := `{"scenario":"s","content":"c"}`
	cases := []struct {
		name, method, path, body, header, value string
		status                                  int
		code, locations                         string
	}{
		{"form", "POST", "/v1/experiences", exp, "Content-Type", "application/x-www-form-urlencoded", 415, "invalid", "header.Content-Type"},
		{"charset", "POST", "/v1/experiences", exp, "Content-Type", "application/json; charset=latin1", 415, "invalid", "header.Content-Type"},
		{"gzip", "POST", "/v1/experiences", exp, "Content-Encoding", "gzip", 415, "invalid", "header.Content-Type"},
		{"empty idempotency key", "POST", "/v1/experiences", exp, "Idempotency-Key", "", 422, "invalid", "header.Idempotency-Key"},
		{"idempotency key with a space", "POST", "/v1/experiences", exp, "Idempotency-Key", "a b", 422, "invalid", "header.Idempotency-Key"},
		{"long idempotency key", "POST", "/v1/experiences", exp, "Idempotency-Key", strings.Repeat("a", 129), 422, "invalid", "header.Idempotency-Key"},
		{"session token", "GET", "/v1/stats", "", "Cairn-Index", "-1", 422, "invalid", "header.Cairn-Index"},
		{"session token of a recall", "POST", "/v1/recall", `{"task":"x"}`, "Cairn-Index", "x", 422, "invalid", "header.Cairn-Index"},
		{"version", "PATCH", "/v1/experiences/e1", `{}`, "If-Match", `"three"`, 412, "precondition", "header.If-Match"},
		{"any version", "DELETE", "/v1/experiences/e1", "", "If-Match", `*`, 412, "precondition", "header.If-Match"},
		{"weak version", "DELETE", "/v1/experiences/e1", "", "If-Match", `W/"3"`, 412, "precondition", "header.If-Match"},
		{"no key", "GET", "/v1/stats", "", "Authorization", "-", 401, "unauthenticated", ""},
		{"other scheme", "GET", "/v1/stats", "", "Authorization", "Basic " + agentKey, 401, "unauthenticated", ""},
		{"unknown key", "GET", "/v1/stats", "", "Authorization", "Bearer ck_x", 401, "unauthenticated", ""},
		{"empty key", "GET", "/v1/stats", "", "Authorization", "Bearer ", 401, "unauthenticated", ""},
		{"foreign host", "GET", "/v1/stats", "", "Host", "evil.example", 403, "denied", "header.Host"},
		{"foreign host with our port", "GET", "/", "", "Host", "evil.example:8750", 403, "denied", "header.Host"},
		{"host that looks like loopback", "GET", "/healthz", "", "Host", "127.0.0.1.evil.example", 403, "denied", "header.Host"},
		{"other address", "GET", "/healthz", "", "Host", "192.0.2.1", 403, "denied", "header.Host"},
		{"foreign origin", "GET", "/v1/stats", "", "Origin", "https://evil.example", 403, "denied", "header.Origin"},
		{"other port", "POST", "/v1/recall", `{"task":"x"}`, "Origin", "http://127.0.0.1:1", 403, "denied", "header.Origin"},
		{"null origin", "POST", "/signin", `{"key":"x"}`, "Origin", "null", 403, "denied", "header.Origin"},
	}
	for _, tc := range cases {
		got := st.do(tc.method, tc.path, tc.body, tc.header, tc.value)
		got.want(t, tc.name, tc.status, tc.code, tc.locations)
		if tc.status == 401 && !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: WWW-Authenticate = %q", tc.name, got.header.Get("WWW-Authenticate"))
		}
	}
	if n := st.fake.count(); n != 0 {
		t.Errorf("%d calls reached the service: %+v", n, st.fake.last())
	}
}

func TestBadPaths(t *testing.T) {
	st := newSite(t)
	for _, path := range []string{
		"/v2", "/v1", "/v1/", "/v1/nope", "/v1/agents/", "/v1//agents", "//v1/agents", "/v1/./agents", "/v1/agents/../stats",
		"/v1/%2e%2e/stats", "/v1/experiences/a%2f..%2fb", "/v1/experiences/a%00b", "/v1/experiences/%ff", "/ui/", "/ui/index.html", "/app.js/", "/index.html", "/screenshot.png", "/ui/screenshot.png",
		"/.git/config", "/v1/experiences/..", "/..", "/.", "/v1/agents/x/y",
	} {
		request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, agentKey)
		got := st.raw(request)
		got.want(t, path, 404, "not_found", "")
		if got.header.Get("Location") != "" {
			t.Errorf("%s redirects to %s", path, got.header.Get("Location"))
		}
	}
	for _, path := range []string{"/v1/experiences/*", "/v1/agents/a%20b", "/v1/experiences/a%2fb", "/v1/trajectories/" + strings.Repeat("x", 129)} {
		if got := st.do("GET", path, ""); got.status != 422 {
			t.Errorf("%s = %d", path, got.status)
		}
	}
	for _, receipt := range []string{"nope", "rcp_", "rcp_a.b", "rcp_a%20b", "rcp_" + strings.Repeat("a", 3000), "*"} {
		got := st.do("POST", "/v1/recalls/"+receipt+"/outcome", `{"success":true}`)
		got.want(t, receipt, 404, "not_found", "")
	}
	if n := st.fake.count(); n != 0 {
		t.Errorf("%d calls reached the service: %+v", n, st.fake.last())
	}
}

func TestOtherMethods(t *testing.T) {
	st := newSite(t)
	cases := map[string]string{
		"PUT /v1/agents":        "GET, HEAD, POST",
		"DELETE /v1/recall":     "POST",
		"POST /v1/stats":        "GET, HEAD",
		"OPTIONS /v1/stats":     "GET, HEAD",
		"BREW /v1/agents/x":     "DELETE, GET, HEAD, PATCH",
		"POST /healthz":         "GET, HEAD",
		"POST /":                "GET, HEAD",
		"DELETE /v1/promotions": "GET, HEAD",
	}
	for request, allow := range cases {
		method, path, _ := strings.Cut(request, " ")
		got := st.do(method, path, "")
		got.want(t, request, 405, "invalid", "")
		if got.header.Get("Allow") != allow {
			t.Errorf("%s: Allow = %q, want %q", request, got.header.Get("Allow"), allow)
		}
	}
}

func TestLargeBodies(t *testing.T) {
	st := newSite(t)
	head := "POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + agentKey + "\r\n"
	chunk := func(size int) string {
		var b strings.Builder
		block := strings.Repeat("a", 64<<10)
		for sent := 0; sent < size; sent += len(block) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(block), block)
		}
		return b.String() + "0\r\n\r\n"
	}
	cases := []struct {
		name, request string
		closes        bool
	}{
		{"3 MiB", head + fmt.Sprintf("Content-Length: %d\r\n\r\n", 3<<20) + strings.Repeat("a", 3<<20), false},
		{"3 MiB in chunks", head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(3<<20), false},
		{"one byte too many", head + fmt.Sprintf("Content-Length: %d\r\n\r\n", maxBody+1) + strings.Repeat(" ", maxBody+1), false},
		{"9 MiB in chunks", head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(9<<20), true},
		{"3 MiB announced", head + fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", 3<<20), true},
	}
	for _, tc := range cases {
		got := st.raw(tc.request)
		got.want(t, tc.name, 413, "too_large", "body")
		if got.closes != tc.closes {
			t.Errorf("%s: connection closes = %t, want %t", tc.name, got.closes, tc.closes)
		}
	}
	exact := `{"task":"x"}` + strings.Repeat(" ", maxBody-len(`{"task":"x"}`))
	if got := st.do("POST", "/v1/recall", exact); got.status != 200 {
		t.Errorf("2 MiB = %d %.200s", got.status, got.body)
	}
	got := st.raw(head+"Content-Length: 20\r\nConnection: close\r\n\r\n"+`{"task"`, true)
	got.want(t, "cut off by a wrong length", 400, "invalid", "body")
}
