package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"cairn/node/api"
)

// RecordTrajectory records attempts. With wait > 0 (at most 60 s) the answer comes after distilling and says what was kept.
func (c *Client) RecordTrajectory(ctx context.Context, req api.RecordTrajectory, wait time.Duration) (api.Done[api.RecordedTrajectory], error) {
	q := url.Values{}
	if wait > 0 {
		q.Set("wait", wait.String())
	}
	return write[api.RecordedTrajectory](ctx, c, call{method: http.MethodPost, path: path("trajectories"), query: q, body: req})
}

// Trajectory reads a recorded group.
func (c *Client) Trajectory(ctx context.Context, id string) (api.Trajectory, error) {
	return get[api.Trajectory](ctx, c, path("trajectories", id), nil)
}

// Recall asks for experiences that fit a task.
func (c *Client) Recall(ctx context.Context, req api.RecallRequest) (api.RecallAnswer, error) {
	return read[api.RecallAnswer](ctx, c, call{method: http.MethodPost, path: path("recall"), body: req})
}

// Outcome reports what happened after a recall, once per receipt.
func (c *Client) Outcome(ctx context.Context, receipt string, req api.OutcomeRequest) (api.Done[api.OutcomeAnswer], error) {
	return write[api.OutcomeAnswer](ctx, c, call{method: http.MethodPost, path: path("recalls", receipt, "outcome"), body: req})
}
