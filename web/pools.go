package web

import (
	"context"
	"net/http"

	"cairn/node/api"
)

const tagPools = "Shared pools"

func (s *Server) registerPools() {
	list(s, route{path: "/v1/meta", id: "list-meta", summary: "The meta-pool", tag: tagPools},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
			FilterParams
		}) (api.List[api.Experience], error) {
			f, err := in.filter("meta", in.page())
			if err != nil {
				return api.List[api.Experience]{}, err
			}
			return s.svc.Meta(ctx, c, f)
		})
	list(s, route{path: "/v1/candidates", id: "list-candidates", summary: "The shelf of candidates", tag: tagPools},
		func(ctx context.Context, c api.Caller, in *pageInput) (api.List[api.Experience], error) {
			return s.svc.Candidates(ctx, c, in.page())
		})
	list(s, route{path: "/v1/buffer", id: "list-buffer", summary: "What the gate keeps for now", tag: tagPools},
		func(ctx context.Context, c api.Caller, in *pageInput) (api.List[api.Experience], error) {
			return s.svc.Buffer(ctx, c, in.page())
		})
	list(s, route{path: "/v1/promotions", id: "list-promotions", summary: "Decisions about the meta-pool", tag: tagPools},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
			Status string `query:"status" enum:"pending,approved,rejected,automatic"`
		}) (api.List[api.Promotion], error) {
			return s.svc.Promotions(ctx, c, in.Status, in.page())
		})
	s.registerPromotion()
	get(s, route{method: http.MethodPost, path: "/v1/promotions/{id}/replay", id: "replay-promotion", summary: "Decide again from the stored inputs; writes nothing", tag: tagPools},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.Replay, error) {
			return s.svc.ReplayPromotion(ctx, c, in.ID)
		})
}

type pageInput struct {
	ReadParams
	PageParams
}
