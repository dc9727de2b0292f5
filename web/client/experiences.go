package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"cairn/node/api"
)

// AddExperience records a lesson directly. Status is 200 with merged_into set when it was a duplicate, else 201.
func (c *Client) AddExperience(ctx context.Context, req api.AddExperience) (api.Done[api.Experience], error) {
	return write[api.Experience](ctx, c, call{method: http.MethodPost, path: path("experiences"), body: req})
}

// Experiences lists what the caller may see.
func (c *Client) Experiences(ctx context.Context, f api.ListFilter) (api.List[api.Experience], error) {
	return get[api.List[api.Experience]](ctx, c, path("experiences"), filterQuery(f))
}

// Experience reads one.
func (c *Client) Experience(ctx context.Context, id string) (api.Experience, error) {
	return get[api.Experience](ctx, c, path("experiences", id), nil)
}

// PatchExperience makes a new version if version is still the current one.
func (c *Client) PatchExperience(ctx context.Context, id string, version int, req api.PatchExperience) (api.Done[api.Experience], error) {
	return write[api.Experience](ctx, c, call{method: http.MethodPatch, path: path("experiences", id), header: ifMatch(version), body: req})
}

// EraseExperience erases it with its lineage if version is still the current one.
func (c *Client) EraseExperience(ctx context.Context, id string, version int) (api.Done[api.Erased], error) {
	return write[api.Erased](ctx, c, call{method: http.MethodDelete, path: path("experiences", id), header: ifMatch(version)})
}

// Erasure says where erased data may still be.
func (c *Client) Erasure(ctx context.Context, receipt string) (api.Erasure, error) {
	return get[api.Erasure](ctx, c, path("erasures", receipt), nil)
}

// RestoreExperience takes an experience back from the archive.
func (c *Client) RestoreExperience(ctx context.Context, id string) (api.Done[api.Experience], error) {
	return write[api.Experience](ctx, c, call{method: http.MethodPost, path: path("experiences", id, "restore")})
}

// NominateExperience puts a private experience forward.
func (c *Client) NominateExperience(ctx context.Context, id string) (api.Done[api.Experience], error) {
	return write[api.Experience](ctx, c, call{method: http.MethodPost, path: path("experiences", id, "nominate")})
}

// Merges lists the experiences that gave way to others.
func (c *Client) Merges(ctx context.Context, p api.Page) (api.List[api.Merge], error) {
	return get[api.List[api.Merge]](ctx, c, path("merges"), pageQuery(p))
}

// UndoMerge lets a merged experience stand on its own again.
func (c *Client) UndoMerge(ctx context.Context, id string) (api.Done[api.Merge], error) {
	return write[api.Merge](ctx, c, call{method: http.MethodPost, path: path("merges", id, "undo")})
}

// Trust explains an experience's trust.
func (c *Client) Trust(ctx context.Context, id string) (api.TrustDetail, error) {
	return get[api.TrustDetail](ctx, c, path("experiences", id, "trust"), nil)
}

// Provenance reads the lineage graph.
func (c *Client) Provenance(ctx context.Context, id string) (api.Graph, error) {
	return get[api.Graph](ctx, c, path("experiences", id, "provenance"), nil)
}

// ProvenanceJSON reads the lineage as a W3C PROV-JSON document.
func (c *Client) ProvenanceJSON(ctx context.Context, id string) (json.RawMessage, error) {
	accept := http.Header{"Accept": {"application/prov+json"}}
	return read[json.RawMessage](ctx, c, call{method: http.MethodGet, path: path("experiences", id, "provenance"), header: accept})
}

// History lists the versions of an experience.
func (c *Client) History(ctx context.Context, id string) (api.List[api.Experience], error) {
	return get[api.List[api.Experience]](ctx, c, path("experiences", id, "history"), nil)
}

// ExperienceReceipts lists the recalls that gave this experience.
func (c *Client) ExperienceReceipts(ctx context.Context, id string, p api.Page) (api.List[api.ReceiptView], error) {
	return get[api.List[api.ReceiptView]](ctx, c, path("experiences", id, "receipts"), pageQuery(p))
}

// Receipts lists what an agent was given; from and to are RFC 3339 times, empty for no bound.
func (c *Client) Receipts(ctx context.Context, agent, from, to string, p api.Page) (api.List[api.ReceiptView], error) {
	q := pageQuery(p)
	setText(q, "agent", agent)
	setText(q, "from", from)
	setText(q, "to", to)
	return get[api.List[api.ReceiptView]](ctx, c, path("receipts"), q)
}

// Meta lists the meta-pool.
func (c *Client) Meta(ctx context.Context, f api.ListFilter) (api.List[api.Experience], error) {
	f.Pool = ""
	return get[api.List[api.Experience]](ctx, c, path("meta"), filterQuery(f))
}

// Candidates lists the shelf.
func (c *Client) Candidates(ctx context.Context, p api.Page) (api.List[api.Experience], error) {
	return get[api.List[api.Experience]](ctx, c, path("candidates"), pageQuery(p))
}

// Buffer lists the gate's buffer.
func (c *Client) Buffer(ctx context.Context, p api.Page) (api.List[api.Experience], error) {
	return get[api.List[api.Experience]](ctx, c, path("buffer"), pageQuery(p))
}

// Promotions lists decisions about the meta-pool; status "" is all.
func (c *Client) Promotions(ctx context.Context, status string, p api.Page) (api.List[api.Promotion], error) {
	q := pageQuery(p)
	setText(q, "status", status)
	return get[api.List[api.Promotion]](ctx, c, path("promotions"), q)
}

// Promotion reads one decision with its inputs.
func (c *Client) Promotion(ctx context.Context, id string) (api.Promotion, error) {
	return get[api.Promotion](ctx, c, path("promotions", id), nil)
}

// ReplayPromotion computes a decision again from its stored inputs. It is a read.
func (c *Client) ReplayPromotion(ctx context.Context, id string) (api.Replay, error) {
	return read[api.Replay](ctx, c, call{method: http.MethodPost, path: path("promotions", id, "replay")})
}

func ifMatch(version int) http.Header {
	if version == 0 {
		return nil
	}
	return http.Header{"If-Match": {strconv.Quote(strconv.Itoa(version))}}
}

func filterQuery(f api.ListFilter) url.Values {
	q := pageQuery(f.Page)
	setText(q, "pool", f.Pool)
	setText(q, "agent", f.Agent)
	setText(q, "task_type", f.TaskType)
	setText(q, "kind", f.Kind)
	setText(q, "status", f.Status)
	setText(q, "tool", f.Tool)
	setText(q, "q", f.Q)
	setText(q, "rpe", f.RPE)
	setText(q, "since", f.Since)
	setText(q, "until", f.Until)
	if f.MinTrust != 0 {
		q.Set("min_trust", strconv.FormatFloat(f.MinTrust, 'g', -1, 64))
	}
	return q
}
