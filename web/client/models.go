package client

import (
	"context"

	"cairn/node/api"
)

// Models shows the language models of the node and what the namespace spent on them.
func (c *Client) Models(ctx context.Context) (api.Models, error) {
	return get[api.Models](ctx, c, path("models"), nil)
}
