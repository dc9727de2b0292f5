package web

import (
	"context"
	"io"
	"time"

	"cairn/node/api"
)

// The calls of api.Service that note what they were given and answer with what the test has laid out.

func (f *fake) CreateAgent(_ context.Context, c api.Caller, req api.CreateAgent, w api.Write) (api.Done[api.CreatedAgent], error) {
	return give[api.Done[api.CreatedAgent]](f, "CreateAgent", c, req, w)
}

func (f *fake) Agents(_ context.Context, c api.Caller, p api.Page) (api.List[api.Agent], error) {
	return give[api.List[api.Agent]](f, "Agents", c, p)
}

func (f *fake) Agent(_ context.Context, c api.Caller, id string) (api.Agent, error) {
	return give[api.Agent](f, "Agent", c, id)
}

func (f *fake) UpdateAgent(_ context.Context, c api.Caller, id string, req api.UpdateAgent, w api.Write) (api.Done[api.Agent], error) {
	return give[api.Done[api.Agent]](f, "UpdateAgent", c, id, req, w)
}

func (f *fake) RemoveAgent(_ context.Context, c api.Caller, id string, w api.Write) (api.Done[struct{}], error) {
	return give[api.Done[struct{}]](f, "RemoveAgent", c, id, w)
}

func (f *fake) CreateKey(_ context.Context, c api.Caller, agent string, w api.Write) (api.Done[api.CreatedKey], error) {
	return give[api.Done[api.CreatedKey]](f, "CreateKey", c, agent, w)
}

func (f *fake) RemoveKey(_ context.Context, c api.Caller, agent, keyID string, w api.Write) (api.Done[struct{}], error) {
	return give[api.Done[struct{}]](f, "RemoveKey", c, agent, keyID, w)
}

func (f *fake) CreatePrincipal(_ context.Context, c api.Caller, req api.CreatePrincipal, w api.Write) (api.Done[api.Principal], error) {
	return give[api.Done[api.Principal]](f, "CreatePrincipal", c, req, w)
}

func (f *fake) Principals(_ context.Context, c api.Caller, p api.Page) (api.List[api.Principal], error) {
	return give[api.List[api.Principal]](f, "Principals", c, p)
}

func (f *fake) UpdatePrincipal(_ context.Context, c api.Caller, id string, req api.UpdatePrincipal, w api.Write) (api.Done[api.Principal], error) {
	return give[api.Done[api.Principal]](f, "UpdatePrincipal", c, id, req, w)
}

func (f *fake) CreateNamespace(_ context.Context, c api.Caller, req api.CreateNamespace, w api.Write) (api.Done[api.Namespace], error) {
	return give[api.Done[api.Namespace]](f, "CreateNamespace", c, req, w)
}

func (f *fake) Namespaces(_ context.Context, c api.Caller, p api.Page) (api.List[api.Namespace], error) {
	return give[api.List[api.Namespace]](f, "Namespaces", c, p)
}

func (f *fake) Settings(_ context.Context, c api.Caller, namespace string) (api.Settings, error) {
	return give[api.Settings](f, "Settings", c, namespace)
}

func (f *fake) UpdateSettings(_ context.Context, c api.Caller, namespace string, req api.Settings, w api.Write) (api.Done[api.Settings], error) {
	return give[api.Done[api.Settings]](f, "UpdateSettings", c, namespace, req, w)
}

func (f *fake) Models(_ context.Context, c api.Caller) (api.Models, error) {
	return give[api.Models](f, "Models", c)
}

func (f *fake) Reflect(_ context.Context, c api.Caller, req api.ReflectRequest, w api.Write) (api.Done[api.RetryAdvice], error) {
	return give[api.Done[api.RetryAdvice]](f, "Reflect", c, req, w)
}

func (f *fake) RetryOutcome(_ context.Context, c api.Caller, id string, req api.RetryRequest, w api.Write) (api.Done[api.RetryAdvice], error) {
	return give[api.Done[api.RetryAdvice]](f, "RetryOutcome", c, id, req, w)
}

func (f *fake) RecordTrajectory(_ context.Context, c api.Caller, req api.RecordTrajectory, wait time.Duration, w api.Write) (api.Done[api.RecordedTrajectory], error) {
	return give[api.Done[api.RecordedTrajectory]](f, "RecordTrajectory", c, req, wait, w)
}

