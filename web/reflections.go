package web

import (
	"context"
	"net/http"

	"cairn/node/api"
)

func (s *Server) registerReflections() {
	write(s, route{
		method: http.MethodPost, path: "/v1/reflections", id: "reflect", tag: tagRecall, body: true,
		summary: "Compare a failure with a past success: a hypothesis for a retry, at most 3 a recall",
	}, s.reflect)
	write(s, route{
		method: http.MethodPost, path: "/v1/reflections/{id}/outcome", id: "report-retry", tag: tagRecall, body: true,
		summary: "Report how a retry ended; after a failure the answer has the next hypothesis",
	}, s.retryOutcome)
}

type reflectInput struct {
	WriteParams
	Body api.ReflectRequest
}

func (s *Server) reflect(ctx context.Context, c api.Caller, in *reflectInput, w api.Write) (done api.Done[api.RetryAdvice], err error) {
	if !receiptShape(in.Body.Receipt) {
		return done, api.NotFound("receipt")
	}
	if err = checkTrajectory("body.trajectory", &in.Body.Trajectory); err != nil {
		return done, err
	}
	return s.svc.Reflect(ctx, c, in.Body, w)
}

type retryInput struct {
	WriteParams
	IDParam
	Body api.RetryRequest
}

func (s *Server) retryOutcome(ctx context.Context, c api.Caller, in *retryInput, w api.Write) (done api.Done[api.RetryAdvice], err error) {
	if t := in.Body.Trajectory; t != nil {
		if err = checkTrajectory("body.trajectory", t); err != nil {
			return done, err
		}
	}
	return s.svc.RetryOutcome(ctx, c, in.ID, in.Body, w)
}
