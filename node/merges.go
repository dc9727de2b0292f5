package node

import (
	"context"
	"net/http"

	"cairn/node/api"
	"cairn/node/store"
)

// Merges lists the experiences that gave way to others of their pool: the caller's own, everybody's for the privileged.
func (n *Node) Merges(_ context.Context, c api.Caller, p api.Page) (api.List[api.Merge], error) {
	return inPage(n, c, p, "merges", func(v *store.View, ns *store.Namespace, at page) (api.List[api.Merge], error) {
		visit := func(after []byte, fn func([]byte, *store.Merge) bool) error { return v.AllMerges(ns, after, fn) }
		if !privileged(c) {
			agent, err := v.Agent(ns, c.Agent)
			if err != nil || agent == nil {
				return api.List[api.Merge]{}, orDefault(err, api.NotFound("agent"))
			}
			visit = func(after []byte, fn func([]byte, *store.Merge) bool) error {
				return v.Merges(ns, agent.Number, after, fn)
			}
		}
		return collect(at, visit, func(m *store.Merge) (api.Merge, bool, error) { return renderMerge(m), true, nil })
	})
}

// UndoMerge lets the superseded experience stand on its own again, once. Its author, curators and admins may.
func (n *Node) UndoMerge(ctx context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Merge], error) {
	m, res, err := call[store.Merge](ctx, n, c, w, store.KindUndoMerge, func(v *store.View, ns *store.Namespace) (any, error) {
		eid, err := parseID("path.id", id)
		if err != nil {
			return nil, err
		}
		e, err := v.Experience(ns, eid)
		if err != nil || e == nil || e.Agent != c.Agent && !privileged(c) {
			return nil, orDefault(err, api.NotFound("merge"))
		}
		if (e.Agent != c.Agent || e.Shared()) && !c.Has(api.RoleCurator, api.RoleAdmin) {
			return nil, api.Denied("needs the role curator or admin")
		}
		known, err := v.Merge(ns, e.Owner, e.ID)
		if err != nil || known == nil {
			return nil, orDefault(err, api.NotFound("merge"))
		}
		return store.UndoMerge{From: e.ID, Owner: e.Owner, By: c.Agent}, nil
	})
	if err != nil {
		return api.Done[api.Merge]{}, err
	}
	out := renderMerge(&m)
	out.Index = res.Index
	return done(out, res, http.StatusOK), nil
}

func renderMerge(m *store.Merge) api.Merge {
	out := api.Merge{
		ID: m.From.String(), From: m.From.String(), Into: m.Into.String(), Agent: m.Agent, Cause: m.Cause,
		Support: api.Support{Success: m.Success, Failure: m.Failure}, CreatedAt: api.Time(m.At), UndoneBy: m.UndoneBy,
	}
	if m.UndoneAt != 0 {
		at := api.Time(m.UndoneAt)
		out.UndoneAt = &at
	}
	return out
}
