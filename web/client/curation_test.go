package client

import (
	"net/http"
	"testing"

	"cairn/node/api"
)

func TestRequestsOfCurators(t *testing.T) {
	var method, target string
	var key bool
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		method, target, key = r.Method, r.URL.RequestURI(), r.Header.Get("Idempotency-Key") != ""
		_, _ = w.Write([]byte("{}"))
	})
	ctx := t.Context()
	for _, tc := range []struct {
		do             func() error
		method, target string
		write          bool
	}{
		{func() error { _, err := c.Curate(ctx, "e", "hold", api.CurateRequest{}); return err }, "POST", "/v1/experiences/e/hold", true},
		{func() error { _, err := c.Curate(ctx, "e", "revoke", api.CurateRequest{DryRun: true}); return err }, "POST", "/v1/experiences/e/revoke", false},
		{func() error { _, err := c.DecidePromotion(ctx, "p", true, api.DecideRequest{}); return err }, "POST", "/v1/promotions/p/approve", true},
		{func() error { _, err := c.DecidePromotion(ctx, "p", false, api.DecideRequest{}); return err }, "POST", "/v1/promotions/p/reject", true},
		{func() error { _, err := c.SignedPromotion(ctx, "p"); return err }, "GET", "/v1/promotions/p?signed=true", false},
		{func() error { _, err := c.PreviewSettings(ctx, "n", api.Settings{}); return err }, "PATCH", "/v1/namespaces/n/settings?dry_run=true", false},
		{func() error { _, err := c.Alerts(ctx); return err }, "GET", "/v1/alerts", false},
		{func() error { _, err := c.Ledger(ctx, "alice", api.Page{Limit: 7}); return err }, "GET", "/v1/ledger?limit=7&reader=alice", false},
		{func() error { _, err := c.Merges(ctx, api.Page{Limit: 7}); return err }, "GET", "/v1/merges?limit=7", false},
		{func() error { _, err := c.UndoMerge(ctx, "e"); return err }, "POST", "/v1/merges/e/undo", true},
		{func() error { _, err := c.AuditSamples(ctx, 20); return err }, "GET", "/v1/audit/samples?n=20", false},
		{func() error { _, err := c.JudgeSample(ctx, "e", api.SampleVerdict{Verdict: "good"}); return err }, "POST", "/v1/audit/samples/e", true},
	} {
		if err := tc.do(); err != nil || method != tc.method || target != tc.target || key != tc.write {
			t.Errorf("%s %s with a key %t, err %v; want %s %s, %t", method, target, key, err, tc.method, tc.target, tc.write)
		}
	}
}
