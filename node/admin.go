package node

import (
	"context"
	"crypto/sha256"
	"net/http"
	"regexp"
	"slices"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

var (
	namePattern      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	namespacePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	knownRoles       = []string{api.RoleAgent, api.RoleCurator, api.RoleAuditor, api.RoleAdmin, api.RolePeer}
)

func needAdmin(c api.Caller) error {
	if !c.Has(api.RoleAdmin) {
		return api.Denied("needs the role admin")
	}
	return nil
}

// privileged callers read everything in their namespace.
func privileged(c api.Caller) bool { return c.Has(api.RoleAdmin, api.RoleAuditor, api.RoleCurator) }

func siteAdmin(c api.Caller) bool {
	return c.Namespace == store.DefaultNamespace && c.Has(api.RoleAdmin)
}

func checkName(location, s string) error {
	if !namePattern.MatchString(s) {
		return api.Invalid(location, "must be 1..64 letters, digits, dots, dashes or underscores and start with a letter or digit", clip(s))
	}
	return nil
}

func makeKey() (string, store.AgentKey) {
	k := newKey()
	return k, store.AgentKey{ID: ulid.Make().String(), Hash: sha256.Sum256([]byte(k))}
}

// CreateAgent enrols an agent with its first key.
func (n *Node) CreateAgent(ctx context.Context, c api.Caller, req api.CreateAgent, w api.Write) (api.Done[api.CreatedAgent], error) {
	var zero api.Done[api.CreatedAgent]
	if err := needAdmin(c); err != nil {
		return zero, err
	}
	if req.Principal == "" {
		req.Principal = req.ID
	}
	if len(req.Roles) == 0 {
		req.Roles = []string{api.RoleAgent}
	}
	if err := checkAgent(req); err != nil {
		return zero, err
	}
	secret, key := makeKey()
	agent, res, err := call[store.Agent](ctx, n, c, w, store.KindCreateAgent, func(*store.View, *store.Namespace) (any, error) {
		return store.Agent{
			ID: req.ID, Principal: req.Principal, Roles: req.Roles, Environment: req.Environment, Tools: req.Tools,
			Share: federation.Share(req.Share), Keys: []store.AgentKey{key},
		}, nil
	})
	if err != nil {
		return zero, err
	}
	out := api.CreatedAgent{Agent: renderAgent(&agent), Key: &secret, KeyID: agent.Keys[0].ID}
	out.Agent.Keys = nil
	if res.Replayed {
		out.Key = nil
	}
	return done(out, res, http.StatusCreated), nil
}

func checkAgent(req api.CreateAgent) error {
	if err := checkName("body.id", req.ID); err != nil {
		return err
	}
	if err := checkName("body.principal", req.Principal); err != nil {
		return err
	}
	if err := checkRoles(req.Roles); err != nil {
		return err
	}
	if !federation.Share(req.Share).Valid() {
		return api.Invalid("body.share", "must be auto, candidate or never", req.Share)
	}
	return firstError(checkMap("body.environment", req.Environment), checkWords("body.tools", req.Tools, 256))
}

func checkRoles(roles []string) error {
	for _, r := range roles {
		if !slices.Contains(knownRoles, r) {
			return api.Invalid("body.roles", "must be agent, curator, auditor, admin or peer", clip(r))
		}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func renderAgent(a *store.Agent) api.Agent {
	out := api.Agent{
		ID: a.ID, Principal: a.Principal, Roles: orEmpty(a.Roles), Environment: orEmptyMap(a.Environment), Tools: orEmpty(a.Tools),
		Share: string(federation.CombineShare(a.Share)), CreatedAt: api.Time(a.CreatedAt),
	}
	for _, k := range a.Keys {
		out.Keys = append(out.Keys, api.Key{ID: k.ID, CreatedAt: api.Time(k.CreatedAt)})
	}
	return out
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orEmptyMap(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// Agents lists the namespace's agents.
func (n *Node) Agents(_ context.Context, c api.Caller, p api.Page) (api.List[api.Agent], error) {
	if !privileged(c) {
		return api.List[api.Agent]{}, api.Denied("needs the role admin, curator or auditor; an agent reads itself at /v1/agents/me")
	}
	return inPage(n, c, p, "agents", func(v *store.View, ns *store.Namespace, at page) (api.List[api.Agent], error) {
		return collect(at, func(after []byte, fn func([]byte, *store.Agent) bool) error { return v.Agents(ns, after, fn) },
			func(a *store.Agent) (api.Agent, bool, error) { return renderAgent(a), a.RemovedAt == 0, nil })
	})
}

// inPage opens a view for a list; its name says which cursors it takes.
func inPage[T any](n *Node, c api.Caller, p api.Page, list string, fn func(v *store.View, ns *store.Namespace, at page) (T, error)) (T, error) {
	var zero T
	at, err := checkPage(p, list)
	if err != nil {
		return zero, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return zero, err
	}
	defer v.Close()
	return fn(v, ns, at)
}

// Agent reads one agent: itself, or any for the privileged.
func (n *Node) Agent(_ context.Context, c api.Caller, id string) (api.Agent, error) {
	if id != c.Agent && !privileged(c) {
		return api.Agent{}, api.NotFound("agent")
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Agent{}, err
	}
	defer v.Close()
	a, err := v.Agent(ns, id)
	if err != nil || a == nil {
		return api.Agent{}, orDefault(err, api.NotFound("agent"))
	}
	return renderAgent(a), nil
}

// UpdateAgent changes an agent's roles, environment, tools or sharing.
func (n *Node) UpdateAgent(ctx context.Context, c api.Caller, id string, req api.UpdateAgent, w api.Write) (api.Done[api.Agent], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[api.Agent]{}, err
	}
	if req.Roles != nil {
		if err := checkRoles(*req.Roles); err != nil {
			return api.Done[api.Agent]{}, err
		}
	}
	if req.Share != nil && !federation.Share(*req.Share).Valid() {
		return api.Done[api.Agent]{}, api.Invalid("body.share", "must be auto, candidate or never", *req.Share)
	}
	if req.Environment != nil {
		if err := checkMap("body.environment", *req.Environment); err != nil {
			return api.Done[api.Agent]{}, err
		}
	}
	if req.Tools != nil {
		if err := checkWords("body.tools", *req.Tools, 256); err != nil {
			return api.Done[api.Agent]{}, err
		}
	}
	a, res, err := call[store.Agent](ctx, n, c, w, store.KindUpdateAgent, func(*store.View, *store.Namespace) (any, error) {
		return store.UpdateAgent{ID: id, Roles: req.Roles, Environment: req.Environment, Tools: req.Tools, Share: req.Share}, nil
	})
	return done(renderAgent(&a), res, http.StatusOK), err
}

// RemoveAgent ends an agent and its keys; its id is never given again.
func (n *Node) RemoveAgent(ctx context.Context, c api.Caller, id string, w api.Write) (api.Done[struct{}], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[struct{}]{}, err
	}
	_, res, err := call[store.Agent](ctx, n, c, w, store.KindRemoveAgent, func(*store.View, *store.Namespace) (any, error) {
		return store.AgentID{ID: id}, nil
	})
	return done(struct{}{}, res, http.StatusNoContent), err
}

// CreateKey gives an agent another key.
func (n *Node) CreateKey(ctx context.Context, c api.Caller, agent string, w api.Write) (api.Done[api.CreatedKey], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[api.CreatedKey]{}, err
	}
	secret, key := makeKey()
	made, res, err := call[store.AgentKey](ctx, n, c, w, store.KindCreateKey, func(*store.View, *store.Namespace) (any, error) {
		return store.CreateKey{Agent: agent, Key: key}, nil
	})
	out := api.CreatedKey{Key: &secret, KeyID: made.ID, CreatedAt: api.Time(made.CreatedAt)}
	if res.Replayed {
		out.Key = nil
	}
	return done(out, res, http.StatusCreated), err
}

// RemoveKey takes a key away.
func (n *Node) RemoveKey(ctx context.Context, c api.Caller, agent, keyID string, w api.Write) (api.Done[struct{}], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[struct{}]{}, err
	}
	_, res, err := call[store.AgentID](ctx, n, c, w, store.KindRemoveKey, func(*store.View, *store.Namespace) (any, error) {
		return store.RemoveKey{Agent: agent, KeyID: keyID}, nil
	})
	return done(struct{}{}, res, http.StatusNoContent), err
}

// CreatePrincipal admits a principal.
func (n *Node) CreatePrincipal(ctx context.Context, c api.Caller, req api.CreatePrincipal, w api.Write) (api.Done[api.Principal], error) {
	if err := firstError(needAdmin(c), checkName("body.id", req.ID)); err != nil {
		return api.Done[api.Principal]{}, err
	}
	p, res, err := call[store.Principal](ctx, n, c, w, store.KindCreatePrincipal, func(*store.View, *store.Namespace) (any, error) {
		return store.PrincipalID{ID: req.ID}, nil
	})
	if err != nil {
		return api.Done[api.Principal]{}, err
	}
	out, err := n.showPrincipal(c, p.ID)
	return done(out, res, http.StatusCreated), err
}

// UpdatePrincipal vouches for or suspends a principal.
func (n *Node) UpdatePrincipal(ctx context.Context, c api.Caller, id string, req api.UpdatePrincipal, w api.Write) (api.Done[api.Principal], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[api.Principal]{}, err
	}
	p, res, err := call[store.Principal](ctx, n, c, w, store.KindUpdatePrincipal, func(*store.View, *store.Namespace) (any, error) {
		return store.UpdatePrincipal{ID: id, Anchor: req.Anchor, Suspended: req.Suspended}, nil
	})
	if err != nil {
		return api.Done[api.Principal]{}, err
	}
	out, err := n.showPrincipal(c, p.ID)
	return done(out, res, http.StatusOK), err
}

