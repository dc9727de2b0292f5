package api

// AddExperience records a lesson directly (kind "direct"). The claimed confidence is shown and never used.
type AddExperience struct {
	GroupKey          string            `json:"group_key,omitempty" maxLength:"128"`
	Scenario          string            `json:"scenario" minLength:"1" maxLength:"1000"`
	Content           string            `json:"content" minLength:"1" maxLength:"8000"`
	Keywords          []string          `json:"keywords,omitempty" maxItems:"12"`
	ClaimedConfidence *float64          `json:"claimed_confidence,omitempty" minimum:"0" maximum:"1"`
	Tools             []string          `json:"tools,omitempty" maxItems:"64"`
	TaskType          string            `json:"task_type,omitempty" maxLength:"64" pattern:"^[\\p{L}\\p{M}\\p{Nd}._-]{0,64}$"`
	Preconditions     map[string]string `json:"preconditions,omitempty"`
	Environment       map[string]string `json:"environment,omitempty"`
	ValidUntil        string            `json:"valid_until,omitempty" format:"date-time"`
	Share             string            `json:"share,omitempty" enum:"auto,candidate,never"`
	Outcome           string            `json:"outcome,omitempty" enum:"success,failure" doc:"What the lesson reports: that this works (default) or that it fails"`
}

// PatchExperience makes a new version; absent fields stay.
type PatchExperience struct {
	Scenario      *string            `json:"scenario,omitempty" minLength:"1" maxLength:"1000"`
	Content       *string            `json:"content,omitempty" minLength:"1" maxLength:"8000"`
	Keywords      *[]string          `json:"keywords,omitempty" maxItems:"12"`
	Tools         *[]string          `json:"tools,omitempty" maxItems:"64"`
	Preconditions *map[string]string `json:"preconditions,omitempty"`
	ValidUntil    *string            `json:"valid_until,omitempty"`
	Share         *string            `json:"share,omitempty" enum:"auto,candidate,never"`
}

// Experience is the distilled unit, in one version.
type Experience struct {
	ID                string            `json:"id"`
	Version           int               `json:"version"`
	Scenario          string            `json:"scenario"`
	Content           string            `json:"content"`
	Keywords          []string          `json:"keywords"`
	Confidence        float64           `json:"confidence"`
	ClaimedConfidence *float64          `json:"claimed_confidence,omitempty"`
	Tools             []string          `json:"tools"`
	TaskType          string            `json:"task_type"`
	Kind              string            `json:"kind"`
	Preconditions     map[string]string `json:"preconditions"`
	Environment       map[string]string `json:"environment"`
	Pool              string            `json:"pool" doc:"agent:<id>, candidates or meta"`
	Author            Author            `json:"author"`
	Status            string            `json:"status"`
	Share             string            `json:"share"`
	RPE               float64           `json:"rpe"`
	Strength          float64           `json:"strength"`
	Trust             *Trust            `json:"trust" doc:"null for a private item"`
	Utility           Utility           `json:"utility"`
	Support           Support           `json:"support"`
	Lineage           Lineage           `json:"lineage"`
	CandidateID       string            `json:"candidate_id,omitempty" doc:"The shared copy of this private item"`
	Label             string            `json:"label,omitempty" doc:"same_owner: judged by agents of one principal"`
	ValidUntil        *string           `json:"valid_until"`
	CreatedAt         string            `json:"created_at"`
	UpdatedAt         string            `json:"updated_at"`
	SupersededBy      *string           `json:"superseded_by"`
	MergedInto        string            `json:"merged_into,omitempty" doc:"Set in the answer of a write that was a duplicate"`
	Index             uint64            `json:"index"`
}

// Merge is an experience that gave way to another one of its pool.
type Merge struct {
	ID        string  `json:"id" doc:"That of the superseded experience"`
	From      string  `json:"from" doc:"The superseded experience"`
	Into      string  `json:"into" doc:"The one that stands in its place"`
	Agent     string  `json:"agent"`
	Cause     string  `json:"cause" enum:"duplicate,revised,compacted,fused" doc:"duplicate: it said the same in other words; revised: its group says something else now; compacted: a strategy made of it and others has proved itself; fused: a candidate that proved itself says the same as an item of the meta-pool"`
	Support   Support `json:"support" doc:"What moved to the one that stands"`
	CreatedAt string  `json:"created_at"`
	UndoneAt  *string `json:"undone_at"`
	UndoneBy  string  `json:"undone_by,omitempty"`
	Index     uint64  `json:"index,omitempty"`
}

// Author of an experience.
type Author struct {
	Agent     string `json:"agent"`
	Principal string `json:"principal"`
	Site      string `json:"site"`
}

