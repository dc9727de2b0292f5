package web

import (
	"strings"
	"testing"

	"cairn/node/api"
)

func TestCurationReachesTheService(t *testing.T) {
	st := newSite(t)
	for _, action := range []string{"hold", "release", "revoke"} {
		st.fake.answers["Curate"] = api.Done[api.Curated]{Value: api.Curated{Experience: "e1", Closes: []string{"e2"}, Notifies: []string{"a"}}, Index: 9}
		got := st.do("POST", "/v1/experiences/e1/"+action, `{"reason":"r"}`, "Idempotency-Key", "k-1")
		args := st.fake.last().args
		if got.status != 200 || got.header.Get("Cairn-Index") != "9" || !strings.Contains(got.body, `"closes":["e2"]`) {
			t.Errorf("%s = %d %v %s", action, got.status, got.header, got.body)
		}
		if args[1] != "e1" || args[2] != action || args[3] != (api.CurateRequest{Reason: "r"}) || args[4].(api.Write).IdempotencyKey != "k-1" {
			t.Errorf("%s called with %+v", action, args[1:])
		}
		if len(st.fake.reads) != 0 {
			t.Errorf("%s waited for a read", action)
		}
	}
	for verb, approve := range map[string]bool{"approve": true, "reject": false} {
		st.do("POST", "/v1/promotions/p1/"+verb, `{"reason":"r"}`)
		if args := st.fake.last().args; args[1] != "p1" || args[2] != approve || args[3] != (api.DecideRequest{Reason: "r"}) {
			t.Errorf("%s called with %+v", verb, args[1:])
		}
	}
	st.do("POST", "/v1/audit/samples/e1", `{"verdict":"bad"}`)
	if args := st.fake.last().args; args[1] != "e1" || args[2] != (api.SampleVerdict{Verdict: "bad"}) {
		t.Errorf("verdict = %+v", args[1:])
	}
	st.do("GET", "/v1/audit/samples?n=20", "")
	if n := st.fake.last().args[1]; n != 20 {
		t.Errorf("n = %v", n)
	}
}

// TestDryRunsAreReads: they wait for what the reader has seen, and leave nothing that a repeat could find.
func TestDryRunsAreReads(t *testing.T) {
	st := newSite(t)
	session := []string{"Cairn-Index", "99", "Idempotency-Key", "k-1"}
	want := api.Read{Consistency: "session", Index: 99}

	st.do("POST", "/v1/experiences/e1/revoke?consistency=session", `{"dry_run":true}`, session...)
	args := st.fake.last().args
	if args[4] != (api.Write{}) || len(st.fake.reads) != 1 || st.fake.reads[0] != want {
		t.Errorf("dry run of a revocation: %+v, reads %+v", args[1:], st.fake.reads)
	}

	got := st.do("PATCH", "/v1/namespaces/default/settings?dry_run=true&consistency=session", `{"trust_profile":"strict"}`, session...)
	if call := st.fake.last(); call.method != "PreviewSettings" || call.args[2].(api.Settings).TrustProfile != "strict" {
		t.Errorf("preview called %s with %+v", call.method, call.args)
	}
	if len(st.fake.reads) != 2 || st.fake.reads[1] != want {
		t.Errorf("reads = %+v", st.fake.reads)
	}
	if _, ok := got.header["Cairn-Index"]; ok || got.status != 200 || !strings.Contains(got.body, `"looked":0`) {
		t.Errorf("preview = %d %v %s", got.status, got.header, got.body)
	}

	st.fake.answers["UpdateSettings"] = api.Done[api.Settings]{Value: api.Settings{Gate: "off"}, Index: 12, Replayed: true}
	got = st.do("PATCH", "/v1/namespaces/default/settings?dry_run=false", `{"gate":"off"}`, "Idempotency-Key", "k-2")
	if got.header.Get("Cairn-Index") != "12" || got.header.Get("Idempotent-Replay") != "true" || !strings.Contains(got.body, `"gate":"off"`) {
		t.Errorf("change = %d %v %s", got.status, got.header, got.body)
	}
	if w := st.fake.last().args[3].(api.Write); w.IdempotencyKey != "k-2" {
		t.Errorf("write = %+v", w)
	}
}

func TestSignedPromotion(t *testing.T) {
	st := newSite(t)
	st.fake.answers["SignedPromotion"] = api.SignedPromotion{Payload: `{"id":"p1"}`, Algorithm: "ed25519", Signature: "c2ln"}
	st.fake.answers["Promotion"] = api.Promotion{ID: "p1", Status: "pending"}
	for path, want := range map[string]string{
		"/v1/promotions/p1":              `"status":"pending"`,
		"/v1/promotions/p1?signed=false": `"status":"pending"`,
		"/v1/promotions/p1?signed=true":  `"algorithm":"ed25519"`,
	} {
		got := st.do("GET", path, "")
		if got.status != 200 || got.header.Get("Cairn-Index") != "812" || !strings.Contains(got.body, want) {
			t.Errorf("%s = %d %v %s", path, got.status, got.header, got.body)
		}
	}
	st.fake.fail("SignedPromotion", api.NotFound("promotion"))
	got := st.do("GET", "/v1/promotions/p1?signed=true", "")
	got.want(t, "an unknown one", 404, "not_found", "")
}