func (n *Node) showPrincipal(c api.Caller, id string) (api.Principal, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Principal{}, err
	}
	defer v.Close()
	p, err := v.Principal(ns, id)
	if err != nil || p == nil {
		return api.Principal{}, orDefault(err, api.NotFound("principal"))
	}
	agents, err := agentsByPrincipal(v, ns)
	if err != nil {
		return api.Principal{}, err
	}
	return renderPrincipal(v, ns, p, agents[p.ID])
}

func agentsByPrincipal(v *store.View, ns *store.Namespace) (map[string][]string, error) {
	out := map[string][]string{}
	err := v.Agents(ns, nil, func(_ []byte, a *store.Agent) bool {
		if a.RemovedAt == 0 {
			out[a.Principal] = append(out[a.Principal], a.ID)
		}
		return true
	})
	return out, err
}

func renderPrincipal(v *store.View, ns *store.Namespace, p *store.Principal, agents []string) (api.Principal, error) {
	rater, err := v.Rater(ns, store.JurorOf("", p.ID, ""))
	if err != nil {
		return api.Principal{}, err
	}
	standing := p.Standing(ns)
	rep := api.Reputation{Weight: score(rater.LW), Mean: .5, Authored: p.Authored, Promoted: p.InMeta, SeatsHeld: p.Seats}
	if rater.LW > 0 {
		rep.Mean = float64(rater.LS) / float64(rater.LW)
		rep.Leniency = (score(rater.LS) - .5*score(rater.LW)) / (score(rater.LW) + 10)
	}
	return api.Principal{
		ID: p.ID, AdmittedAt: api.Time(p.AdmittedAt), Anchor: p.Anchor, Suspended: p.Suspended,
		Founder:  p.AdmittedAt-ns.CreatedAt < 14*24*3_600_000,
		Standing: federation.GoodStanding(standing, v.Now()), Agents: orEmpty(agents), Reputation: rep,
	}, nil
}

