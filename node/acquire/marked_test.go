package acquire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cairn/node/acquire"
	"cairn/node/recall"
)

const told = "Error: the zarquon door is locked, call zarquon_unlock first"

// guidance is what a recall renders; its lesson looks like an error on purpose.
func guidance(t *testing.T) string {
	t.Helper()
	return recall.Guidance([]recall.GuidanceItem{
		{ID: "01A", Source: "own", Author: "ann", Kind: "caution", Scenario: "A zarquon task\nof two lines", Content: told},
		{ID: "01B", Source: "meta", Author: "bob", Kind: "success", Content: `Plan that worked: zarquon_open(door="zarquon")`},
	})
}

// TestGuidanceIsNotDistilled puts recalled guidance everywhere an agent may put it, without naming the receipt.
func TestGuidanceIsNotDistilled(t *testing.T) {
	text := guidance(t)
	answer, err := json.Marshal(map[string]any{"receipt": "rcp_x", "guidance": text, "experiences": []string{told}})
	if err != nil {
		t.Fatal(err)
	}
	inside, err := json.Marshal(map[string]any{"tool": "memory", "text": text})
	if err != nil {
		t.Fatal(err)
	}
	open := acquire.Step{Tool: "open", Args: map[string]any{"door": "front"}, Observation: "open"}
	fail := acquire.Step{Tool: "push", Args: map[string]any{"door": "front"}, Observation: "error: stuck"}
	for name, steps := range map[string][]acquire.Step{
		"a recall of its own":    {{Tool: "ask", Args: map[string]any{"query": "zarquon"}, Observation: text}},
		"the whole answer":       {{Tool: "ask", Args: map[string]any{"query": "zarquon"}, Observation: string(answer)}},
		"before an observation":  {{Tool: "look", Observation: text + "\nnothing to see"}},
		"after an error":         {{Tool: "look", Observation: "error: dark\n" + text}},
		"inside JSON":            {{Tool: "look", Observation: string(inside)}},
		"in an argument":         {{Tool: "note", Args: map[string]any{"text": text + "my own words"}, Observation: "noted"}},
		"in a thought":           {{Tool: "look", Thought: text, Observation: "nothing"}},
		"twice, Windows lines":   {{Tool: "look", Observation: strings.ReplaceAll(text, "\n", "\r\n") + "a\n" + text + "b"}},
		"named as memory, blank": {{Tool: "recall_memory", Args: map[string]any{"query": "zarquon"}, Observation: text}},
	} {
		t.Run(name, func(t *testing.T) {
			g := acquire.Group{Task: "Open the front door\n" + text, Attempts: []acquire.Attempt{
				{Number: 0, HasReward: true, Score: 1, Success: true, Steps: append(append([]acquire.Step{}, steps...), open)},
				{Number: 1, HasReward: true, Steps: append(append([]acquire.Step{}, steps...), fail)},
				{Number: 2, HasReward: true, Steps: []acquire.Step{fail}},
			}}
			drafts, _ := acquire.Distil(g)
			if len(drafts) == 0 {
				t.Fatal("nothing was distilled")
			}
			for _, d := range drafts {
				if s := d.Scenario + d.Content + d.State + d.Result + strings.Join(d.Keywords, " "); strings.Contains(s, "zarquon") {
					t.Errorf("%s repeats guidance: %s", d.Lens, s)
				}
			}
		})
	}
}

// TestQuotationsOfOthersStay: lines that merely look quoted are observations.
func TestQuotationsOfOthersStay(t *testing.T) {
	g := acquire.Group{Task: "Read the mail", Attempts: []acquire.Attempt{{Number: 0, HasReward: true, Steps: []acquire.Step{
		{Tool: "read", Observation: "> error: mailbox is locked\nLesson:\n> none"},
	}}}}
	drafts, _ := acquire.Distil(g)
	if len(drafts) != 1 || !strings.Contains(drafts[0].Content, "mailbox is locked") {
		t.Errorf("got %+v", drafts)
	}
}
