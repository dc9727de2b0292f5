package store

import (
	"slices"
	"strings"
	"unicode"
)

// DefaultNamespace is the tenant of callers that name none; its admins administer the site.
const DefaultNamespace = "default"

// AdminID names the agent and the principal that a namespace is born with.
const AdminID = "admin"

// Site is the identity of the cluster. Key signs receipts; it never leaves the state.
type Site struct {
	ID        string   `cbor:"1,keyasint"`
	Epoch     uint64   `cbor:"2,keyasint"`
	Key       [32]byte `cbor:"3,keyasint"`
	CreatedAt int64    `cbor:"4,keyasint"`
	LastNS    uint32   `cbor:"5,keyasint"`
}

// Bootstrap makes the site and its default namespace, once; later ones find it made.
type Bootstrap struct {
	Site  string   `cbor:"1,keyasint"`
	Key   [32]byte `cbor:"2,keyasint"`
	Admin AgentKey `cbor:"3,keyasint"`
}

// Bootstrapped is the site as it stands; Made says that this command made it.
type Bootstrapped struct {
	Site string `cbor:"1,keyasint"`
	Made bool   `cbor:"2,keyasint,omitempty"`
}

func siteKey() keyBuf { return key(kindMeta).str(string(metaSite)) }

func applyBootstrap(t *txn, b *Bootstrap) (any, *Reject) {
	var site Site
	if t.get(siteKey(), &site) {
		return Bootstrapped{Site: site.ID}, nil
	}
	if !validName(b.Site) {
		return nil, rejectField("body.site", nameRule)
	}
	site = Site{ID: b.Site, Epoch: 1, Key: b.Key, CreatedAt: t.now}
	t.makeNamespace(&site, DefaultNamespace, b.Admin)
	t.put(siteKey(), site)
	return Bootstrapped{Site: site.ID, Made: true}, nil
}

// CreateNamespace makes a tenant with its own admin.
type CreateNamespace struct {
	ID    string   `cbor:"1,keyasint"`
	Admin AgentKey `cbor:"2,keyasint"`
}

func applyCreateNamespace(t *txn, b *CreateNamespace) (any, *Reject) {
	if !validName(b.ID) {
		return nil, rejectField("body.id", nameRule)
	}
	if t.has(key(kindNamespace).str(b.ID)) {
		return nil, reject("conflict", "namespace exists")
	}
	if rej := t.freeKey(b.Admin); rej != nil {
		return nil, rej
	}
	var site Site
	if !t.get(siteKey(), &site) {
		return nil, reject("unavailable", "the site is not bootstrapped")
	}
	caller, dirty := t.ns, t.nsDirty
	made := t.makeNamespace(&site, b.ID, b.Admin)
	t.ns, t.nsDirty = caller, dirty
	t.put(siteKey(), site)
	return made, nil
}

func (t *txn) makeNamespace(site *Site, id string, admin AgentKey) Namespace {
	site.LastNS++
	t.ns = &Namespace{ID: id, Number: site.LastNS, CreatedAt: t.now}
	admin.CreatedAt = t.now
	t.addAgent(Agent{ID: AdminID, Principal: AdminID, Roles: []string{"admin"}, Keys: []AgentKey{admin}})
	t.put(key(kindNamespace).str(id), t.ns)
	t.put(key(kindNamespaceNumber).u32(t.ns.Number), id)
	t.nsDirty = false
	return *t.ns
}

func applySettings(t *txn, b *Settings) (any, *Reject) {
	t.ns.Settings = *b
	t.nsDirty = true
	return b, nil
}

// PrincipalID names a principal.
type PrincipalID struct {
	ID string `cbor:"1,keyasint"`
}

func (t *txn) principalKey(id string) keyBuf { return nsKey(kindPrincipal, t.ns.Number).str(id) }

func (t *txn) principal(id string) (Principal, bool) {
	var p Principal
	ok := t.get(t.principalKey(id), &p)
	return p, ok
}

func applyCreatePrincipal(t *txn, b *PrincipalID) (any, *Reject) {
	if !validName(b.ID) {
		return nil, rejectField("body.id", nameRule)
	}
	if _, ok := t.principal(b.ID); ok {
		return nil, reject("conflict", "principal exists")
	}
	p := Principal{ID: b.ID, AdmittedAt: t.now}
	t.put(t.principalKey(b.ID), p)
	return p, nil
}

// UpdatePrincipal changes how a principal is regarded; nil leaves a field as it is.
type UpdatePrincipal struct {
	ID        string `cbor:"1,keyasint"`
	Anchor    *bool  `cbor:"2,keyasint,omitempty"`
	Suspended *bool  `cbor:"3,keyasint,omitempty"`
}

