package acquire

import "cairn/federation"

// Generator names the rules of this package and their version in the lineage of what they make.
const Generator = "rule/1"

// The lenses.
const (
	LensSuccess  = "success_pattern"
	LensContrast = "contrast"
	LensFailure  = "failure"
	LensToolUse  = "tool_use"
)

// Limits of a draft, in characters and numbers.
const (
	MaxScenario = 1000
	MaxContent  = 8000
	MaxPerLens  = 3
	MinKeywords = 3
	MaxKeywords = 5
)

// Step is one tool call of an attempt with what came back.
type Step struct {
	Tool        string
	Args        map[string]any
	Observation string
	Thought     string
	Reward      *float64 // step reward, nil when the environment gives none
}

// Attempt is one try at the task of its group.
type Attempt struct {
	Number    int // as the caller counts them; named in Draft.Attempts
	Steps     []Step
	HasReward bool    // without a reward an attempt is neither success nor failure and is not distilled
	Score     float64 // normalised reward in [0,1], see Normalise
	Success   bool
	Given     []string // texts this agent was given by recall: never distilled again
	Recording int64    // tells the recordings of a group apart, such as by their time; see Once
	Named     bool     // the caller gave it an id of its own, by which a repeat is known
}

// Group is all attempts at one task.
type Group struct {
	TaskType    string
	Task        string
	Environment map[string]string
	Attempts    []Attempt

	// Lenses that are used, by their constants; empty means all.
	Lenses []string

	// Alike tells how alike what two texts mean is: a cosine on the common scale of the encoders, in [-1,1]. It has to be a
	// function of its arguments alone, for the same group has to give the same drafts. It may be nil: segments of attempts
	// are then not compared.
	Alike func(a, b string) float64 `json:"-"`
}

// Draft is an experience before it is judged, gated and stored.
type Draft struct {
	Lens          string // one of the Lens constants
	Feature       string // what it is about; with group and lens it decides which older draft this one supersedes
	Kind          federation.Kind
	Scenario      string // the task, generalised; at most MaxScenario characters
	Content       string // the lesson, at most MaxContent characters; counts are not in it
	Keywords      []string
	Tools         []string          // tools the content names, sorted
	Preconditions map[string]string // nil when there are none
	Success       int               // support: successes that show it
	Failure       int               // support: failures that show it
	Attempts      []int             // numbers of the attempts it was made from, ascending
	State         string            // when it comes from one attempt: what the agent saw before the step,
	Action        string            // what it did, as a rendered call,
	Result        string            // and what came back
	Generator     string
}

// Reasons of a Discard.
const (
	ReasonNoLens   = "no_lens"   // nothing repeatable: no lens yields anything
	ReasonNoReward = "no_reward" // no attempt has a reward
	ReasonNoSteps  = "no_steps"  // no attempt calls a tool
	ReasonRecalled = "recalled"  // the draft repeats what its source attempts were given by recall
	ReasonTooLong  = "too_long"  // the draft does not fit the limits
)

// Discard says what was not kept, and why.
type Discard struct {
	Reason string
	Detail string
}
