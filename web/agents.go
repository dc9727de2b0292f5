package web

import (
	"context"
	"net/http"

	"cairn/node/api"
)

const tagAgents = "Agents"

// KeyParam is the id of a key.
type KeyParam struct {
	KeyID string `path:"key_id" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._-]+$"`
}

func (s *Server) registerAgents() {
	write(s, route{method: http.MethodPost, path: "/v1/agents", id: "create-agent", summary: "Enrol an agent; the key is shown once", tag: tagAgents, status: http.StatusCreated, body: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			Body api.CreateAgent
		}, w api.Write) (api.Done[api.CreatedAgent], error) {
			if in.Body.ID == "me" {
				return api.Done[api.CreatedAgent]{}, invalid("body.id", "must not be me, which names the caller", in.Body.ID)
			}
			return s.svc.CreateAgent(ctx, c, in.Body, w)
		})
	list(s, route{path: "/v1/agents", id: "list-agents", summary: "List agents", tag: tagAgents},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
		}) (api.List[api.Agent], error) {
			return s.svc.Agents(ctx, c, in.page())
		})
	get(s, route{path: "/v1/agents/me", id: "get-me", summary: "The caller's own agent", tag: tagAgents},
		func(ctx context.Context, c api.Caller, _ *struct{ ReadParams }) (api.Agent, error) {
			return s.svc.Agent(ctx, c, c.Agent)
		})
	get(s, route{path: "/v1/agents/{id}", id: "get-agent", summary: "One agent", tag: tagAgents},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.Agent, error) {
			return s.svc.Agent(ctx, c, in.ID)
		})
	write(s, route{method: http.MethodPatch, path: "/v1/agents/{id}", id: "update-agent", summary: "Change an agent", tag: tagAgents, body: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			IDParam
			Body api.UpdateAgent
		}, w api.Write) (api.Done[api.Agent], error) {
			return s.svc.UpdateAgent(ctx, c, in.ID, in.Body, w)
		})
	remove(s, route{path: "/v1/agents/{id}", id: "remove-agent", summary: "Remove an agent; its keys stop at once", tag: tagAgents},
		func(ctx context.Context, c api.Caller, in *changeParams, w api.Write) (api.Done[struct{}], error) {
			return s.svc.RemoveAgent(ctx, c, in.ID, w)
		})
	write(s, route{method: http.MethodPost, path: "/v1/agents/{id}/keys", id: "create-key", summary: "Make another key", tag: tagAgents, status: http.StatusCreated},
		func(ctx context.Context, c api.Caller, in *changeParams, w api.Write) (api.Done[api.CreatedKey], error) {
			return s.svc.CreateKey(ctx, c, in.ID, w)
		})
	remove(s, route{path: "/v1/agents/{id}/keys/{key_id}", id: "remove-key", summary: "End a key", tag: tagAgents},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			IDParam
			KeyParam
		}, w api.Write) (api.Done[struct{}], error) {
			return s.svc.RemoveKey(ctx, c, in.ID, in.KeyID, w)
		})
}

// oneParams read one thing, changeParams change one without a body.
type (
	oneParams struct {
		ReadParams
		IDParam
	}
	changeParams struct {
		WriteParams
		IDParam
	}
)
