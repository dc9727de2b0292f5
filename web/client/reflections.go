package client

import (
	"context"
	"net/http"

	"cairn/node/api"
)

// Reflect reports a failure after a recall and gets a hypothesis for a retry.
func (c *Client) Reflect(ctx context.Context, req api.ReflectRequest) (api.Done[api.RetryAdvice], error) {
	return write[api.RetryAdvice](ctx, c, call{method: http.MethodPost, path: path("reflections"), body: req})
}

// RetryOutcome reports how a retry ended. After a failure the answer has the next hypothesis, while one is left.
func (c *Client) RetryOutcome(ctx context.Context, id string, req api.RetryRequest) (api.Done[api.RetryAdvice], error) {
	return write[api.RetryAdvice](ctx, c, call{method: http.MethodPost, path: path("reflections", id, "outcome"), body: req})
}
