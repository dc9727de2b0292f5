package world

import "context"

// Memory is what an agent may ask and tell. A nil Memory is an agent without one. Methods are called by one goroutine an
// agent, for different agents at once.
type Memory interface {
	// Recall gives what is known for a task, best first.
	Recall(ctx context.Context, a Agent, t Task) (Recall, error)
	// Outcome reports what came of a task for which something was recalled.
	Outcome(ctx context.Context, a Agent, receipt string, o Outcome) error
	// Record hands over the attempt itself.
	Record(ctx context.Context, a Agent, t Task, attempt Attempt) error
}

// Recall is an answer of Memory.
type Recall struct {
	Receipt string
	Items   []Item
}

// Item is one recalled experience: its text and what memory says about its record.
type Item struct {
	ID          string
	Content     string
	Exploratory bool
	// Recalled and Helped count how often the item was given to its owner and how often it helped.
	Recalled, Helped float64
	// Trust is nil for an item that nobody else has judged.
	Trust *Trust
}

// Trust is the interval of the lift that an item brings: .5 means as expected without it.
type Trust struct {
	Low, High float64
	Trials    int
}

// Outcome is an agent's report. Used names exactly the items that were followed, and is empty, not nil, when none was.
type Outcome struct {
	Success bool
	Reward  float64
	Used    []string
}

// Attempt is one try at a task.
type Attempt struct {
	Steps   []Step
	Reward  float64
	Success bool
	Receipt string
}

// Step is one call with its answer.
type Step struct {
	Call        Call
	Observation Observation
}
