package web

import (
	"context"
	"net/http"

	"cairn/node/api"
)

const tagTenants = "Principals and namespaces"

func (s *Server) registerNamespaces() {
	write(s, route{method: http.MethodPost, path: "/v1/principals", id: "create-principal", summary: "Admit a principal", tag: tagTenants, status: http.StatusCreated, body: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			Body api.CreatePrincipal
		}, w api.Write) (api.Done[api.Principal], error) {
			return s.svc.CreatePrincipal(ctx, c, in.Body, w)
		})
	list(s, route{path: "/v1/principals", id: "list-principals", summary: "Principals with their reputation", tag: tagTenants},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
		}) (api.List[api.Principal], error) {
			return s.svc.Principals(ctx, c, in.page())
		})
	write(s, route{method: http.MethodPatch, path: "/v1/principals/{id}", id: "update-principal", summary: "Vouch for a principal or suspend it", tag: tagTenants, body: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			IDParam
			Body api.UpdatePrincipal
		}, w api.Write) (api.Done[api.Principal], error) {
			return s.svc.UpdatePrincipal(ctx, c, in.ID, in.Body, w)
		})
	write(s, route{method: http.MethodPost, path: "/v1/namespaces", id: "create-namespace", summary: "Make a tenant; its admin key is shown once", tag: tagTenants, status: http.StatusCreated, body: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			Body api.CreateNamespace
		}, w api.Write) (api.Done[api.Namespace], error) {
			return s.svc.CreateNamespace(ctx, c, in.Body, w)
		})
	list(s, route{path: "/v1/namespaces", id: "list-namespaces", summary: "List tenants", tag: tagTenants},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
		}) (api.List[api.Namespace], error) {
			return s.svc.Namespaces(ctx, c, in.page())
		})
	get(s, route{path: "/v1/namespaces/{id}/settings", id: "get-settings", summary: "Settings of a namespace", tag: tagTenants},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.Settings, error) {
			return s.svc.Settings(ctx, c, in.ID)
		})
	s.registerSettingsChange()
}
