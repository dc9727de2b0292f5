package store

import (
	"cairn/federation"
)

// Trajectory is a group of attempts at one task by one agent. Version counts the attempts that were recorded; a job's
// result names the version it was made from.
type Trajectory struct {
	ID          ID                `cbor:"1,keyasint"`
	Agent       string            `cbor:"2,keyasint"`
	Owner       uint32            `cbor:"3,keyasint"`
	GroupKey    string            `cbor:"4,keyasint,omitempty"`
	Group       [32]byte          `cbor:"5,keyasint"`
	Task        string            `cbor:"6,keyasint"`
	TaskType    string            `cbor:"7,keyasint,omitempty"`
	Environment map[string]string `cbor:"8,keyasint,omitempty"`
	Share       federation.Share  `cbor:"9,keyasint,omitempty"`
	Status      string            `cbor:"10,keyasint"` // open, queued, distilled, failed
	Version     int               `cbor:"11,keyasint"`
	Distilled   int               `cbor:"12,keyasint,omitempty"` // version that was distilled last
	TaskVector  Vector            `cbor:"13,keyasint"`
	Rewards     []AttemptReward   `cbor:"14,keyasint,omitempty"` // of attempts with a reward
	Experiences []ID              `cbor:"15,keyasint,omitempty"`
	Gate        []GateRow         `cbor:"16,keyasint,omitempty"`
	Discarded   []Discard         `cbor:"17,keyasint,omitempty"`
	Job         ID                `cbor:"18,keyasint"`
	CreatedAt   int64             `cbor:"19,keyasint"`
	UpdatedAt   int64             `cbor:"20,keyasint"`
	Purged      bool              `cbor:"21,keyasint,omitempty"` // raw attempts are past retention
}

// AttemptReward is what the reward predictor learns from an attempt.
type AttemptReward struct {
	Attempt int              `cbor:"1,keyasint"`
	Reward  federation.Micro `cbor:"2,keyasint"`
	At      int64            `cbor:"3,keyasint"`
}

// Attempt is one try. Score, Expected and the thresholds are micro-units in [0,1]; they are meaningless without HasReward.
type Attempt struct {
	Number     int              `cbor:"1,keyasint"`
	Steps      []Step           `cbor:"2,keyasint"`
	HasReward  bool             `cbor:"3,keyasint,omitempty"`
	Reward     float64          `cbor:"4,keyasint,omitempty"` // as reported, for display
	Scale      [2]float64       `cbor:"5,keyasint"`
	Score      federation.Micro `cbor:"6,keyasint,omitempty"`
	Success    bool             `cbor:"7,keyasint,omitempty"`
	Expected   federation.Micro `cbor:"8,keyasint,omitempty"`
	ExpectedBy string           `cbor:"9,keyasint,omitempty"`
	Long       federation.Micro `cbor:"10,keyasint,omitempty"`
	Buffer     federation.Micro `cbor:"11,keyasint,omitempty"`
	WarmUp     bool             `cbor:"12,keyasint,omitempty"`
	Receipt    ID               `cbor:"13,keyasint"` // recall id, zero without a receipt
	ExternalID string           `cbor:"14,keyasint,omitempty"`
	Outcome    bool             `cbor:"15,keyasint,omitempty"` // counts in the expectation (no receipt reported it)
	At         int64            `cbor:"16,keyasint"`
	JudgedBy   string           `cbor:"17,keyasint,omitempty"` // model that gave the reward; empty where it was reported
	// Parts of a composite reward, as reported; Reward is what the task type's weights made of them.
	Parts map[string]float64 `cbor:"18,keyasint,omitempty"`
}

// Delta is the reward prediction error of the attempt in [-1,1].
func (a Attempt) Delta() federation.Micro { return a.Score - a.Expected }

// Step is one action; Args is its JSON object.
type Step struct {
	Tool        string   `cbor:"1,keyasint"`
	Args        []byte   `cbor:"2,keyasint,omitempty"`
	Observation string   `cbor:"3,keyasint,omitempty"`
	Thought     string   `cbor:"4,keyasint,omitempty"`
	Reward      *float64 `cbor:"5,keyasint,omitempty"`
}

