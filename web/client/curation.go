package client

import (
	"context"
	"net/http"
	"net/url"

	"cairn/node/api"
)

// Curate holds, releases or revokes an experience; action is hold, release or revoke. A dry run changes nothing and is
// sent as a read.
func (c *Client) Curate(ctx context.Context, id, action string, req api.CurateRequest) (api.Done[api.Curated], error) {
	k := call{method: http.MethodPost, path: path("experiences", id, action), body: req}
	if !req.DryRun {
		return write[api.Curated](ctx, c, k)
	}
	v, err := read[api.Curated](ctx, c, k)
	if err != nil {
		return api.Done[api.Curated]{}, err
	}
	return api.Done[api.Curated]{Value: v, Index: v.Index, Status: http.StatusOK}, nil
}

// DecidePromotion answers a promotion that waits for a curator.
func (c *Client) DecidePromotion(ctx context.Context, id string, approve bool, req api.DecideRequest) (api.Done[api.Promotion], error) {
	verb := "reject"
	if approve {
		verb = "approve"
	}
	return write[api.Promotion](ctx, c, call{method: http.MethodPost, path: path("promotions", id, verb), body: req})
}

// SignedPromotion reads a decision as an export signed by the node that answers.
func (c *Client) SignedPromotion(ctx context.Context, id string) (api.SignedPromotion, error) {
	return get[api.SignedPromotion](ctx, c, path("promotions", id), url.Values{"signed": {"true"}})
}

// PreviewSettings lists what a change of settings would promote or demote. It is a read.
func (c *Client) PreviewSettings(ctx context.Context, namespace string, req api.Settings) (api.SettingsPreview, error) {
	return read[api.SettingsPreview](ctx, c, call{
		method: http.MethodPatch, path: path("namespaces", namespace, "settings"), query: url.Values{"dry_run": {"true"}}, body: req,
	})
}

// Ledger lists what readers' own outcomes say about authors; an empty reader is the caller's principal, everybody's for the
// privileged.
func (c *Client) Ledger(ctx context.Context, reader string, p api.Page) (api.List[api.LedgerEntry], error) {
	q := pageQuery(p)
	setText(q, "reader", reader)
	return get[api.List[api.LedgerEntry]](ctx, c, path("ledger"), q)
}

// Alerts lists signs of collusion or ill health.
func (c *Client) Alerts(ctx context.Context) (api.List[api.Alert], error) {
	return get[api.List[api.Alert]](ctx, c, path("alerts"), nil)
}

// AuditSamples draws n items of the meta-pool that nobody has judged and lists them with the judged ones; 0 draws none.
func (c *Client) AuditSamples(ctx context.Context, n int) (api.Samples, error) {
	q := url.Values{}
	setInt(q, "n", n)
	return get[api.Samples](ctx, c, path("audit", "samples"), q)
}

// JudgeSample gives a verdict on an item of the meta-pool: good, bad or unsure.
func (c *Client) JudgeSample(ctx context.Context, id string, req api.SampleVerdict) (api.Done[api.Sample], error) {
	return write[api.Sample](ctx, c, call{method: http.MethodPost, path: path("audit", "samples", id), body: req})
}
