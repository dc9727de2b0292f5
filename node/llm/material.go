package llm

// Step is one action of an attempt with what came back.
type Step struct {
	Tool        string         `json:"tool"`
	Args        map[string]any `json:"args,omitempty"`
	Observation string         `json:"observation,omitempty"`
	Thought     string         `json:"thought,omitempty"`
}

// Attempt is one try at a task.
type Attempt struct {
	Number  int
	Steps   []Step
	Score   float64 // normalised reward in [0,1]
	Success bool
}

// Item is a recalled experience.
type Item struct {
	ID         string
	Kind       string
	Scenario   string
	Content    string
	Confidence float64 // [0,1]
}

// fitSteps cuts the steps of several attempts so that all of them together have about maxChars characters: long texts
// first, then steps from the middle, since an attempt is told by how it began and how it ended.
func fitSteps(attempts [][]Step, maxChars int) [][]Step {
	share := maxChars / max(1, len(attempts))
	out := make([][]Step, len(attempts))
	for i, steps := range attempts {
		out[i] = fit(steps, share)
	}
	return out
}

const (
	fewestChars = 40 // of a text of a step
	stepFrame   = 60 // characters around a step
)

func fit(steps []Step, maxChars int) []Step {
	most := max(2, maxChars/(3*fewestChars+stepFrame))
	if len(steps) > most {
		head := (most + 1) / 2
		steps = append(append([]Step{}, steps[:head]...), steps[len(steps)-(most-head):]...)
	}
	each := max(fewestChars, (maxChars/max(1, len(steps))-stepFrame)/3)
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[i] = Step{
			Tool: shorten(s.Tool, 128), Args: shortArgs(s.Args, each), Observation: shorten(s.Observation, each), Thought: shorten(s.Thought, each/2),
		}
	}
	return out
}

// shortArgs keeps the names of arguments and cuts long values.
func shortArgs(args map[string]any, maxChars int) map[string]any {
	if len(args) == 0 {
		return nil
	}
	each := max(fewestChars, maxChars/len(args))
	out := make(map[string]any, len(args))
	for name, value := range args {
		switch v := value.(type) {
		case string:
			out[name] = shorten(v, each)
		case nil, bool, float64, int, int64:
			out[name] = v
		default:
			text, err := quote(v)
			if err != nil {
				text = "…"
			}
			out[name] = shorten(text, each)
		}
	}
	return out
}

// fitItems cuts the texts of items so that all of them together have about maxChars characters.
func fitItems(items []Item, maxChars int) []Item {
	each := max(fewestChars, maxChars/max(1, len(items)))
	out := make([]Item, len(items))
	for i, it := range items {
		it.Scenario, it.Content = shorten(it.Scenario, each/3), shorten(it.Content, each*2/3)
		out[i] = it
	}
	return out
}

// limitText leaves room for the rest of a question.
func limitText(s string, maxChars int) string { return shorten(s, max(fewestChars, maxChars/4)) }