// GateRow records how an attempt was routed.
type GateRow struct {
	Attempt   int              `cbor:"1,keyasint"`
	HasReward bool             `cbor:"2,keyasint,omitempty"`
	Expected  federation.Micro `cbor:"3,keyasint,omitempty"`
	Actual    federation.Micro `cbor:"4,keyasint,omitempty"`
	Route     string           `cbor:"5,keyasint"`
	Buffer    federation.Micro `cbor:"6,keyasint,omitempty"`
	Long      federation.Micro `cbor:"7,keyasint,omitempty"`
	Reason    string           `cbor:"8,keyasint"`
}

// Discard says what was not kept and why.
type Discard struct {
	Reason string `cbor:"1,keyasint"`
	Detail string `cbor:"2,keyasint"`
}

// Lineage names where an experience came from.
type Lineage struct {
	Trajectories []ID   `cbor:"1,keyasint,omitempty"`
	DerivedFrom  []ID   `cbor:"2,keyasint,omitempty"`
	Lens         string `cbor:"3,keyasint,omitempty"`
	Generator    string `cbor:"4,keyasint,omitempty"`
	Feature      string `cbor:"5,keyasint,omitempty"`
	Judge        string `cbor:"6,keyasint,omitempty"` // model that judged it; empty for the rules
	Reflections  []ID   `cbor:"7,keyasint,omitempty"` // whose retry it tells of
}

// Experience is one version of an experience with its counters. Scenario to ValidUntil are the version's content;
// everything below changes in place. Micro-units unless said otherwise.
type Experience struct {
	ID            ID                `cbor:"1,keyasint"`
	Version       int               `cbor:"2,keyasint"`
	Owner         uint32            `cbor:"3,keyasint,omitempty"` // agent number, SharedOwner for a shared copy
	Agent         string            `cbor:"4,keyasint"`           // author
	Principal     string            `cbor:"5,keyasint"`
	Scenario      string            `cbor:"6,keyasint"`
	Content       string            `cbor:"7,keyasint"`
	Keywords      []string          `cbor:"8,keyasint,omitempty"`
	Tools         []string          `cbor:"9,keyasint,omitempty"`
	TaskType      string            `cbor:"10,keyasint,omitempty"`
	Kind          federation.Kind   `cbor:"11,keyasint"`
	Preconditions map[string]string `cbor:"12,keyasint,omitempty"`
	Environment   map[string]string `cbor:"13,keyasint,omitempty"`
	ValidUntil    int64             `cbor:"14,keyasint,omitempty"` // Unix ms, 0 = no end
	Group         [32]byte          `cbor:"15,keyasint"`           // task group it came from

	Hash       [32]byte          `cbor:"16,keyasint"`
	Status     federation.Status `cbor:"17,keyasint"`
	Share      federation.Share  `cbor:"18,keyasint,omitempty"`
	Judge      federation.Micro  `cbor:"19,keyasint,omitempty"`
	Claimed    federation.Micro  `cbor:"20,keyasint,omitempty"` // claimed confidence + 1; 0 = no claim
	RPE        federation.Micro  `cbor:"21,keyasint,omitempty"`
	Strength   federation.Micro  `cbor:"22,keyasint,omitempty"` // as of StrengthAt
	StrengthAt int64             `cbor:"23,keyasint,omitempty"`
	Uses       int               `cbor:"24,keyasint,omitempty"` // confirmed uses
	Harms      int               `cbor:"25,keyasint,omitempty"`
	Recalled   federation.Micro  `cbor:"26,keyasint,omitempty"` // f
	Helped     federation.Micro  `cbor:"27,keyasint,omitempty"` // u
	Success    int               `cbor:"28,keyasint,omitempty"` // support
	Failure    int               `cbor:"29,keyasint,omitempty"`

	Lineage      Lineage              `cbor:"30,keyasint"`
	Own          federation.OwnRecord `cbor:"31,keyasint"`
	Candidate    ID                   `cbor:"32,keyasint"` // its shared copy
	Origin       ID                   `cbor:"33,keyasint"` // of a shared copy: the private original
	OriginOwner  uint32               `cbor:"34,keyasint,omitempty"`
	OriginVer    int                  `cbor:"35,keyasint,omitempty"`
	Unit         string               `cbor:"36,keyasint,omitempty"` // "" principal, "agent" same owner
	Trust        *federation.Score    `cbor:"37,keyasint,omitempty"` // without terms
	General      bool                 `cbor:"38,keyasint,omitempty"`
	SupersededBy ID                   `cbor:"39,keyasint"`
	ExpiresAt    int64                `cbor:"40,keyasint,omitempty"` // of a buffered one
	CreatedAt    int64                `cbor:"41,keyasint"`
	UpdatedAt    int64                `cbor:"42,keyasint"`
	PromotedAt   int64                `cbor:"43,keyasint,omitempty"`
	Blocked      string               `cbor:"44,keyasint,omitempty"` // why it was not nominated last time
	GroupKey     string               `cbor:"45,keyasint,omitempty"`
	Prior        federation.Status    `cbor:"46,keyasint,omitempty"` // of a held one: where it goes back to
	HeldBy       ID                   `cbor:"47,keyasint"`           // whose hold or revocation closed it
	Reason       string               `cbor:"48,keyasint,omitempty"` // the curator's words
	Pending      ID                   `cbor:"49,keyasint"`           // the decision that waits for a curator
	Task         [32]byte             `cbor:"50,keyasint"`           // hash of the normalised task where the group has another name
	Actions      [][32]byte           `cbor:"51,keyasint,omitempty"` // what it says to do: federation.LessonAction, CallAction
	Fails        bool                 `cbor:"52,keyasint,omitempty"` // it says that this fails
	RecalledAt   int64                `cbor:"53,keyasint,omitempty"` // last time that it was given
	Authors      []string             `cbor:"58,keyasint,omitempty"` // principals whose items a shared strategy was made of
	Withdrawn    bool                 `cbor:"59,keyasint,omitempty"` // it was revoked by its author
	Embedded     int                  `cbor:"60,keyasint,omitempty"` // how often the vectors of this version were replaced
}