// Principals lists who was admitted, with what their reports look like.
func (n *Node) Principals(_ context.Context, c api.Caller, p api.Page) (api.List[api.Principal], error) {
	if !privileged(c) {
		return api.List[api.Principal]{}, api.Denied("needs the role admin, curator or auditor")
	}
	return inPage(n, c, p, "principals", func(v *store.View, ns *store.Namespace, at page) (api.List[api.Principal], error) {
		agents, err := agentsByPrincipal(v, ns)
		if err != nil {
			return api.List[api.Principal]{}, err
		}
		return collect(at, func(after []byte, fn func([]byte, *store.Principal) bool) error { return v.Principals(ns, after, fn) },
			func(p *store.Principal) (api.Principal, bool, error) {
				out, err := renderPrincipal(v, ns, p, agents[p.ID])
				return out, true, err
			})
	})
}

// CreateNamespace makes a tenant and its admin's key. Only an admin of the default namespace may.
func (n *Node) CreateNamespace(ctx context.Context, c api.Caller, req api.CreateNamespace, w api.Write) (api.Done[api.Namespace], error) {
	if !siteAdmin(c) {
		return api.Done[api.Namespace]{}, api.Denied("needs an admin of the default namespace")
	}
	if !namespacePattern.MatchString(req.ID) {
		return api.Done[api.Namespace]{}, api.Invalid("body.id", "must be 1..64 lower-case letters, digits or dashes", clip(req.ID))
	}
	secret, key := makeKey()
	ns, res, err := call[store.Namespace](ctx, n, c, w, store.KindCreateNamespace, func(*store.View, *store.Namespace) (any, error) {
		return store.CreateNamespace{ID: req.ID, Admin: key}, nil
	})
	if err != nil {
		return api.Done[api.Namespace]{}, err
	}
	out := api.Namespace{ID: ns.ID, CreatedAt: api.Time(ns.CreatedAt), AdminKey: &secret}
	if res.Replayed {
		out.AdminKey = nil
	}
	return done(out, res, http.StatusCreated), nil
}

// Namespaces lists the tenants for a site admin, else the caller's own.
func (n *Node) Namespaces(_ context.Context, c api.Caller, p api.Page) (api.List[api.Namespace], error) {
	if err := needAdmin(c); err != nil {
		return api.List[api.Namespace]{}, err
	}
	return inPage(n, c, p, "namespaces", func(v *store.View, own *store.Namespace, at page) (api.List[api.Namespace], error) {
		return collect(at, v.Namespaces, func(ns *store.Namespace) (api.Namespace, bool, error) {
			return api.Namespace{ID: ns.ID, CreatedAt: api.Time(ns.CreatedAt)}, siteAdmin(c) || ns.ID == own.ID, nil
		})
	})
}
