package web

import (
	"context"
	"net/http"
	"strconv"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

// route is what a call looks like from outside.
type route struct {
	method       string
	path         string
	id           string
	summary      string
	tag          string
	status       int  // of a success; 0 = 200
	body         bool // takes a JSON body
	bodyOptional bool // which may be left out
	media        map[string]*huma.Response
}

// operation adds the route to the table and makes its part of the OpenAPI document.
func (s *Server) operation(rt route, extra ...int) huma.Operation {
	s.routes[rt.method+" "+rt.path] = routing{body: rt.body, optional: rt.bodyOptional}
	return huma.Operation{
		Method: rt.method, Path: rt.path, OperationID: rt.id, Summary: rt.summary, Tags: []string{rt.tag},
		DefaultStatus: rt.status, Responses: rt.media, Security: []map[string][]string{{"key": {}}},
		Errors:          append([]int{400, 401, 403, 404, 422, 429, 500, 503}, extra...),
		MaxBodyBytes:    -1, // read and limited on the way in
		BodyReadTimeout: -1, // else huma sets a deadline that ends a long wait
	}
}

// answered is the answer of a read.
type answered[O any] struct {
	Index string `header:"Cairn-Index" doc:"The applied index that was read"`
	ETag  string `header:"ETag" hidden:"true"`
	Body  O
}

// written is the answer of a write.
type written[O any] struct {
	Status int
	Index  string `header:"Cairn-Index" doc:"Session token: send it with a read to see this write"`
	Replay string `header:"Idempotent-Replay" doc:"true when this is the first answer again"`
	ETag   string `header:"ETag" hidden:"true"`
	Body   O
}

// emptied is the answer of a write that has nothing to say.
type emptied struct {
	Index  string `header:"Cairn-Index" doc:"Session token"`
	Replay string `header:"Idempotent-Replay"`
}

// reading is an input that has ReadParams.
type reading[I any] interface {
	*I
	wish() api.Read
}

// get registers a read.
func get[I any, P reading[I], O any](s *Server, rt route, do func(ctx context.Context, c api.Caller, in *I) (O, error)) {
	if rt.method == "" {
		rt.method = http.MethodGet
	}
	huma.Register(s.api, s.operation(rt), func(ctx context.Context, in *I) (*answered[O], error) {
		index, err := s.svc.AwaitRead(ctx, P(in).wish())
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		v, err := do(ctx, enteredOf(ctx).caller, in)
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		return &answered[O]{Index: strconv.FormatUint(index, 10), ETag: tagOf(v), Body: v}, nil
	})
}

// list registers a read of a list, which is never null.
func list[I any, P reading[I], T any](s *Server, rt route, do func(ctx context.Context, c api.Caller, in *I) (api.List[T], error)) {
	get[I, P](s, rt, func(ctx context.Context, c api.Caller, in *I) (api.List[T], error) {
		l, err := do(ctx, c, in)
		if l.Items == nil {
			l.Items = []T{}
		}
		return l, err
	})
}

// write registers a write. The service may answer with another success than the route's.
func write[I, O any](s *Server, rt route, do func(ctx context.Context, c api.Caller, in *I, w api.Write) (api.Done[O], error)) {
	huma.Register(s.api, s.operation(rt, 409, 412, 413, 415, 507), func(ctx context.Context, in *I) (*written[O], error) {
		e := enteredOf(ctx)
		done, err := do(ctx, e.caller, in, e.write)
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		out := &written[O]{Status: done.Status, Index: strconv.FormatUint(done.Index, 10), ETag: tagOf(done.Value), Body: done.Value}
		if out.Status == 0 {
			out.Status = max(rt.status, http.StatusOK)
		}
		if done.Replayed {
			out.Replay = "true"
		}
		return out, nil
	})
}

// remove registers a write that answers 204.
func remove[I any](s *Server, rt route, do func(ctx context.Context, c api.Caller, in *I, w api.Write) (api.Done[struct{}], error)) {
	rt.method, rt.status = http.MethodDelete, http.StatusNoContent
	huma.Register(s.api, s.operation(rt, 409, 507), func(ctx context.Context, in *I) (*emptied, error) {
		e := enteredOf(ctx)
		done, err := do(ctx, e.caller, in, e.write)
		if err != nil {
			return nil, s.refuse(ctx, err)
		}
		out := &emptied{Index: strconv.FormatUint(done.Index, 10)}
		if done.Replayed {
			out.Replay = "true"
		}
		return out, nil
	})
}

// refuse keeps a problem made here and translates what the service says.
func (s *Server) refuse(ctx context.Context, err error) error {
	if p, ok := err.(*Problem); ok { //nolint:errorlint // problems are made here and never wrapped
		return p
	}
	return s.refused(ctx, err)
}

func tagOf(v any) string {
	if e, ok := v.(api.Experience); ok && e.Version > 0 {
		return etag(e.Version)
	}
	return ""
}

// visible tells whether a character shows on paper; space, control, format and private ones do not.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '\u2800' && r != '\u3164'
}
