package store

import (
	"slices"

	"cairn/federation"
)

// Namespace is a tenant. Number is its interned id, part of every key of the tenant.
type Namespace struct {
	ID         string   `cbor:"1,keyasint"`
	Number     uint32   `cbor:"2,keyasint"`
	CreatedAt  int64    `cbor:"3,keyasint"`
	LastAgent  uint32   `cbor:"4,keyasint,omitempty"` // highest interned agent number
	Settings   Settings `cbor:"5,keyasint"`
	Idempotent int64    `cbor:"6,keyasint,omitempty"` // idempotency keys that are kept
}

// Settings of a namespace; zero values mean the default. Epsilon is in micro-units, -1 for none.
type Settings struct {
	Share        federation.Share    `cbor:"1,keyasint,omitempty"`
	Gate         string              `cbor:"2,keyasint,omitempty"` // rpe, off, random
	TrustProfile string              `cbor:"3,keyasint,omitempty"` // default, strict
	Epsilon      federation.Micro    `cbor:"4,keyasint,omitempty"`
	PerDay       int                 `cbor:"5,keyasint,omitempty"`
	PerOwner     int                 `cbor:"6,keyasint,omitempty"`
	TaskTypes    map[string]TaskType `cbor:"7,keyasint,omitempty"`
	Approval     string              `cbor:"8,keyasint,omitempty"` // auto, manual: a curator answers each promotion

	Probation federation.Probation `cbor:"9,keyasint,omitempty"` // ledger, strict, off
}

// TaskType is what a namespace knows about one kind of task. Negative values mean not set.
type TaskType struct {
	SuccessThreshold federation.Micro `cbor:"1,keyasint"`
	ExpectedReward   federation.Micro `cbor:"2,keyasint"`
	// Weights of the parts of a composite reward; empty: all weigh the same.
	Weights map[string]federation.Micro `cbor:"3,keyasint,omitempty"`

	// The profile of the sub-pool. It is read before a command is proposed, never while one is applied.
	Judge  string           `cbor:"4,keyasint,omitempty"` // default, strict
	Admit  federation.Micro `cbor:"5,keyasint,omitempty"` // score from which the judge admits; 0: as the profile says
	Lenses []string         `cbor:"6,keyasint,omitempty"` // those that are used; empty: all
}

// Profile is the trust profile that the settings name.
func (s Settings) Profile() federation.Profile {
	if s.TrustProfile == "strict" {
		return federation.StrictProfile()
	}
	return federation.DefaultProfile()
}

// Quota is the promotion quota that the settings name.
func (s Settings) Quota() federation.Quota {
	q := federation.DefaultQuota()
	if s.PerDay > 0 {
		q.PerDay = s.PerDay
	}
	if s.PerOwner > 0 {
		q.Items = s.PerOwner
	}
	return q
}

// Principal is an accountable owner. Agents counts its agents that are not removed.
type Principal struct {
	ID         string `cbor:"1,keyasint"`
	AdmittedAt int64  `cbor:"2,keyasint"`
	Anchor     bool   `cbor:"3,keyasint,omitempty"`
	Suspended  bool   `cbor:"4,keyasint,omitempty"`
	Agents     int    `cbor:"5,keyasint,omitempty"`
	Judges     int    `cbor:"6,keyasint,omitempty"` // its agents with the role agent: who can report
	InMeta     int    `cbor:"7,keyasint,omitempty"` // its items in the meta-pool
	Seats      int    `cbor:"8,keyasint,omitempty"` // juries it sits on
	Authored   int    `cbor:"9,keyasint,omitempty"` // its copies that reached the shelf
}

// Standing is what the rule of good standing looks at.
func (p Principal) Standing(ns *Namespace) federation.Standing {
	return federation.Standing{
		AdmittedAt: p.AdmittedAt, NamespaceCreatedAt: ns.CreatedAt, Anchor: p.Anchor, Suspended: p.Suspended,
	}
}

// Agent is a client identity under a principal.
type Agent struct {
	ID          string            `cbor:"1,keyasint"`
	Number      uint32            `cbor:"2,keyasint"`
	Principal   string            `cbor:"3,keyasint"`
	Roles       []string          `cbor:"4,keyasint"`
	Environment map[string]string `cbor:"5,keyasint,omitempty"`
	Tools       []string          `cbor:"6,keyasint,omitempty"`
	Share       federation.Share  `cbor:"7,keyasint,omitempty"`
	Keys        []AgentKey        `cbor:"8,keyasint,omitempty"`
	CreatedAt   int64             `cbor:"9,keyasint"`
	RemovedAt   int64             `cbor:"10,keyasint,omitempty"`
}

// AgentKey is a key of an agent; only its SHA-256 is kept.
type AgentKey struct {
	ID        string   `cbor:"1,keyasint"`
	Hash      [32]byte `cbor:"2,keyasint"`
	CreatedAt int64    `cbor:"3,keyasint"`
}

// KeyRef leads from the hash of a key to its agent.
type KeyRef struct {
	Namespace string `cbor:"1,keyasint"`
	Agent     string `cbor:"2,keyasint"`
	KeyID     string `cbor:"3,keyasint"`
}

// administers reports whether an agent can act as an admin: it has the role, a key, and is not removed.
func (a Agent) administers() bool {
	return a.RemovedAt == 0 && len(a.Keys) > 0 && slices.Contains(a.Roles, "admin")
}

func (a Agent) judge() bool {
	if a.RemovedAt != 0 {
		return false
	}
	for _, r := range a.Roles {
		if r == "agent" {
			return true
		}
	}
	return false
}
