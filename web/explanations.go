package web

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const provJSON = "application/prov+json"

// registerExplanations has the calls that say why an experience is where it is.
func (s *Server) registerExplanations() {
	get(s, route{path: "/v1/experiences/{id}/trust", id: "get-trust", summary: "Every term of the trust, and what is missing", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.TrustDetail, error) {
			return s.svc.Trust(ctx, c, in.ID)
		})
	s.registerProvenance()
	list(s, route{path: "/v1/experiences/{id}/history", id: "get-history", summary: "Versions", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *oneParams) (api.List[api.Experience], error) {
			return s.svc.History(ctx, c, in.ID)
		})
	list(s, route{path: "/v1/experiences/{id}/receipts", id: "get-experience-receipts", summary: "Who was given it", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			IDParam
			PageParams
		}) (api.List[api.ReceiptView], error) {
			return s.svc.ExperienceReceipts(ctx, c, in.ID, in.page())
		})
	list(s, route{path: "/v1/receipts", id: "list-receipts", summary: "What an agent was given and when", tag: tagExperiences},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
			Agent string `query:"agent" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"`
			From  string `query:"from" format:"date-time"`
			To    string `query:"to" format:"date-time"`
		}) (api.List[api.ReceiptView], error) {
			return s.svc.Receipts(ctx, c, in.Agent, in.From, in.To, in.page())
		})
}

// provenanceOutput is the graph in one of two notations.
type provenanceOutput struct {
	Index       string `header:"Cairn-Index" doc:"The applied index that was read"`
	Vary        string `header:"Vary" hidden:"true"`
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        []byte
}

func (s *Server) registerProvenance() {
	graph := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Graph](), true, "")
	rt := route{method: http.MethodGet, path: "/v1/experiences/{id}/provenance", id: "get-provenance", summary: "The lineage graph; PROV-JSON on request", tag: tagExperiences}
	rt.media = map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{
		"application/json": {Schema: graph},
		provJSON:           {Schema: &huma.Schema{Type: huma.TypeObject, Description: "W3C PROV-JSON"}},
	}}}
	huma.Register(s.api, s.operation(rt), s.provenance)
}

func (s *Server) provenance(ctx context.Context, in *struct {
	ReadParams
	IDParam
	Accept string `header:"Accept" hidden:"true"`
}) (*provenanceOutput, error) {
	index, err := s.svc.AwaitRead(ctx, in.wish())
	if err != nil {
		return nil, s.refuse(ctx, err)
	}
	g, err := s.svc.Provenance(ctx, enteredOf(ctx).caller, in.ID)
	if err != nil {
		return nil, s.refuse(ctx, err)
	}
	out := &provenanceOutput{Index: strconv.FormatUint(index, 10), Vary: "Accept", ContentType: "application/json"}
	var doc any = g
	if strings.Contains(in.Accept, provJSON) {
		out.ContentType, doc = provJSON, provDocument(g)
	}
	if out.Body, err = json.Marshal(doc); err != nil {
		return nil, s.refuse(ctx, err)
	}
	return out, nil
}
