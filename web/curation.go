package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const tagCuration = "Curation"

// registerCuration has what curators do to single experiences and to decisions that wait for them.
func (s *Server) registerCuration() {
	for _, a := range []struct{ action, summary string }{
		{"hold", "Stop an experience and what was derived from it; dry_run lists"},
		{"release", "End a hold; dry_run lists"},
		{"revoke", "Call an experience back from all who were given it; dry_run lists"},
	} {
		rt := route{method: http.MethodPost, path: "/v1/experiences/{id}/" + a.action, id: a.action + "-experience", summary: a.summary, tag: tagCuration, body: true}
		write(s, rt, func(ctx context.Context, c api.Caller, in *curateInput, w api.Write) (done api.Done[api.Curated], err error) {
			if !in.Body.DryRun {
				return s.svc.Curate(ctx, c, in.ID, a.action, in.Body, w)
			}
			if _, err = s.svc.AwaitRead(ctx, in.wish()); err != nil {
				return done, err
			}
			return s.svc.Curate(ctx, c, in.ID, a.action, in.Body, api.Write{}) // nothing is written that a repeat could find
		})
	}
	for verb, approve := range map[string]bool{"approve": true, "reject": false} {
		rt := route{method: http.MethodPost, path: "/v1/promotions/{id}/" + verb, id: verb + "-promotion", summary: "Answer a promotion that waits for a curator", tag: tagCuration, body: true}
		write(s, rt, func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			IDParam
			Body api.DecideRequest
		}, w api.Write) (api.Done[api.Promotion], error) {
			return s.svc.DecidePromotion(ctx, c, in.ID, approve, in.Body, w)
		})
	}
}

// curateInput has the parameters of a read too: a dry run is one.
type curateInput struct {
	WriteParams
	ReadParams
	IDParam
	Body api.CurateRequest
}

// either is the answer of a call that has two forms; the route describes both.
type either struct {
	Index  string `header:"Cairn-Index"`
	Replay string `header:"Idempotent-Replay"`
	Body   any
}

// oneOf is the 200 of a call that answers with an A or a B.
func oneOf[A, B any](s *Server, description string) map[string]*huma.Response {
	a, b := mediaJSON[A](s, description), mediaJSON[B](s, description)
	const media = "application/json"
	a.Content[media].Schema = &huma.Schema{OneOf: []*huma.Schema{a.Content[media].Schema, b.Content[media].Schema}}
	return map[string]*huma.Response{"200": a}
}

func (s *Server) registerPromotion() {
	rt := route{method: http.MethodGet, path: "/v1/promotions/{id}", id: "get-promotion", summary: "One decision with its inputs; signed=true: an export signed by the node", tag: tagPools}
	rt.media = oneOf[api.Promotion, api.SignedPromotion](s, "The decision, or with signed=true its signed export")
	huma.Register(s.api, s.operation(rt), func(ctx context.Context, in *struct {
		ReadParams
		IDParam
		Signed bool `query:"signed" doc:"An export signed by the node that answers"`
	}) (*either, error) {
		index, err := s.svc.AwaitRead(ctx, in.wish())
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		out := &either{Index: strconv.FormatUint(index, 10)}
		if in.Signed {
			out.Body, err = s.svc.SignedPromotion(ctx, enteredOf(ctx).caller, in.ID)
		} else {
			out.Body, err = s.svc.Promotion(ctx, enteredOf(ctx).caller, in.ID)
		}
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		return out, nil
	})
}

type settingsInput struct {
	WriteParams
	ReadParams
	IDParam
	DryRun bool `query:"dry_run" doc:"Change nothing: list what the change would promote or demote"`
	Body   api.Settings
}

func (s *Server) registerSettingsChange() {
	rt := route{method: http.MethodPatch, path: "/v1/namespaces/{id}/settings", id: "update-settings", summary: "Change settings; dry_run=true lists what that would promote or demote", tag: tagTenants, body: true}
	rt.media = oneOf[api.Settings, api.SettingsPreview](s, "The settings as they are now, or with dry_run=true what the change would do")
	huma.Register(s.api, s.operation(rt, 409, 412, 413, 415, 507), s.changeSettings)
}

// changeSettings is a read when it is a dry run: it keeps no idempotency key and gives no session token.
func (s *Server) changeSettings(ctx context.Context, in *settingsInput) (*either, error) {
	e := enteredOf(ctx)
	if in.DryRun {
		if _, err := s.svc.AwaitRead(ctx, in.wish()); err != nil {
			return nil, s.refuse(ctx, err)
		}
		preview, err := s.svc.PreviewSettings(ctx, e.caller, in.ID, in.Body)
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		return &either{Body: preview}, nil
	}
	done, err := s.svc.UpdateSettings(ctx, e.caller, in.ID, in.Body, e.write)
	if err != nil {
		return nil, s.refuse(ctx, err)
	}
	out := &either{Index: strconv.FormatUint(done.Index, 10), Body: done.Value}
	if done.Replayed {
		out.Replay = "true"
	}
	return out, nil
}