// Trust is the aggregate that everyone who sees a shared item may see.
type Trust struct {
	Value    float64 `json:"value" doc:"Lower bound; decides"`
	Mean     float64 `json:"mean"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Evidence float64 `json:"evidence" doc:"Capped mass n"`
	Trials   int     `json:"trials" doc:"Citations"`
}

// Utility counts recalls and help.
type Utility struct {
	Recalled float64 `json:"recalled" doc:"Inject recalls, less those reported unused"`
	Helped   float64 `json:"helped"`
}

// Support counts the attempts an experience was distilled from.
type Support struct {
	Success int `json:"success"`
	Failure int `json:"failure"`
}

// Lineage names where an experience came from. For a foreign reader trajectories and derived_from are empty.
type Lineage struct {
	Trajectories []string `json:"trajectories"`
	DerivedFrom  []string `json:"derived_from"`
	Lens         string   `json:"lens"`
	Generator    string   `json:"generator"`
	Judge        string   `json:"judge,omitempty" doc:"Model that judged it; absent where the rules did"`
	Reflections  []string `json:"reflections,omitempty" doc:"Reflections whose retry it tells of; for the author and the privileged"`
}

// ListFilter narrows a list of experiences. Zero fields do not filter.
type ListFilter struct {
	Pool     string
	Agent    string
	TaskType string
	Kind     string
	Status   string
	Tool     string
	MinTrust float64
	Q        string
	RPE      string
	Since    string
	Until    string
	Page
}

// Page is the caller's place in a list: Limit 1..500 (0 = 50), Cursor opaque.
type Page struct {
	Limit  int
	Cursor string
}

// List is one page of any list; NextCursor is null on the last one.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// Erased answers a deletion.
type Erased struct {
	Erased  []string `json:"erased"`
	Receipt string   `json:"receipt"`
	Index   uint64   `json:"index"`
}

// Erasure says where erased data may still be.
type Erasure struct {
	Receipt   string            `json:"receipt"`
	Erased    []string          `json:"erased"`
	Places    map[string]string `json:"places" doc:"state, index, log, backups -> purged, pending or backup-until"`
	CreatedAt string            `json:"created_at"`
}

// TrustDetail is every term of an item's trust.
type TrustDetail struct {
	Experience string          `json:"experience"`
	Version    int             `json:"version"`
	Status     string          `json:"status"`
	Rule       string          `json:"rule"`
	Trust      Trust           `json:"trust"`
	Half       float64         `json:"half_width"`
	Threshold  float64         `json:"threshold"`
	DemoteAt   float64         `json:"demote_below"`
	Jury       int             `json:"jury"`
	Heard      int             `json:"heard"`
	Quorum     int             `json:"quorum"`
	Citations  int             `json:"citations"`
	Verdict    string          `json:"verdict"`
	Missing    []string        `json:"missing" doc:"What is missing for promotion"`
	Own        *OwnRecord      `json:"own_record,omitempty" doc:"For a private item: the author's own record, which nominates"`
	Jurors     []JurorTerm     `json:"jurors,omitempty" doc:"Curators, auditors, admins"`
	Evidence   []EvidenceEntry `json:"evidence,omitempty" doc:"Curators, auditors, admins; at most 500"`
	LeftOff    int             `json:"evidence_left_off,omitempty" doc:"Citations that evidence does not list"`
}

// OwnRecord is the author agent's own experience with its item.
type OwnRecord struct {
	Credit   float64 `json:"credit"`
	MeanLift float64 `json:"mean_lift"`
	Needed   float64 `json:"needed"`
}

// JurorTerm is one juror's part of the score.
type JurorTerm struct {
	Juror    string  `json:"juror"`
	Weight   float64 `json:"weight"`
	Sum      float64 `json:"sum"`
	Leniency float64 `json:"leniency"`
	Lift     float64 `json:"lift"`
	Cap      float64 `json:"counted"`
	Heard    bool    `json:"heard"`
	Struck   bool    `json:"struck"`
}

// EvidenceEntry is one citation.
type EvidenceEntry struct {
	Citation  string  `json:"citation"`
	Agent     string  `json:"agent"`
	Principal string  `json:"principal"`
	Kind      string  `json:"kind"`
	Reward    float64 `json:"reward"`
	Expected  float64 `json:"expected"`
	Lift      float64 `json:"lift"`
	Weight    float64 `json:"weight"`
	At        string  `json:"at"`
}

// Graph is a provenance graph in PROV terms.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is an entity, an activity or an agent.
type GraphNode struct {
	ID    string            `json:"id"`
	Type  string            `json:"type" enum:"entity,activity,agent"`
	Label string            `json:"label"`
	Attrs map[string]string `json:"attributes,omitempty"`
}

// GraphEdge is a PROV relation, e.g. wasDerivedFrom.
type GraphEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Relation string `json:"relation"`
}

// ReceiptView says what was given to whom and when.
type ReceiptView struct {
	Recall   string        `json:"recall"`
	Agent    string        `json:"agent"`
	TaskType string        `json:"task_type"`
	Items    []ReceiptItem `json:"items"`
	At       string        `json:"at"`
	Reported bool          `json:"reported"`
	Success  *bool         `json:"success,omitempty"`
}

// ReceiptItem is one experience of a receipt.
type ReceiptItem struct {
	Experience  string `json:"experience"`
	Version     int    `json:"version"`
	Exploratory bool   `json:"exploratory"`
	Hash        string `json:"hash"`
}

// Promotion is one decision about the meta-pool with its inputs.
type Promotion struct {
	ID         string       `json:"id"`
	Experience string       `json:"experience"`
	Version    int          `json:"version"`
	Action     string       `json:"action" enum:"promote,demote"`
	Status     string       `json:"status" enum:"pending,approved,rejected,automatic"`
	Rule       string       `json:"rule"`
	Author     Author       `json:"author"`
	FusedWith  string       `json:"fused_with,omitempty"`
	Inputs     *TrustDetail `json:"inputs,omitempty"`
	Reasons    []string     `json:"reasons"`
	At         string       `json:"at"`
	Index      uint64       `json:"index"`
}

// Replay is a decision computed again from its stored inputs.
type Replay struct {
	Same    bool    `json:"same"`
	Rule    string  `json:"rule"`
	Verdict string  `json:"verdict"`
	Trust   float64 `json:"trust"`
}