func applyUpdatePrincipal(t *txn, b *UpdatePrincipal) (any, *Reject) {
	p, ok := t.principal(b.ID)
	if !ok {
		return nil, reject("not_found", "principal not found")
	}
	if b.Anchor != nil {
		p.Anchor = *b.Anchor
	}
	if b.Suspended != nil {
		p.Suspended = *b.Suspended
		if p.Suspended {
			t.dropLedger(p.ID)
		}
	}
	t.put(t.principalKey(b.ID), p)
	return p, nil
}

// eachPrincipal visits the namespace's principals in order of id.
func (t *txn) eachPrincipal(fn func(Principal)) {
	t.scan(nsKey(kindPrincipal, t.ns.Number), func(_, v []byte) bool {
		var p Principal
		if err := decodeValue(v, &p); err != nil {
			t.fail(err)
			return false
		}
		fn(p)
		return true
	})
}

func (t *txn) agentKey(id string) keyBuf { return nsKey(kindAgent, t.ns.Number).str(id) }

// agent returns an agent that is not removed.
func (t *txn) agent(id string) (Agent, bool) {
	var a Agent
	ok := t.get(t.agentKey(id), &a) && a.RemovedAt == 0
	return a, ok
}

func (t *txn) addAgent(a Agent) Agent {
	t.ns.LastAgent++
	t.nsDirty = true
	a.Number, a.CreatedAt, a.RemovedAt = t.ns.LastAgent, t.now, 0
	for i := range a.Keys {
		a.Keys[i].CreatedAt = t.now
		t.put(key(kindKeyHash).hash(a.Keys[i].Hash), KeyRef{t.ns.ID, a.ID, a.Keys[i].ID})
	}
	p, ok := t.principal(a.Principal)
	if !ok {
		p = Principal{ID: a.Principal, AdmittedAt: t.now}
	}
	p.Agents++
	if a.judge() {
		p.Judges++
	}
	t.put(t.principalKey(p.ID), p)
	t.put(t.agentKey(a.ID), a)
	t.put(nsKey(kindAgentNumber, t.ns.Number).u32(a.Number), a.ID)
	t.count("agents", 1)
	return a
}

func applyCreateAgent(t *txn, b *Agent) (any, *Reject) {
	if t.has(t.agentKey(b.ID)) {
		return nil, reject("conflict", "agent exists, or existed: an id is never given to another agent")
	}
	if rej := t.checkAgent(b); rej != nil {
		return nil, rej
	}
	a := t.addAgent(*b)
	t.event(Event{Type: "agent.enrolled", Agent: a.ID, Principal: a.Principal})
	return a, nil
}

func (t *txn) checkAgent(a *Agent) *Reject {
	switch {
	case !validName(a.ID):
		return rejectField("body.id", nameRule)
	case !validName(a.Principal):
		return rejectField("body.principal", nameRule)
	case !a.Share.Valid():
		return rejectField("body.share", "must be auto, candidate or never")
	case len(a.Keys) > maxKeys:
		return rejectField("body.keys", "at most 32 keys")
	}
	for i, k := range a.Keys {
		if rej := t.freeKey(k); rej != nil {
			return rej
		}
		if slices.ContainsFunc(a.Keys[:i], func(x AgentKey) bool { return x.ID == k.ID || x.Hash == k.Hash }) {
			return reject("conflict", "a key is named twice")
		}
	}
	return nil
}

// freeKey refuses a key that somebody has: its look-up would lead to the later owner.
func (t *txn) freeKey(k AgentKey) *Reject {
	if k.Hash == ([32]byte{}) || t.has(key(kindKeyHash).hash(k.Hash)) {
		return reject("conflict", "the key is empty or in use")
	}
	return nil
}

const (
	maxName  = 128
	nameRule = "must be 1..128 characters without control characters"
)

// validName keeps names apart in keys: a zero byte ends a name that more parts follow. The wire contract is stricter.
func validName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, unicode.IsControl)
}

// UpdateAgent changes an agent; nil leaves a field as it is.
type UpdateAgent struct {
	ID          string             `cbor:"1,keyasint"`
	Roles       *[]string          `cbor:"2,keyasint,omitempty"`
	Environment *map[string]string `cbor:"3,keyasint,omitempty"`
	Tools       *[]string          `cbor:"4,keyasint,omitempty"`
	Share       *string            `cbor:"5,keyasint,omitempty"`
}

