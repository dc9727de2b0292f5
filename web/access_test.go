package web

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cairn/node/api"
)

// contract is every call of the wire contract that this server offers, with a body that passes the schema.
var contract = []struct{ call, body string }{
	{"POST /v1/agents", `{"id":"a"}`},
	{"GET /v1/agents", ""},
	{"GET /v1/agents/me", ""},
	{"GET /v1/agents/{id}", ""},
	{"PATCH /v1/agents/{id}", `{"tools":["t"]}`},
	{"DELETE /v1/agents/{id}", ""},
	{"POST /v1/agents/{id}/keys", ""},
	{"DELETE /v1/agents/{id}/keys/{key_id}", ""},
	{"GET /v1/principals", ""},
	{"POST /v1/principals", `{"id":"p"}`},
	{"PATCH /v1/principals/{id}", `{"anchor":true}`},
	{"GET /v1/namespaces", ""},
	{"POST /v1/namespaces", `{"id":"n"}`},
	{"GET /v1/namespaces/{id}/settings", ""},
	{"PATCH /v1/namespaces/{id}/settings", `{"gate":"off"}`},
	{"POST /v1/trajectories", `{"task":"t","attempts":[{"steps":[]}]}`},
	{"GET /v1/trajectories/{id}", ""},
	{"POST /v1/experiences", `{"scenario":"s","content":"c"}`},
	{"GET /v1/experiences", ""},
	{"GET /v1/experiences/{id}", ""},
	{"PATCH /v1/experiences/{id}", `{"content":"c"}`},
	{"DELETE /v1/experiences/{id}", ""},
	{"GET /v1/erasures/{id}", ""},
	{"POST /v1/experiences/{id}/restore", ""},
	{"POST /v1/experiences/{id}/nominate", ""},
	{"GET /v1/merges", ""},
	{"POST /v1/merges/{id}/undo", ""},
	{"GET /v1/experiences/{id}/trust", ""},
	{"GET /v1/experiences/{id}/provenance", ""},
	{"GET /v1/experiences/{id}/history", ""},
	{"GET /v1/experiences/{id}/receipts", ""},
	{"GET /v1/receipts", ""},
	{"GET /v1/meta", ""},
	{"GET /v1/candidates", ""},
	{"GET /v1/buffer", ""},
	{"GET /v1/promotions", ""},
	{"GET /v1/promotions/{id}", ""},
	{"POST /v1/promotions/{id}/replay", ""},
	{"POST /v1/promotions/{id}/approve", `{"reason":"r"}`},
	{"POST /v1/promotions/{id}/reject", `{"reason":"r"}`},
	{"POST /v1/experiences/{id}/hold", `{"reason":"r"}`},
	{"POST /v1/experiences/{id}/release", `{"reason":"r"}`},
	{"POST /v1/experiences/{id}/revoke", `{"reason":"r"}`},
	{"GET /v1/alerts", ""},
	{"GET /v1/ledger", ""},
	{"GET /v1/principals/{id}/ledger", ""},
	{"GET /v1/audit/samples", ""},
	{"POST /v1/audit/samples/{id}", `{"verdict":"good"}`},
	{"POST /v1/recall", `{"task":"t"}`},
	{"POST /v1/recalls/{receipt}/outcome", `{"success":true}`},
	{"POST /v1/reflections", `{"receipt":"rcp_abc","trajectory":{"task":"t","attempts":[{"steps":[]}]}}`},
	{"POST /v1/reflections/{id}/outcome", `{"success":true}`},
	{"GET /v1/feed", ""},
	{"GET /v1/jobs", ""},
	{"POST /v1/jobs/{id}/retry", ""},
	{"GET /v1/stats", ""},
	{"GET /v1/stats/predictor", ""},
	{"GET /v1/cluster", ""},
	{"POST /v1/cluster/nodes", `{"address":"10.0.0.4:8751"}`},
	{"DELETE /v1/cluster/nodes/{id}", ""},
	{"POST /v1/cluster/transfer", ""},
	{"GET /v1/backup", ""},
	{"POST /v1/restore", "backup"},
	{"POST /v1/reembed", ""},
	{"GET /v1/models", ""},
}

