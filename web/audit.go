package web

import (
	"context"
	"net/http"

	"cairn/node/api"
)

const tagAudit = "Audit"

// registerAudit has what auditors look at.
func (s *Server) registerAudit() {
	list(s, route{path: "/v1/alerts", id: "list-alerts", summary: "Signs of collusion or ill health; nothing is acted on by itself", tag: tagAudit},
		func(ctx context.Context, c api.Caller, _ *struct{ ReadParams }) (api.List[api.Alert], error) {
			return s.svc.Alerts(ctx, c)
		})
	list(s, route{path: "/v1/ledger", id: "list-ledger", summary: "What readers' own verified outcomes say about authors", tag: tagAudit},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			PageParams
			Reader string `query:"reader" maxLength:"64" doc:"Principal; without it the caller's own, everybody's for admins, curators and auditors"`
		}) (api.List[api.LedgerEntry], error) {
			return s.svc.Ledger(ctx, c, in.Reader, in.page())
		})
	list(s, route{path: "/v1/principals/{id}/ledger", id: "list-principal-ledger", summary: "What a principal's own verified outcomes say about authors", tag: tagAudit},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			IDParam
			PageParams
		}) (api.List[api.LedgerEntry], error) {
			return s.svc.Ledger(ctx, c, in.ID, in.page())
		})
	get(s, route{path: "/v1/audit/samples", id: "get-audit-samples", summary: "Items of the meta-pool drawn at random, and what the verdicts so far say", tag: tagAudit},
		func(ctx context.Context, c api.Caller, in *struct {
			ReadParams
			N int `query:"n" minimum:"0" maximum:"500" doc:"Fresh items to draw; without it only judged ones are listed"`
		}) (api.Samples, error) {
			out, err := s.svc.AuditSamples(ctx, c, in.N)
			if out.Items == nil {
				out.Items = []api.Sample{}
			}
			return out, err
		})
	write(s, route{method: http.MethodPost, path: "/v1/audit/samples/{id}", id: "judge-sample", summary: "Give a verdict on a sampled item", tag: tagAudit, body: true},
		func(ctx context.Context, c api.Caller, in *struct {
			WriteParams
			IDParam
			Body api.SampleVerdict
		}, w api.Write) (api.Done[api.Sample], error) {
			return s.svc.JudgeSample(ctx, c, in.ID, in.Body, w)
		})
}