// Shared reports whether this is a copy on the shelf or in the meta-pool.
func (e *Experience) Shared() bool { return e.Owner == SharedOwner }

// Live reports whether the experience takes part in recalls.
func (e *Experience) Live() bool {
	switch e.Status {
	case federation.StatusActive, federation.StatusBuffered, federation.StatusCandidate, federation.StatusPromoted,
		federation.StatusDormant:
		return true
	}
	return false
}

// Confidence is (u + 2 judge) / (f + 2).
func (e *Experience) Confidence() federation.Micro {
	return federation.Confidence(e.Judge, e.Helped, e.Recalled)
}

// StrengthNow is the strength decayed to a time.
func (e *Experience) StrengthNow(now int64) federation.Micro {
	return federation.StrengthAt(e.Strength, e.Uses, e.Harms, max(0, now-e.StrengthAt)/3_600_000)
}

// Vectors are the embeddings of one version: scenario, then content. Empty when the embedding is still due.
type Vectors struct {
	Version int      `cbor:"1,keyasint"`
	Vectors []Vector `cbor:"2,keyasint,omitempty"`
}

// featureRecord is what a group said about one feature: the experience that holds it, and the support the group gave it.
type featureRecord struct {
	ID      ID  `cbor:"1,keyasint"`
	Success int `cbor:"2,keyasint,omitempty"`
	Failure int `cbor:"3,keyasint,omitempty"`
}

// Erasure is the proof of what was erased. Open counts the erased ids whose back links are not purged yet; Erased may grow
// while it is above 0.
type Erasure struct {
	ID     ID     `cbor:"1,keyasint"`
	Agent  string `cbor:"2,keyasint"`
	Erased []ID   `cbor:"3,keyasint"`
	At     int64  `cbor:"4,keyasint"`
	Index  uint64 `cbor:"5,keyasint"`
	Open   int    `cbor:"6,keyasint,omitempty"`
}
