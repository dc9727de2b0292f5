package client

import (
	"context"
	"net/http"

	"cairn/node/api"
)

// Jobs lists background work; status "" is all.
func (c *Client) Jobs(ctx context.Context, status string, p api.Page) (api.List[api.Job], error) {
	q := pageQuery(p)
	setText(q, "status", status)
	return get[api.List[api.Job]](ctx, c, path("jobs"), q)
}

// RetryJob queues a dead job again.
func (c *Client) RetryJob(ctx context.Context, id string) (api.Done[api.Job], error) {
	return write[api.Job](ctx, c, call{method: http.MethodPost, path: path("jobs", id, "retry")})
}

// Stats reads the counts of the namespace.
func (c *Client) Stats(ctx context.Context) (api.Stats, error) {
	return get[api.Stats](ctx, c, path("stats"), nil)
}

// PredictorStats reads how well the server foresees rewards.
func (c *Client) PredictorStats(ctx context.Context) (api.PredictorStats, error) {
	return get[api.PredictorStats](ctx, c, path("stats", "predictor"), nil)
}

// Ready asks once whether the node is ready to serve; it needs no key.
func (c *Client) Ready(ctx context.Context) error {
	a, err := c.once(ctx, call{method: http.MethodGet, path: "/readyz", write: true}, nil, "")
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return decodeError(a)
	}
	return nil
}
