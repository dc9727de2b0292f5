package api

// RecordTrajectory records attempts at one task. Limits are counted in characters unless said otherwise.
type RecordTrajectory struct {
	GroupKey       string            `json:"group_key,omitempty" maxLength:"128" doc:"Attempts with the same key form one group; default: hash of task type and task"`
	Complete       bool              `json:"complete,omitempty" doc:"Distil the group now"`
	Share          string            `json:"share,omitempty" enum:"auto,candidate,never"`
	Task           string            `json:"task" minLength:"1" maxLength:"8000"`
	TaskType       string            `json:"task_type,omitempty" maxLength:"64" pattern:"^[\\p{L}\\p{M}\\p{Nd}._-]{0,64}$"`
	Environment    map[string]string `json:"environment,omitempty"`
	ExpectedReward *float64          `json:"expected_reward,omitempty" minimum:"0" maximum:"1"`
	Attempts       []Attempt         `json:"attempts" minItems:"1" maxItems:"16"`
}

// Attempt is one try at the task.
type Attempt struct {
	Steps       []Step             `json:"steps" maxItems:"256"`
	Reward      *float64           `json:"reward,omitempty" doc:"In reward_scale"`
	RewardParts map[string]float64 `json:"reward_parts,omitempty" maxProperties:"16" doc:"Instead of reward: its parts, each in [0,1], such as resolved, turns, sentiment. The task type's reward_weights combine them; without weights all weigh the same"`
	RewardScale *[]float64         `json:"reward_scale,omitempty" minItems:"2" maxItems:"2" doc:"[lowest, highest], default [0,1]"`
	Success     *bool              `json:"success,omitempty" doc:"Must agree with the reward; where it does not, the reward wins and the answer warns"`
	Receipt     string             `json:"receipt,omitempty" maxLength:"4096" doc:"Tells the distiller what was given; never reports an outcome"`
	ExternalID  string             `json:"external_id,omitempty" maxLength:"256" doc:"Unique for ever per agent and group: a repeat is not recorded again"`
}

// Step is one action and what came of it.
type Step struct {
	Tool        string         `json:"tool" maxLength:"128"`
	Args        map[string]any `json:"args,omitempty"`
	Observation string         `json:"observation,omitempty" doc:"More than 16 KiB: the tail is cut and marked"`
	Thought     string         `json:"thought,omitempty"`
	Reward      *float64       `json:"reward,omitempty" doc:"Step reward, in reward_scale"`
}

// RecordedTrajectory answers a recording: at once with the job, or after ?wait with what was distilled.
type RecordedTrajectory struct {
	ID          string       `json:"id"`
	Job         string       `json:"job,omitempty" doc:"The distilling job, once the group is due"`
	Recorded    int          `json:"recorded" doc:"Attempts that are new"`
	Known       int          `json:"already_known" doc:"Attempts whose external_id was recorded before"`
	Warnings    []Field      `json:"warnings,omitempty"`
	Experiences []Experience `json:"experiences,omitzero" doc:"After a wait, also when empty"`
	Gate        []GateRow    `json:"gate,omitzero"`
	Discarded   []Discarded  `json:"discarded,omitzero"`
	Index       uint64       `json:"index"`
}

// GateRow is the gate's view of one attempt.
type GateRow struct {
	Attempt    int        `json:"attempt"`
	Expected   float64    `json:"expected"`
	Actual     *float64   `json:"actual"`
	RPE        *float64   `json:"rpe" doc:"actual - expected, in [-1,1]; null without a reward"`
	Route      string     `json:"route" enum:"long_term,buffer,discard,none"`
	Thresholds [2]float64 `json:"thresholds" doc:"[buffer, long_term]"`
	Reason     string     `json:"reason"`
}

// Discarded says what was not kept and why.
type Discarded struct {
	Reason string `json:"reason" doc:"judge, gate, duplicate, no_lens, superseded"`
	Detail string `json:"detail"`
}

// Trajectory is a recorded group.
type Trajectory struct {
	ID          string            `json:"id"`
	Agent       string            `json:"agent"`
	GroupKey    string            `json:"group_key"`
	Task        string            `json:"task"`
	TaskType    string            `json:"task_type"`
	Environment map[string]string `json:"environment"`
	Share       string            `json:"share"`
	Status      string            `json:"status" enum:"open,queued,distilled,failed"`
	Attempts    []AttemptView     `json:"attempts"`
	Experiences []string          `json:"experiences"`
	Gate        []GateRow         `json:"gate"`
	Discarded   []Discarded       `json:"discarded"`
	CreatedAt   string            `json:"created_at"`
	UpdatedAt   string            `json:"updated_at"`
}

// AttemptView is a stored attempt with its normalised score.
type AttemptView struct {
	Attempt
	Score *float64 `json:"score" doc:"(reward - lowest) / (highest - lowest)"`
}