func applyUpdateAgent(t *txn, b *UpdateAgent) (any, *Reject) {
	a, ok := t.agent(b.ID)
	if !ok {
		return nil, reject("not_found", "agent not found")
	}
	was := a.judge()
	if b.Roles != nil {
		next := a
		next.Roles = *b.Roles
		if rej := t.keepAdmin(&a, &next); rej != nil {
			return nil, rej
		}
		a = next
	}
	if b.Environment != nil {
		a.Environment = *b.Environment
	}
	if b.Tools != nil {
		a.Tools = *b.Tools
	}
	if b.Share != nil && !shareOf(*b.Share).Valid() {
		return nil, rejectField("body.share", "must be auto, candidate or never")
	}
	if b.Share != nil {
		a.Share = shareOf(*b.Share)
	}
	t.put(t.agentKey(a.ID), a)
	t.moveJudge(a.Principal, was, a.judge(), 0)
	t.event(Event{Type: "agent.updated", Agent: a.ID, Principal: a.Principal})
	return a, nil
}

// keepAdmin refuses a change of an agent, from was to next (nil: removed), after which nobody could administer the
// namespace: only an admin with a key can make another one, so that there would be no way back.
func (t *txn) keepAdmin(was, next *Agent) *Reject {
	if !was.administers() || next != nil && next.administers() {
		return nil
	}
	others := false
	t.eachAgent(func(a Agent) { others = others || a.ID != was.ID && a.administers() })
	if others {
		return nil
	}
	return reject("conflict", "this is the namespace's last admin with a key; make another admin first")
}

func (t *txn) moveJudge(principal string, was, is bool, agents int) {
	p, ok := t.principal(principal)
	if !ok || was == is && agents == 0 {
		return
	}
	p.Agents += agents
	if was {
		p.Judges--
	}
	if is {
		p.Judges++
	}
	t.put(t.principalKey(p.ID), p)
}

// AgentID names an agent.
type AgentID struct {
	ID string `cbor:"1,keyasint"`
}

func applyRemoveAgent(t *txn, b *AgentID) (any, *Reject) {
	a, ok := t.agent(b.ID)
	if !ok {
		return nil, reject("not_found", "agent not found")
	}
	if rej := t.keepAdmin(&a, nil); rej != nil {
		return nil, rej
	}
	was := a.judge()
	for _, k := range a.Keys {
		t.del(key(kindKeyHash).hash(k.Hash))
	}
	a.Keys, a.RemovedAt = nil, max(t.now, 1)
	t.put(t.agentKey(a.ID), a)
	t.moveJudge(a.Principal, was, false, -1)
	t.count("agents", -1)
	t.forgetReflectionsOf(a.Number)
	t.event(Event{Type: "agent.removed", Agent: a.ID, Principal: a.Principal})
	return a, nil
}

// maxKeys bounds the keys of one agent.
const maxKeys = 32

// CreateKey adds a key to an agent.
type CreateKey struct {
	Agent string   `cbor:"1,keyasint"`
	Key   AgentKey `cbor:"2,keyasint"`
}

func applyCreateKey(t *txn, b *CreateKey) (any, *Reject) {
	a, ok := t.agent(b.Agent)
	if !ok {
		return nil, reject("not_found", "agent not found")
	}
	if len(a.Keys) >= maxKeys {
		return nil, reject("conflict", "an agent has at most 32 keys; remove one first")
	}
	if rej := t.freeKey(b.Key); rej != nil {
		return nil, rej
	}
	if slices.ContainsFunc(a.Keys, func(k AgentKey) bool { return k.ID == b.Key.ID }) {
		return nil, reject("conflict", "the agent has a key of this id")
	}
	b.Key.CreatedAt = t.now
	a.Keys = append(a.Keys, b.Key)
	t.put(key(kindKeyHash).hash(b.Key.Hash), KeyRef{t.ns.ID, a.ID, b.Key.ID})
	t.put(t.agentKey(a.ID), a)
	return b.Key, nil
}

// RemoveKey takes a key away; it is refused from then on.
type RemoveKey struct {
	Agent string `cbor:"1,keyasint"`
	KeyID string `cbor:"2,keyasint"`
}

func applyRemoveKey(t *txn, b *RemoveKey) (any, *Reject) {
	a, ok := t.agent(b.Agent)
	if !ok {
		return nil, reject("not_found", "agent not found")
	}
	i := slices.IndexFunc(a.Keys, func(k AgentKey) bool { return k.ID == b.KeyID })
	if i < 0 {
		return nil, reject("not_found", "key not found")
	}
	next := a
	next.Keys = slices.Delete(slices.Clone(a.Keys), i, i+1)
	if rej := t.keepAdmin(&a, &next); rej != nil {
		return nil, rej
	}
	t.del(key(kindKeyHash).hash(a.Keys[i].Hash))
	t.put(t.agentKey(a.ID), next)
	return AgentID{a.ID}, nil
}