func (f *fake) Trajectory(_ context.Context, c api.Caller, id string) (api.Trajectory, error) {
	return give[api.Trajectory](f, "Trajectory", c, id)
}

func (f *fake) AddExperience(_ context.Context, c api.Caller, req api.AddExperience, w api.Write) (api.Done[api.Experience], error) {
	return give[api.Done[api.Experience]](f, "AddExperience", c, req, w)
}

func (f *fake) Experiences(_ context.Context, c api.Caller, filter api.ListFilter) (api.List[api.Experience], error) {
	return give[api.List[api.Experience]](f, "Experiences", c, filter)
}

func (f *fake) Experience(_ context.Context, c api.Caller, id string) (api.Experience, error) {
	return give[api.Experience](f, "Experience", c, id)
}

func (f *fake) PatchExperience(_ context.Context, c api.Caller, id string, version int, req api.PatchExperience, w api.Write) (api.Done[api.Experience], error) {
	return give[api.Done[api.Experience]](f, "PatchExperience", c, id, version, req, w)
}

func (f *fake) EraseExperience(_ context.Context, c api.Caller, id string, version int, w api.Write) (api.Done[api.Erased], error) {
	return give[api.Done[api.Erased]](f, "EraseExperience", c, id, version, w)
}

func (f *fake) Erasure(_ context.Context, c api.Caller, receipt string) (api.Erasure, error) {
	return give[api.Erasure](f, "Erasure", c, receipt)
}

func (f *fake) RestoreExperience(_ context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Experience], error) {
	return give[api.Done[api.Experience]](f, "RestoreExperience", c, id, w)
}

func (f *fake) NominateExperience(_ context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Experience], error) {
	return give[api.Done[api.Experience]](f, "NominateExperience", c, id, w)
}

func (f *fake) Merges(_ context.Context, c api.Caller, p api.Page) (api.List[api.Merge], error) {
	return give[api.List[api.Merge]](f, "Merges", c, p)
}

func (f *fake) UndoMerge(_ context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Merge], error) {
	return give[api.Done[api.Merge]](f, "UndoMerge", c, id, w)
}

func (f *fake) Trust(_ context.Context, c api.Caller, id string) (api.TrustDetail, error) {
	return give[api.TrustDetail](f, "Trust", c, id)
}

func (f *fake) Provenance(_ context.Context, c api.Caller, id string) (api.Graph, error) {
	return give[api.Graph](f, "Provenance", c, id)
}

func (f *fake) History(_ context.Context, c api.Caller, id string) (api.List[api.Experience], error) {
	return give[api.List[api.Experience]](f, "History", c, id)
}

func (f *fake) ExperienceReceipts(_ context.Context, c api.Caller, id string, p api.Page) (api.List[api.ReceiptView], error) {
	return give[api.List[api.ReceiptView]](f, "ExperienceReceipts", c, id, p)
}

func (f *fake) Receipts(_ context.Context, c api.Caller, agent, from, to string, p api.Page) (api.List[api.ReceiptView], error) {
	return give[api.List[api.ReceiptView]](f, "Receipts", c, agent, from, to, p)
}

func (f *fake) Meta(_ context.Context, c api.Caller, filter api.ListFilter) (api.List[api.Experience], error) {
	return give[api.List[api.Experience]](f, "Meta", c, filter)
}

func (f *fake) Candidates(_ context.Context, c api.Caller, p api.Page) (api.List[api.Experience], error) {
	return give[api.List[api.Experience]](f, "Candidates", c, p)
}

func (f *fake) Buffer(_ context.Context, c api.Caller, p api.Page) (api.List[api.Experience], error) {
	return give[api.List[api.Experience]](f, "Buffer", c, p)
}

func (f *fake) Promotions(_ context.Context, c api.Caller, status string, p api.Page) (api.List[api.Promotion], error) {
	return give[api.List[api.Promotion]](f, "Promotions", c, status, p)
}

func (f *fake) Promotion(_ context.Context, c api.Caller, id string) (api.Promotion, error) {
	return give[api.Promotion](f, "Promotion", c, id)
}

func (f *fake) ReplayPromotion(_ context.Context, c api.Caller, id string) (api.Replay, error) {
	return give[api.Replay](f, "ReplayPromotion", c, id)
}

