package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const tagRecord = "Record"

func (s *Server) registerTrajectories() {
	write(s, route{
		method: http.MethodPost, path: "/v1/trajectories", id: "record-trajectory", summary: "Record attempts at a task",
		tag: tagRecord, status: http.StatusAccepted, body: true,
		media: map[string]*huma.Response{"200": mediaJSON[api.RecordedTrajectory](s, "Distilled within ?wait")},
	}, s.recordTrajectory)
	get(s, route{path: "/v1/trajectories/{id}", id: "get-trajectory", summary: "A recorded group", tag: tagRecord},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.Trajectory, error) {
			return s.svc.Trajectory(ctx, c, in.ID)
		})
}

type recordInput struct {
	WriteParams
	Wait string `query:"wait" maxLength:"16" doc:"Answer when distilled, at most this long (0s..60s, as in 10s)"`
	Body api.RecordTrajectory
}

func (s *Server) recordTrajectory(ctx context.Context, c api.Caller, in *recordInput, w api.Write) (done api.Done[api.RecordedTrajectory], err error) {
	wait, err := waitOf(in.Wait)
	if err != nil {
		return done, err
	}
	if err = checkTrajectory("body", &in.Body); err != nil {
		return done, err
	}
	return s.svc.RecordTrajectory(ctx, c, in.Body, wait, w)
}

func checkTrajectory(at string, t *api.RecordTrajectory) error {
	return blank(text{at + ".task", &t.Task})
}