// filled puts ids in the places of a pattern.
func filled(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	return method, strings.NewReplacer("{id}", "x1", "{key_id}", "k1", "{receipt}", "rcp_abc").Replace(path)
}

func TestContractIsTheRouteTable(t *testing.T) {
	st := newSite(t)
	var want, got []string
	for _, c := range contract {
		want = append(want, c.call)
	}
	for pattern := range st.web.routes {
		if strings.Contains(pattern, " /v1/") {
			got = append(got, pattern)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("routes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEveryRouteNeedsAKey(t *testing.T) {
	st := newSite(t)
	for _, c := range contract {
		method, path := filled(c.call)
		for name, header := range map[string]string{"no key": "-", "unknown key": "Bearer ck_nobody"} {
			got := st.do(method, path, c.body, "Authorization", header, "Accept", "text/event-stream")
			got.want(t, c.call+", "+name, 401, "unauthenticated", "")
		}
	}
	if n := st.fake.count(); n != 0 {
		t.Errorf("%d calls reached the service: %+v", n, st.fake.last())
	}
}

func TestEveryRoutePassesARefusalOn(t *testing.T) {
	st := newSite(t)
	st.fake.fail("", api.Denied("the role is missing"))
	for _, c := range contract {
		method, path := filled(c.call)
		before := st.fake.count()
		got := st.do(method, path, c.body, "Accept", "text/event-stream")
		got.want(t, c.call, 403, "denied", "")
		if st.fake.count() != before+1 {
			t.Errorf("%s made %d calls of the service", c.call, st.fake.count()-before)
		}
	}
}

func TestEveryRouteSucceeds(t *testing.T) {
	st := newSite(t)
	for _, c := range contract {
		if c.call == "GET /v1/feed" {
			continue
		}
		method, path := filled(c.call)
		got := st.do(method, path, c.body)
		if got.status > 299 || (method != "GET" && !strings.HasSuffix(path, "/replay") && got.header.Get("Cairn-Index") == "") {
			t.Errorf("%s = %d %v %.300s", c.call, got.status, got.header, got.body)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "Content-Security-Policy": pagePolicy,
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s = %q", c.call, name, got.header.Get(name))
			}
		}
	}
}

func TestOpenAPI(t *testing.T) {
	st := newSite(t)
	got := st.do("GET", "/openapi.json", "", "Authorization", "-")
	var doc struct {
		OpenAPI    string                                `json:"openapi"`
		Info       struct{ Title, Version string }       `json:"info"`
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas         map[string]json.RawMessage `json:"schemas"`
			SecuritySchemes map[string]json.RawMessage `json:"securitySchemes"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
		t.Fatal(err)
	}
	if got.status != 200 || doc.OpenAPI != "3.1.0" || doc.Info.Title != "Cairn" || doc.Info.Version == "" || doc.Components.SecuritySchemes["key"] == nil {
		t.Errorf("document = %d, %q, %+v", got.status, doc.OpenAPI, doc.Info)
	}
	var have []string
	ids := map[string]bool{}
	for path, item := range doc.Paths {
		for method, raw := range item {
			var op struct {
				ID        string         `json:"operationId"`
				Responses map[string]any `json:"responses"`
			}
			if err := json.Unmarshal(raw, &op); err != nil || op.ID == "" || ids[op.ID] || len(op.Responses) < 2 {
				t.Errorf("%s %s: %v, id %q, %d responses", method, path, err, op.ID, len(op.Responses))
			}
			ids[op.ID] = true
			have = append(have, strings.ToUpper(method)+" "+path)
		}
	}
	for _, c := range contract {
		if !slices.Contains(have, c.call) {
			t.Errorf("%s is not in the document", c.call)
		}
	}
	for _, ref := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(got.body, -1) {
		if doc.Components.Schemas[ref[1]] == nil {
			t.Errorf("schema %s is not in the document", ref[1])
		}
	}
	for _, limit := range []string{`"maximum":50`, `"maxItems":256`, `"maxLength":8000`, `"application/problem+json"`, `"application/prov+json"`} {
		if !strings.Contains(got.body, limit) {
			t.Errorf("document does not hold %s", limit)
		}
	}
}

func TestOutsideNeedsNoKey(t *testing.T) {
	st := newSite(t)
	for path, want := range map[string]string{
		"/healthz": `"ok"`, "/readyz": `"ready"`, "/openapi.json": `"openapi"`, "/": "<title>", "/metrics": "cairn_feed_subscribers",
	} {
		got := st.do("GET", path, "", "Authorization", "-")
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s = %d %.200s", path, got.status, got.body)
		}
	}
	if got := st.do("HEAD", "/healthz", "", "Authorization", "-"); got.status != 200 {
		t.Errorf("HEAD /healthz = %d", got.status)
	}
	st.fake.fail("Ready", api.Unavailable("no leader", 0, nil))
	got := st.do("GET", "/readyz", "", "Authorization", "-")
	got.want(t, "no leader", 503, "unavailable", "")
}

func TestMetricsAreForThisMachineAndAuditors(t *testing.T) {
	st := newSite(t)
	proxied := []string{"X-Forwarded-For", "127.0.0.1"}
	got := st.do("GET", "/metrics", "", append(proxied, "Authorization", "-")...)
	got.want(t, "through a proxy", 401, "unauthenticated", "")
	got = st.do("GET", "/metrics", "", proxied...)
	got.want(t, "agent through a proxy", 403, "denied", "")
	if got = st.do("GET", "/metrics", "", append(proxied, "Authorization", "Bearer "+adminKey)...); got.status != 200 {
		t.Errorf("admin through a proxy = %d", got.status)
	}
	st.do("GET", "/v1/experiences/secret-id", "")
	st.do("GET", "/nowhere", "")
	got = st.do("GET", "/metrics", "")
	if strings.Contains(got.body, "secret-id") || !strings.Contains(got.body, `cairn_http_requests_total{method="GET",route="/v1/experiences/{id}",status="200"} 1`) ||
		!strings.Contains(got.body, `route="none",status="404"`) {
		t.Errorf("metrics = %s", got.body)
	}
}

func TestHostsAndOrigins(t *testing.T) {
	st := newSite(t)
	own := strings.TrimPrefix(st.http.URL, "http://")
	good := [][]string{
		{"Host", "localhost:1"}, {"Host", "127.0.0.2"}, {"Host", "[::1]:8750"}, {"Host", "LOCALHOST."}, {"Host", "cairn.example:9"}, {"Host", "Cairn.Example"},
		{"Origin", "http://" + own}, {"Origin", "https://" + own}, {"Origin", "https://app.example"},
	}
	for _, h := range good {
		if got := st.do("GET", "/v1/stats", "", h...); got.status != 200 {
			t.Errorf("%v = %d %s", h, got.status, got.body)
		}
	}
	got := st.do("GET", "/v1/stats", "", "Origin", "https://app.example")
	if got.header.Get("Access-Control-Allow-Origin") != "https://app.example" || got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("allowed origin: %v", got.header)
	}
	got = st.do("OPTIONS", "/v1/stats", "", "Origin", "https://app.example", "Access-Control-Request-Method", "GET", "Authorization", "-")
	if got.status != 204 || !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight = %d %v", got.status, got.header)
	}
	if got = st.raw("GET /healthz HTTP/1.0\r\n\r\n"); got.status != 200 {
		t.Errorf("no host = %d", got.status)
	}
	st.raw("GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").want(t, "absolute form", 403, "denied", "header.Host")
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{Hosts: []string{"*"}}, {Hosts: []string{""}}, {Origins: []string{"*"}}, {Origins: []string{"https://*.example"}}, {Origins: []string{"app.example"}}} {
		if _, err := New(newFake(), o); err == nil {
			t.Errorf("New(%+v) = nil error", o)
		}
	}
	s, err := New(newFake(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(newFake(), Options{Registry: s.opt.Registry}); err == nil {
		t.Error("metrics were registered twice")
	}
}