func (f *fake) Recall(_ context.Context, c api.Caller, req api.RecallRequest) (api.RecallAnswer, error) {
	return give[api.RecallAnswer](f, "Recall", c, req)
}

func (f *fake) Outcome(_ context.Context, c api.Caller, receipt string, req api.OutcomeRequest, w api.Write) (api.Done[api.OutcomeAnswer], error) {
	return give[api.Done[api.OutcomeAnswer]](f, "Outcome", c, receipt, req, w)
}

func (f *fake) Jobs(_ context.Context, c api.Caller, status string, p api.Page) (api.List[api.Job], error) {
	return give[api.List[api.Job]](f, "Jobs", c, status, p)
}

func (f *fake) RetryJob(_ context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Job], error) {
	return give[api.Done[api.Job]](f, "RetryJob", c, id, w)
}

func (f *fake) Stats(_ context.Context, c api.Caller) (api.Stats, error) {
	return give[api.Stats](f, "Stats", c)
}

func (f *fake) PredictorStats(_ context.Context, c api.Caller) (api.PredictorStats, error) {
	return give[api.PredictorStats](f, "PredictorStats", c)
}

func (f *fake) Cluster(_ context.Context, c api.Caller) (api.Cluster, error) {
	return give[api.Cluster](f, "Cluster", c)
}

func (f *fake) Curate(_ context.Context, c api.Caller, id, action string, req api.CurateRequest, w api.Write) (api.Done[api.Curated], error) {
	return give[api.Done[api.Curated]](f, "Curate", c, id, action, req, w)
}

func (f *fake) DecidePromotion(_ context.Context, c api.Caller, id string, approve bool, req api.DecideRequest, w api.Write) (api.Done[api.Promotion], error) {
	return give[api.Done[api.Promotion]](f, "DecidePromotion", c, id, approve, req, w)
}

func (f *fake) SignedPromotion(_ context.Context, c api.Caller, id string) (api.SignedPromotion, error) {
	return give[api.SignedPromotion](f, "SignedPromotion", c, id)
}

func (f *fake) PreviewSettings(_ context.Context, c api.Caller, namespace string, req api.Settings) (api.SettingsPreview, error) {
	return give[api.SettingsPreview](f, "PreviewSettings", c, namespace, req)
}

func (f *fake) Alerts(_ context.Context, c api.Caller) (api.List[api.Alert], error) {
	return give[api.List[api.Alert]](f, "Alerts", c)
}

func (f *fake) Ledger(_ context.Context, c api.Caller, reader string, p api.Page) (api.List[api.LedgerEntry], error) {
	return give[api.List[api.LedgerEntry]](f, "Ledger", c, reader, p)
}

func (f *fake) AuditSamples(_ context.Context, c api.Caller, n int) (api.Samples, error) {
	return give[api.Samples](f, "AuditSamples", c, n)
}

func (f *fake) JudgeSample(_ context.Context, c api.Caller, id string, req api.SampleVerdict, w api.Write) (api.Done[api.Sample], error) {
	return give[api.Done[api.Sample]](f, "JudgeSample", c, id, req, w)
}

func (f *fake) AddNode(_ context.Context, c api.Caller, req api.AddNode) (api.AddedNode, error) {
	return give[api.AddedNode](f, "AddNode", c, req)
}

func (f *fake) RemoveNode(_ context.Context, c api.Caller, id string) (api.Done[struct{}], error) {
	return give[api.Done[struct{}]](f, "RemoveNode", c, id)
}

func (f *fake) Reembed(_ context.Context, c api.Caller, dryRun bool) (api.Done[api.Reembedding], error) {
	return give[api.Done[api.Reembedding]](f, "Reembed", c, dryRun)
}

func (f *fake) TransferLeadership(_ context.Context, c api.Caller, req api.Transfer) (api.Done[api.Cluster], error) {
	return give[api.Done[api.Cluster]](f, "TransferLeadership", c, req)
}

func (f *fake) Backup(_ context.Context, c api.Caller, w io.Writer) error {
	text, err := give[string](f, "Backup", c)
	if text != "" {
		if _, werr := io.WriteString(w, text); werr != nil {
			return werr
		}
	}
	return err
}

func (f *fake) Restore(_ context.Context, c api.Caller, r io.Reader, dryRun bool) (api.Restored, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return api.Restored{}, err
	}
	return give[api.Restored](f, "Restore", c, string(body), dryRun)
}
