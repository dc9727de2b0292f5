package api

// RecallRequest asks for experiences that fit a task. A pointer that is absent means the default.
type RecallRequest struct {
	Task        string            `json:"task,omitempty" minLength:"1" maxLength:"8000" doc:"Required unless there are messages"`
	Messages    []Message         `json:"messages,omitempty" minItems:"1" maxItems:"200" doc:"A conversation instead of a task: the last turn of the user is the task, the first one its context; recalled guidance in them is left out"`
	TaskType    string            `json:"task_type,omitempty" maxLength:"64" pattern:"^[\\p{L}\\p{M}\\p{Nd}._-]{0,64}$" doc:"Fixes the expectation that trust measures against; filters.task_type only filters"`
	GroupKey    string            `json:"group_key,omitempty" maxLength:"128"`
	Context     string            `json:"context,omitempty" maxLength:"8000"`
	K           *int              `json:"k,omitempty" minimum:"1" maximum:"50" doc:"Default 5"`
	Mode        string            `json:"mode,omitempty" enum:"inject,search" doc:"Default inject: precise and diverse, counted, with a receipt; search: in order of score, not counted"`
	Filters     RecallFilters     `json:"filters,omitempty"`
	Environment map[string]string `json:"environment,omitempty" doc:"Overrides the agent's environment key by key"`
	Pools       []string          `json:"pools,omitempty" enum:"own,meta" doc:"Default both"`
	Rerank      bool              `json:"rerank,omitempty" doc:"Let a language model order what was found; without one the order stays and degraded says so"`
	Rewrite     bool              `json:"rewrite,omitempty" doc:"Let a language model write steps for this task; without one the plain guidance stays and degraded says so"`
	TokenBudget int               `json:"token_budget,omitempty" minimum:"0" maximum:"100000" doc:"Estimated tokens of the guidance; cuts the lowest, never the first. 0 = none"`
	As          string            `json:"as,omitempty" maxLength:"64" doc:"Admin, auditor: what that agent would find; search mode only, no receipt"`
}

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role" enum:"system,developer,user,assistant,tool,function"`
	Content string `json:"content" maxLength:"32000"`
}

// RecallFilters are hard: what fails one is not scored.
type RecallFilters struct {
	TaskType string   `json:"task_type,omitempty" maxLength:"64"`
	Tools    []string `json:"tools,omitempty" maxItems:"256" doc:"Items that need another tool are left out"`
	Kind     []string `json:"kind,omitempty" maxItems:"8"`
	MinTrust float64  `json:"min_trust,omitempty" minimum:"0" maximum:"1"`
	RPE      string   `json:"rpe,omitempty" enum:"positive,negative"`
	Since    string   `json:"since,omitempty"`
}

// RecallAnswer is what a recall gives. An empty list is a good answer and says why.
type RecallAnswer struct {
	Receipt     string     `json:"receipt,omitempty"`
	Experiences []Recalled `json:"experiences"`
	Guidance    string     `json:"guidance" doc:"Quoted data to put in the prompt"`
	Omitted     []Omitted  `json:"omitted"`
	Withdrawn   []string   `json:"withdrawn" doc:"Given to this agent before and revoked since"`
	WhyEmpty    string     `json:"why_empty,omitempty" enum:"floor,filters,no experiences"`
	Degraded    []string   `json:"degraded" doc:"Steps that were left out, with why"`
	Route       *Route     `json:"route,omitempty" doc:"The task type to which similar tasks of this agent belong, where the request names none"`
	Index       uint64     `json:"index" doc:"The applied index that was read"`
}

// Route says in which sub-pool a recall looked.
type Route struct {
	TaskType string  `json:"task_type"`
	Share    float64 `json:"share" doc:"Part of the votes of the most similar tasks"`
	Followed bool    `json:"followed" doc:"False: the vote was weak or its sub-pool held too little, so that all were searched"`
}

// Recalled is one experience of an answer.
type Recalled struct {
	Experience  Experience `json:"experience"`
	Score       float64    `json:"score"`
	Parts       Parts      `json:"parts"`
	Exploratory bool       `json:"exploratory"`
	Unproven    bool       `json:"unproven"`
	Buffered    bool       `json:"buffered,omitempty"`
	Rank        int        `json:"rank"`
}

// Parts are the terms of a score.
type Parts struct {
	Cosine   float64 `json:"cosine"`
	Keyword  float64 `json:"keyword"`
	Trust    float64 `json:"trust"`
	Strength float64 `json:"strength"`
}

// Omitted names what fitted and was left out.
type Omitted struct {
	ID     string `json:"id"`
	Reason string `json:"reason" enum:"budget,diversity,floor"`
}

// OutcomeRequest reports what happened after a recall.
type OutcomeRequest struct {
	Success    *bool             `json:"success,omitempty" doc:"Success or reward, at least one"`
	Reward     *float64          `json:"reward,omitempty" minimum:"0" maximum:"1"`
	Evidence   string            `json:"evidence,omitempty" enum:"verified,judge,self" doc:"Default self"`
	Used       *[]string         `json:"used,omitempty" maxItems:"64" doc:"Ids that were used; absent = not known, [] = none"`
	Note       string            `json:"note,omitempty" maxLength:"2000"`
	Trajectory *RecordTrajectory `json:"trajectory,omitempty" doc:"Feeds gate and distiller only"`
}

// OutcomeAnswer says what the report moved.
type OutcomeAnswer struct {
	Citations  []Citation    `json:"citations"`
	Trust      []TrustChange `json:"trust"`
	Reflection *Reflection   `json:"reflection"`
	Trajectory string        `json:"trajectory,omitempty" doc:"Id of the attached trajectory"`
	Index      uint64        `json:"index"`
}

// Citation is evidence about one experience of another principal.
type Citation struct {
	Experience string `json:"experience"`
	Citation   string `json:"citation"`
}

// TrustChange is an item's trust before and after a report.
type TrustChange struct {
	Experience string  `json:"experience"`
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
}

// Reflection is a hypothesis for a retry after a failure.
type Reflection struct {
	ID         string `json:"id"`
	Hypothesis string `json:"hypothesis"`
}
