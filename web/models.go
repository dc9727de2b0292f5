package web

import (
	"context"

	"cairn/node/api"
)

func (s *Server) registerModels() {
	get(s, route{path: "/v1/models", id: "get-models", summary: "The language models that are asked, and what they cost", tag: tagOperations},
		func(ctx context.Context, c api.Caller, _ *struct{ ReadParams }) (api.Models, error) {
			return s.svc.Models(ctx, c)
		})
}
