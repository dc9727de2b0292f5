package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const tagExperiences = "Experiences"

func (s *Server) registerExperiences() {
	write(s, route{
		method: http.MethodPost, path: "/v1/experiences", id: "add-experience", summary: "Record a lesson directly",
		tag: tagExperiences, status: http.StatusCreated, body: true,
		media: map[string]*huma.Response{"200": mediaJSON[api.Experience](s, "It was a duplicate; merged_into names the experience that stands")},
	}, func(ctx context.Context, c api.Caller, in *struct {
		WriteParams
		Body api.AddExperience
	}, w api.Write) (done api.Done[api.Experience], err error) {
		if err = blank(text{"body.scenario", &in.Body.Scenario}, text{"body.content", &in.Body.Content}); err != nil {
			return done, err
		}
		return s.svc.AddExperience(ctx, c, in.Body, w)
	})
	list(s, route{path: "/v1/experiences", id: "list-experiences", summary: "List what the caller may see", tag: tagExperiences}, s.experiences)
	get(s, route{path: "/v1/experiences/{id}", id: "get-experience", summary: "One experience", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.Experience, error) {
			return s.svc.Experience(ctx, c, in.ID)
		})
	write(s, route{method: http.MethodPatch, path: "/v1/experiences/{id}", id: "patch-experience", summary: "Make a new version", tag: tagExperiences, body: true}, s.patchExperience)
	write(s, route{method: http.MethodDelete, path: "/v1/experiences/{id}", id: "erase-experience", summary: "Erase with lineage", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			IDParam
			MatchParam
		}, w api.Write) (done api.Done[api.Erased], err error) {
			version, err := in.version()
			if err != nil {
				return done, err
			}
			return s.svc.EraseExperience(ctx, c, in.ID, version, w)
		})
	get(s, route{path: "/v1/erasures/{id}", id: "get-erasure", summary: "Where erased data may still be", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.Erasure, error) {
			return s.svc.Erasure(ctx, c, in.ID)
		})
	write(s, route{method: http.MethodPost, path: "/v1/experiences/{id}/restore", id: "restore-experience", summary: "Take back from the archive", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *changeParams, w api.Write) (api.Done[api.Experience], error) {
			return s.svc.RestoreExperience(ctx, c, in.ID, w)
		})
	write(s, route{method: http.MethodPost, path: "/v1/experiences/{id}/nominate", id: "nominate-experience", summary: "Put forward for sharing", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *changeParams, w api.Write) (api.Done[api.Experience], error) {
			return s.svc.NominateExperience(ctx, c, in.ID, w)
		})
	s.registerMerges()
}

func (s *Server) registerMerges() {
	list(s, route{path: "/v1/merges", id: "list-merges", summary: "Experiences that gave way to others: the caller's own, all for admins, curators and auditors", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
		}) (api.List[api.Merge], error) {
			return s.svc.Merges(ctx, c, in.page())
		})
	write(s, route{method: http.MethodPost, path: "/v1/merges/{id}/undo", id: "undo-merge", summary: "Let a merged experience stand on its own again", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *changeParams, w api.Write) (api.Done[api.Merge], error) {
			return s.svc.UndoMerge(ctx, c, in.ID, w)
		})
}

type listInput struct {
	ReadParams
	PageParams
	FilterParams
	Pool string `query:"pool" pattern:"^(own|meta|candidates|agent:[A-Za-z0-9][A-Za-z0-9._-]{0,63})$" doc:"own is the caller's"`
}

func (s *Server) experiences(ctx context.Context, c api.Caller, in *listInput) (api.List[api.Experience], error) {
	f, err := in.filter(poolOf(in.Pool, c), in.page())
	if err != nil {
		return api.List[api.Experience]{}, err
	}
	return s.svc.Experiences(ctx, c, f)
}

// poolOf names the pool that "own" stands for.
func poolOf(pool string, c api.Caller) string {
	if pool == "own" {
		return "agent:" + c.Agent
	}
	return pool
}

type patchInput struct {
	WriteParams
	IDParam
	MatchParam
	Body api.PatchExperience
}

func (s *Server) patchExperience(ctx context.Context, c api.Caller, in *patchInput, w api.Write) (done api.Done[api.Experience], err error) {
	version, err := in.version()
	if err != nil {
		return done, err
	}
	if err = blank(text{"body.scenario", in.Body.Scenario}, text{"body.content", in.Body.Content}); err != nil {
		return done, err
	}
	return s.svc.PatchExperience(ctx, c, in.ID, version, in.Body, w)
}
