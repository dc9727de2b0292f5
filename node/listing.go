package node

import (
	"context"
	"slices"
	"strings"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// listing is a checked ListFilter.
type listing struct {
	api.ListFilter
	since, until int64
	owner        *uint32
	meta, shelf  bool
}

func checkList(f api.ListFilter) (listing, error) {
	out := listing{ListFilter: f}
	var err error
	if out.since, err = checkTime("query.since", f.Since); err != nil {
		return out, err
	}
	if out.until, err = checkTime("query.until", f.Until); err != nil {
		return out, err
	}
	switch {
	case f.Kind != "" && !federation.Kind(f.Kind).Valid():
		return out, api.Invalid("query.kind", "is not a kind of experience", clip(f.Kind))
	case f.Status != "" && !federation.Status(f.Status).Valid():
		return out, api.Invalid("query.status", "is not a status of an experience", clip(f.Status))
	case !inUnit(f.MinTrust):
		return out, api.Invalid("query.min_trust", "must be 0..1", f.MinTrust)
	case f.Agent != "" && checkName("query.agent", f.Agent) != nil:
		return out, checkName("query.agent", f.Agent)
	}
	return out, firstError(checkChoice("query.rpe", f.RPE, "", "positive", "negative"), checkTaskType("query.task_type", f.TaskType))
}

func (l *listing) keeps(e *store.Experience) bool {
	switch {
	case l.meta && e.PromotedAt == 0, l.shelf && e.Status != federation.StatusCandidate,
		l.Agent != "" && e.Agent != l.Agent, l.TaskType != "" && e.TaskType != l.TaskType,
		l.Kind != "" && string(e.Kind) != l.Kind, l.Status != "" && string(e.Status) != l.Status,
		l.Tool != "" && !slices.Contains(e.Tools, l.Tool),
		l.MinTrust > 0 && (e.Trust == nil || score(e.Trust.Trust) < l.MinTrust),
		l.RPE == "positive" && e.RPE <= 0, l.RPE == "negative" && e.RPE >= 0,
		l.since != 0 && e.CreatedAt < l.since, l.until != 0 && e.CreatedAt > l.until:
		return false
	}
	if l.Q == "" {
		return true
	}
	q := federation.NormalizeText(l.Q)
	return strings.Contains(federation.NormalizeText(e.Scenario+"\n"+e.Content+"\n"+strings.Join(e.Keywords, " ")), q)
}

// Experiences lists what the caller may see, oldest first within a pool.
func (n *Node) Experiences(_ context.Context, c api.Caller, f api.ListFilter) (api.List[api.Experience], error) {
	l, err := checkList(f)
	if err != nil {
		return api.List[api.Experience]{}, err
	}
	return inPage(n, c, f.Page, "experiences "+f.Pool, func(v *store.View, ns *store.Namespace, at page) (api.List[api.Experience], error) {
		if err := l.scope(v, ns, c); err != nil {
			return api.List[api.Experience]{}, err
		}
		return n.list(v, ns, c, &l, at)
	})
}

// scope turns the pool asked for into an owner.
func (l *listing) scope(v *store.View, ns *store.Namespace, c api.Caller) error {
	shared := store.SharedOwner
	switch {
	case l.Pool == "meta":
		l.owner, l.meta = &shared, true
	case l.Pool == "candidates":
		l.owner, l.shelf = &shared, true
	case l.Pool == "own":
		return l.scopeAgent(v, ns, c.Agent)
	case strings.HasPrefix(l.Pool, "agent:"):
		id := strings.TrimPrefix(l.Pool, "agent:")
		if err := checkName("query.pool", id); err != nil {
			return err
		}
		if id != c.Agent && !privileged(c) {
			return api.NotFound("pool")
		}
		return l.scopeAgent(v, ns, id)
	case l.Pool != "":
		return api.Invalid("query.pool", "must be own, meta, candidates or agent:<id>", clip(l.Pool))
	}
	return nil
}

func (l *listing) scopeAgent(v *store.View, ns *store.Namespace, id string) error {
	a, err := v.Agent(ns, id)
	if err != nil || a == nil {
		return orDefault(err, api.NotFound("agent"))
	}
	l.owner = &a.Number
	return nil
}

func (n *Node) list(v *store.View, ns *store.Namespace, c api.Caller, l *listing, at page) (api.List[api.Experience], error) {
	visit := func(after []byte, fn func([]byte, *store.Experience) bool) error { return v.All(ns, after, fn) }
	if l.owner != nil {
		visit = func(after []byte, fn func([]byte, *store.Experience) bool) error {
			return v.Pool(ns, *l.owner, after, fn)
		}
	}
	return collect(at, visit, func(e *store.Experience) (api.Experience, bool, error) {
		if !l.keeps(e) {
			return api.Experience{}, false, nil
		}
		ok, err := n.lists(v, ns, c, e)
		if err != nil || !ok {
			return api.Experience{}, false, err
		}
		return n.render(v, c, e), true, nil
	})
}

// lists is who sees an experience in a list: as sees, but a candidate is listed to its own agent only.
func (n *Node) lists(v *store.View, ns *store.Namespace, c api.Caller, e *store.Experience) (bool, error) {
	if e.Shared() && e.PromotedAt == 0 && e.Agent != c.Agent && !privileged(c) {
		return false, nil
	}
	return n.sees(v, ns, c, e)
}

// Meta lists the meta-pool.
func (n *Node) Meta(ctx context.Context, c api.Caller, f api.ListFilter) (api.List[api.Experience], error) {
	f.Pool = "meta"
	if f.Status == "" {
		f.Status = string(federation.StatusPromoted)
	}
	return n.Experiences(ctx, c, f)
}

// Candidates lists the shelf; an agent sees its own.
func (n *Node) Candidates(ctx context.Context, c api.Caller, p api.Page) (api.List[api.Experience], error) {
	return n.Experiences(ctx, c, api.ListFilter{Pool: "candidates", Page: p})
}

// Buffer lists the gate's buffer: the caller's own, all of the namespace for the privileged.
func (n *Node) Buffer(ctx context.Context, c api.Caller, p api.Page) (api.List[api.Experience], error) {
	return n.Experiences(ctx, c, api.ListFilter{Status: string(federation.StatusBuffered), Page: p})
}

// History lists the versions of an experience, oldest first.
func (n *Node) History(_ context.Context, c api.Caller, id string) (api.List[api.Experience], error) {
	return withExperience(n, c, id, func(v *store.View, ns *store.Namespace, e *store.Experience) (api.List[api.Experience], error) {
		out := api.List[api.Experience]{Items: []api.Experience{}}
		for version := 1; version < e.Version; version++ {
			old, err := v.VersionOf(ns.Number, e.Owner, e.ID, version)
			if err != nil {
				return out, err
			}
			if old != nil {
				out.Items = append(out.Items, n.render(v, c, old))
			}
		}
		out.Items = append(out.Items, n.render(v, c, e))
		return out, nil
	})
}
