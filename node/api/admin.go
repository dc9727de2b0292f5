package api

// Roles of an agent.
const (
	RoleAgent   = "agent"
	RoleCurator = "curator"
	RoleAuditor = "auditor"
	RoleAdmin   = "admin"
	RolePeer    = "peer"
)

// Caller is who asks. Every field comes from the credential, never from a request body.
type Caller struct {
	Namespace string
	Agent     string
	Principal string
	Roles     []string
	KeyID     string
}

// Has reports whether the caller holds one of the roles.
func (c Caller) Has(roles ...string) bool {
	for _, have := range c.Roles {
		for _, want := range roles {
			if have == want {
				return true
			}
		}
	}
	return false
}

// CreateAgent enrols an agent; an unknown principal is created with it.
type CreateAgent struct {
	ID          string            `json:"id" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" doc:"Letters, digits, dot, dash, underscore"`
	Principal   string            `json:"principal,omitempty" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" doc:"Accountable owner; the agent itself when absent"`
	Roles       []string          `json:"roles,omitempty" maxItems:"5" enum:"agent,curator,auditor,admin,peer"`
	Environment map[string]string `json:"environment,omitempty"`
	Tools       []string          `json:"tools,omitempty" maxItems:"256"`
	Share       string            `json:"share,omitempty" enum:"auto,candidate,never" doc:"Sharing of what this agent records; never wins over everything"`
}

// UpdateAgent changes an agent; absent fields stay.
type UpdateAgent struct {
	Roles       *[]string          `json:"roles,omitempty"`
	Environment *map[string]string `json:"environment,omitempty"`
	Tools       *[]string          `json:"tools,omitempty"`
	Share       *string            `json:"share,omitempty" enum:"auto,candidate,never"`
}

// Agent is an enrolled client identity.
type Agent struct {
	ID          string            `json:"id"`
	Principal   string            `json:"principal"`
	Roles       []string          `json:"roles"`
	Environment map[string]string `json:"environment"`
	Tools       []string          `json:"tools"`
	Share       string            `json:"share"`
	Keys        []Key             `json:"keys,omitempty" doc:"Key ids, never the keys"`
	CreatedAt   string            `json:"created_at"`
}

// Key is the public part of an API key.
type Key struct {
	ID        string `json:"key_id"`
	CreatedAt string `json:"created_at"`
}

// CreatedAgent is the only answer that holds a key; a replay of the same request has key null.
type CreatedAgent struct {
	Agent
	Key   *string `json:"key"`
	KeyID string  `json:"key_id"`
}

// CreatedKey is a new key for an agent; key is null on a replay.
type CreatedKey struct {
	Key       *string `json:"key"`
	KeyID     string  `json:"key_id"`
	CreatedAt string  `json:"created_at"`
}

// Principal is an accountable owner with its reputation, which is shown and not part of the rule.
type Principal struct {
	ID         string     `json:"id"`
	AdmittedAt string     `json:"admitted_at"`
	Founder    bool       `json:"founder" doc:"Admitted in the namespace's first 14 days"`
	Anchor     bool       `json:"anchor" doc:"An admin vouches"`
	Suspended  bool       `json:"suspended"`
	Standing   bool       `json:"good_standing"`
	Agents     []string   `json:"agents"`
	Reputation Reputation `json:"reputation"`
}

// Reputation lists what a principal's reports look like from outside.
type Reputation struct {
	Weight    float64 `json:"weight" doc:"Mass of all its reports about foreign items (LW)"`
	Mean      float64 `json:"mean" doc:"Mean lift it reports, .5 = as expected (LS/LW)"`
	Leniency  float64 `json:"leniency" doc:"Shrunk deviation of that mean from .5"`
	Authored  int     `json:"authored" doc:"Its candidates and promoted items"`
	Promoted  int     `json:"promoted"`
	SeatsHeld int     `json:"seats_held" doc:"Juries it sits on"`
}

// CreatePrincipal admits a principal.
type CreatePrincipal struct {
	ID string `json:"id" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"`
}

// UpdatePrincipal changes how a principal is regarded.
type UpdatePrincipal struct {
	Anchor    *bool `json:"anchor,omitempty"`
	Suspended *bool `json:"suspended,omitempty"`
}

// CreateNamespace makes a tenant.
type CreateNamespace struct {
	ID string `json:"id" minLength:"1" maxLength:"64" pattern:"^[a-z0-9][a-z0-9-]{0,63}$"`
}

// Namespace is a tenant; AdminKey is set once, in the answer that made it.
type Namespace struct {
	ID        string  `json:"id"`
	CreatedAt string  `json:"created_at"`
	AdminKey  *string `json:"admin_key,omitempty"`
}

// Settings of a namespace. Zero or absent means the default named in each field.
type Settings struct {
	Share         string              `json:"share,omitempty" enum:"auto,candidate,never" doc:"auto"`
	Gate          string              `json:"gate,omitempty" enum:"rpe,off,random" doc:"rpe"`
	TrustProfile  string              `json:"trust_profile,omitempty" enum:"default,strict" doc:"default"`
	Epsilon       *float64            `json:"epsilon,omitempty" minimum:"0" maximum:"1" doc:"0.1: chance of an exploratory own item when no candidate fits"`
	QuotaPerDay   int                 `json:"quota_per_day,omitempty" minimum:"0" maximum:"100000" doc:"20 promotions a UTC day and author principal"`
	QuotaPerOwner int                 `json:"quota_per_principal,omitempty" minimum:"0" maximum:"1000000" doc:"20 items, or the larger share of the meta-pool, an author principal"`
	Approval      string              `json:"approval,omitempty" enum:"auto,manual" doc:"auto; manual: a curator answers each promotion"`
	Probation     string              `json:"probation,omitempty" enum:"ledger,strict,off" doc:"ledger: candidates are also recalled by what the reader's own outcomes say about their author; strict: those of proven authors only; off: none"`
	TaskTypes     map[string]TaskType `json:"task_types,omitempty"`
}

// TaskType holds what a namespace knows about one kind of task.
type TaskType struct {
	SuccessThreshold *float64           `json:"success_threshold,omitempty" minimum:"0" maximum:"1" doc:"1.0"`
	RewardWeights    map[string]float64 `json:"reward_weights,omitempty" maxProperties:"16" doc:"How the parts of a composite reward weigh, each 0 to 1000; a part that is not named does not count"`
	ExpectedReward   *float64           `json:"expected_reward,omitempty" minimum:"0" maximum:"1" doc:"A rule that replaces the gate's prediction"`
	JudgeProfile     string             `json:"judge_profile,omitempty" enum:"default,strict" doc:"default admits a lesson from the score .3; strict from .6 (success), .4 (reflection) and .5 (others)"`
	JudgeThreshold   *float64           `json:"judge_threshold,omitempty" minimum:"0.000001" maximum:"1" doc:"Score from which the judge admits a lesson, instead of the profile's"`
	Lenses           []string           `json:"lenses,omitempty" maxItems:"4" enum:"success_pattern,contrast,failure,tool_use" doc:"Lenses that attempts of this type are distilled through; all where none is named"`
}
