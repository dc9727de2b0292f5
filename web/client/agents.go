package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"cairn/node/api"
)

// CreateAgent enrols an agent; the key is in the first answer only.
func (c *Client) CreateAgent(ctx context.Context, req api.CreateAgent) (api.Done[api.CreatedAgent], error) {
	return write[api.CreatedAgent](ctx, c, call{method: http.MethodPost, path: path("agents"), body: req})
}

// Agents lists the agents of the namespace.
func (c *Client) Agents(ctx context.Context, p api.Page) (api.List[api.Agent], error) {
	return get[api.List[api.Agent]](ctx, c, path("agents"), pageQuery(p))
}

// Agent reads one agent; "me" is the caller.
func (c *Client) Agent(ctx context.Context, id string) (api.Agent, error) {
	return get[api.Agent](ctx, c, path("agents", id), nil)
}

// Me reads the caller's own agent.
func (c *Client) Me(ctx context.Context) (api.Agent, error) { return c.Agent(ctx, "me") }

// UpdateAgent changes an agent.
func (c *Client) UpdateAgent(ctx context.Context, id string, req api.UpdateAgent) (api.Done[api.Agent], error) {
	return write[api.Agent](ctx, c, call{method: http.MethodPatch, path: path("agents", id), body: req})
}

// RemoveAgent removes an agent; its keys stop at once.
func (c *Client) RemoveAgent(ctx context.Context, id string) (api.Done[struct{}], error) {
	return write[struct{}](ctx, c, call{method: http.MethodDelete, path: path("agents", id)})
}

// CreateKey makes another key for an agent.
func (c *Client) CreateKey(ctx context.Context, agent string) (api.Done[api.CreatedKey], error) {
	return write[api.CreatedKey](ctx, c, call{method: http.MethodPost, path: path("agents", agent, "keys")})
}

// RemoveKey ends a key.
func (c *Client) RemoveKey(ctx context.Context, agent, keyID string) (api.Done[struct{}], error) {
	return write[struct{}](ctx, c, call{method: http.MethodDelete, path: path("agents", agent, "keys", keyID)})
}

// CreatePrincipal admits a principal.
func (c *Client) CreatePrincipal(ctx context.Context, req api.CreatePrincipal) (api.Done[api.Principal], error) {
	return write[api.Principal](ctx, c, call{method: http.MethodPost, path: path("principals"), body: req})
}

// Principals lists the principals of the namespace.
func (c *Client) Principals(ctx context.Context, p api.Page) (api.List[api.Principal], error) {
	return get[api.List[api.Principal]](ctx, c, path("principals"), pageQuery(p))
}

// UpdatePrincipal changes how a principal is regarded.
func (c *Client) UpdatePrincipal(ctx context.Context, id string, req api.UpdatePrincipal) (api.Done[api.Principal], error) {
	return write[api.Principal](ctx, c, call{method: http.MethodPatch, path: path("principals", id), body: req})
}

// CreateNamespace makes a tenant; its admin key is in the first answer only.
func (c *Client) CreateNamespace(ctx context.Context, req api.CreateNamespace) (api.Done[api.Namespace], error) {
	return write[api.Namespace](ctx, c, call{method: http.MethodPost, path: path("namespaces"), body: req})
}

// Namespaces lists the tenants.
func (c *Client) Namespaces(ctx context.Context, p api.Page) (api.List[api.Namespace], error) {
	return get[api.List[api.Namespace]](ctx, c, path("namespaces"), pageQuery(p))
}

// Settings reads a namespace's settings.
func (c *Client) Settings(ctx context.Context, namespace string) (api.Settings, error) {
	return get[api.Settings](ctx, c, path("namespaces", namespace, "settings"), nil)
}

// UpdateSettings changes a namespace's settings; zero fields stay.
func (c *Client) UpdateSettings(ctx context.Context, namespace string, req api.Settings) (api.Done[api.Settings], error) {
	return write[api.Settings](ctx, c, call{method: http.MethodPatch, path: path("namespaces", namespace, "settings"), body: req})
}

// pageQuery leaves out what is zero.
func pageQuery(p api.Page) url.Values {
	q := url.Values{}
	setInt(q, "limit", p.Limit)
	setText(q, "cursor", p.Cursor)
	return q
}

func setText(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func setInt(q url.Values, name string, value int) {
	if value != 0 {
		q.Set(name, strconv.Itoa(value))
	}
}
