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

// administers finds the namespace a caller may administer under this id; to others it does not exist.
func administers(c api.Caller, id string) (api.Caller, error) {
	if id != c.Namespace && !siteAdmin(c) {
		return c, api.NotFound("namespace")
	}
	if err := needAdmin(c); err != nil {
		return c, err
	}
	c.Namespace = id
	return c, nil
}

// Settings reads a namespace's settings.
func (n *Node) Settings(_ context.Context, c api.Caller, id string) (api.Settings, error) {
	c, err := administers(c, id)
	if err != nil {
		return api.Settings{}, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Settings{}, err
	}
	defer v.Close()
	return renderSettings(ns.Settings), nil
}

// UpdateSettings replaces those settings that the request names.
func (n *Node) UpdateSettings(ctx context.Context, c api.Caller, id string, req api.Settings, w api.Write) (api.Done[api.Settings], error) {
	c, err := administers(c, id)
	if err != nil {
		return api.Done[api.Settings]{}, err
	}
	if err := checkSettings(req); err != nil {
		return api.Done[api.Settings]{}, err
	}
	out, res, err := call[store.Settings](ctx, n, c, w, store.KindSettings, func(_ *store.View, ns *store.Namespace) (any, error) {
		return mergeSettings(ns.Settings, req), nil
	})
	return done(renderSettings(out), res, http.StatusOK), err
}

func checkSettings(s api.Settings) error {
	switch {
	case !federation.Share(s.Share).Valid():
		return api.Invalid("body.share", "must be auto, candidate or never", s.Share)
	case !slices.Contains([]string{"", "rpe", "off", "random"}, s.Gate):
		return api.Invalid("body.gate", "must be rpe, off or random", s.Gate)
	case !slices.Contains([]string{"", "default", "strict"}, s.TrustProfile):
		return api.Invalid("body.trust_profile", "must be default or strict", s.TrustProfile)
	case !slices.Contains([]string{"", "auto", "manual"}, s.Approval):
		return api.Invalid("body.approval", "must be auto or manual", s.Approval)
	case !federation.Probation(s.Probation).Valid():
		return api.Invalid("body.probation", "must be ledger, strict or off", s.Probation)
	case s.Epsilon != nil && !inUnit(*s.Epsilon):
		return api.Invalid("body.epsilon", "must be 0..1", *s.Epsilon)
	case s.QuotaPerDay < 0:
		return api.Invalid("body.quota_per_day", "must not be negative", s.QuotaPerDay)
	case s.QuotaPerOwner < 0:
		return api.Invalid("body.quota_per_principal", "must not be negative", s.QuotaPerOwner)
	case len(s.TaskTypes) > 256:
		return api.Invalid("body.task_types", "must have at most 256 entries", len(s.TaskTypes))
	}
	for name, t := range s.TaskTypes {
		if t.SuccessThreshold != nil && !inUnit(*t.SuccessThreshold) || t.ExpectedReward != nil && !inUnit(*t.ExpectedReward) {
			return api.Invalid("body.task_types."+clip(name), "values must be 0..1", nil)
		}
		if err := checkWeights("body.task_types."+clip(name)+".reward_weights", t.RewardWeights); err != nil {
			return err
		}
	}
	return nil
}

func inUnit(x float64) bool { return x >= 0 && x <= 1 }

func mergeSettings(s store.Settings, req api.Settings) store.Settings {
	if req.Share != "" {
		s.Share = federation.Share(req.Share)
	}
	if req.Gate != "" {
		s.Gate = req.Gate
	}
	if req.Approval != "" {
		s.Approval = req.Approval
	}
	if req.Probation != "" {
		s.Probation = federation.Probation(req.Probation)
	}
	if req.TrustProfile != "" {
		s.TrustProfile = req.TrustProfile
	}
	if req.Epsilon != nil {
		s.Epsilon = micro(*req.Epsilon)
		if s.Epsilon == 0 {
			s.Epsilon = -1
		}
	}
	if req.QuotaPerDay > 0 {
		s.PerDay = req.QuotaPerDay
	}
	if req.QuotaPerOwner > 0 {
		s.PerOwner = req.QuotaPerOwner
	}
	types := map[string]store.TaskType{}
	for k, t := range s.TaskTypes {
		types[k] = t
	}
	for k, t := range req.TaskTypes {
		types[k] = store.TaskType{
			SuccessThreshold: microOr(t.SuccessThreshold, -1), ExpectedReward: microOr(t.ExpectedReward, -1), Weights: weightsOf(t.RewardWeights),
		}
	}
	if len(types) > 0 {
		s.TaskTypes = types
	}
	return s
}

func renderSettings(s store.Settings) api.Settings {
	quota, eps := s.Quota(), epsilonOf(s)
	out := api.Settings{
		Share: string(federation.CombineShare(s.Share)), Gate: s.Gate, TrustProfile: s.TrustProfile, Epsilon: &eps,
		Approval: s.Approval, QuotaPerDay: quota.PerDay, QuotaPerOwner: quota.Items,
	}
	if out.Probation = string(s.Probation); out.Probation == "" {
		out.Probation = string(federation.ProbationLedger)
	}
	if out.Approval == "" {
		out.Approval = "auto"
	}
	if out.Gate == "" {
		out.Gate = "rpe"
	}
	if out.TrustProfile == "" {
		out.TrustProfile = "default"
	}
	for k, t := range s.TaskTypes {
		if out.TaskTypes == nil {
			out.TaskTypes = map[string]api.TaskType{}
		}
		out.TaskTypes[k] = api.TaskType{
			SuccessThreshold: scoreOr(t.SuccessThreshold), ExpectedReward: scoreOr(t.ExpectedReward), RewardWeights: scoresOf(t.Weights),
		}
	}
	return out
}

func epsilonOf(s store.Settings) float64 {
	switch {
	case s.Epsilon < 0:
		return 0
	case s.Epsilon == 0:
		return .1
	}
	return score(s.Epsilon)
}

// score turns micro-units into a number.
func score(m federation.Micro) float64 { return float64(m) / 1e6 }

// micro turns a number into micro-units, rounded to nearest.
func micro(x float64) federation.Micro {
	if x < 0 {
		return -micro(-x)
	}
	return federation.Micro(x*1e6 + .5)
}

func microOr(x *float64, absent federation.Micro) federation.Micro {
	if x == nil {
		return absent
	}
	return micro(*x)
}

func scoreOr(m federation.Micro) *float64 {
	if m < 0 {
		return nil
	}
	x := score(m)
	return &x
}
