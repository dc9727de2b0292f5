package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const tagRecall = "Recall"

func (s *Server) registerRecall() {
	huma.Register(s.api, s.operation(route{
		method: http.MethodPost, path: "/v1/recall", id: "recall", summary: "Ask for experiences that fit a task", tag: tagRecall, body: true,
	}, 413, 415), s.recall)
	write(s, route{method: http.MethodPost, path: "/v1/recalls/{receipt}/outcome", id: "report-outcome", summary: "Report what happened, once per receipt", tag: tagRecall, body: true}, s.outcome)
	s.registerReflections()
}

type recallInput struct {
	ReadParams
	RawBody []byte
	Body    api.RecallRequest
}

// Resolve names body.task beside other faults when a readable body has neither a task nor messages; the schema cannot say
// that one of the two is required.
func (in *recallInput) Resolve(huma.Context) []error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(in.RawBody, &fields) != nil || fields == nil || fields["task"] != nil || fields["messages"] != nil {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: "body.task", Message: "is required, or body.messages"}}
}

// recall is a read that leaves a receipt. It ignores Idempotency-Key: each recall has a receipt of its own.
func (s *Server) recall(ctx context.Context, in *recallInput) (*answered[api.RecallAnswer], error) {
	if len(in.Body.Messages) == 0 {
		if err := blank(text{"body.task", &in.Body.Task}); err != nil {
			return nil, err
		}
	}
	if _, err := s.svc.AwaitRead(ctx, in.wish()); err != nil {
		return nil, s.refuse(ctx, err)
	}
	a, err := s.svc.Recall(ctx, enteredOf(ctx).caller, in.Body)
	if err != nil {
		return nil, s.refuse(ctx, err)
	}
	if a.Experiences == nil {
		a.Experiences = []api.Recalled{}
	}
	return &answered[api.RecallAnswer]{Index: strconv.FormatUint(a.Index, 10), Body: a}, nil
}

type outcomeInput struct {
	WriteParams
	Receipt string `path:"receipt" doc:"The receipt of a recall, rcp_..."`
	Body    api.OutcomeRequest
}

func (s *Server) outcome(ctx context.Context, c api.Caller, in *outcomeInput, w api.Write) (done api.Done[api.OutcomeAnswer], err error) {
	if !receiptShape(in.Receipt) {
		return done, api.NotFound("receipt") // a forged receipt is one that does not exist, however it is spelled
	}
	if in.Body.Success == nil && in.Body.Reward == nil {
		return done, invalid("body.success", "or body.reward is required", nil)
	}
	if t := in.Body.Trajectory; t != nil {
		if err = checkTrajectory("body.trajectory", t); err != nil {
			return done, err
		}
	}
	return s.svc.Outcome(ctx, c, in.Receipt, in.Body, w)
}

// receiptShape: rcp_ and base64url of at most 2 KiB.
func receiptShape(r string) bool {
	rest, ok := strings.CutPrefix(r, "rcp_")
	return ok && rest != "" && len(rest) <= 2800 && !strings.ContainsFunc(rest, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}
