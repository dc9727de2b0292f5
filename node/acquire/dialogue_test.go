package acquire

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

func TestFirstWrongTurn(t *testing.T) {
	for _, tc := range []struct {
		name  string
		turns []Turn
		want  int
		ok    bool
	}{
		{"nobody acts", []Turn{{"human", "do it"}}, 0, false},
		{"empty", nil, 0, false},
		{"opening only", []Turn{{"Expert", "task"}}, 0, true},
		{"first contribution", []Turn{{"Expert", "task"}, {"Coder", "x"}, {"Checker", "y"}}, 1, true},
		{"code that failed", []Turn{{"Expert", "task"}, {"Planner", "plan"}, {"Coder", "x"}, {"Computer_terminal", "exitcode: 1 (execution failed)"}}, 2, true},
		{"code that ran", []Turn{{"Expert", "task"}, {"Planner", "plan"}, {"Coder", "x"}, {"Computer_terminal", "exitcode: 0 (execution succeeded)"}}, 1, true},
		{"standing still", []Turn{{"human", "task"}, {"Orchestrator (thought)", `{"is_in_loop": {"answer": false}}`}, {"Surfer", "a"}, {"Surfer", "b"},
			{"Orchestrator (thought)", `{"is_in_loop": {"reason": "again", "answer": true}}`}, {"Surfer", "c"}}, 3, true},
		{"managed", []Turn{{"human", "task"}, {"Orchestrator (thought)", `{"is_request_satisfied": {"answer": false}}`}, {"Surfer", "a"}, {"Surfer", "b"}, {"Surfer", "c"}}, 3, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := FirstWrongTurn(tc.turns); got != tc.want || ok != tc.ok {
				t.Errorf("got %d %v, want %d %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

// TestFirstWrongTurnOnLabelledFailures measures the guess on shared development data, where it is at hand.
func TestFirstWrongTurnOnLabelledFailures(t *testing.T) {
	f, err := os.Open("../../../shared/data/failure-attribution.jsonl")
	if err != nil {
		t.Skip("skipped: no labelled failures beside the repository")
	}
	defer f.Close()
	note := regexp.MustCompile(` ?\(.*`)
	n, agents, steps := 0, 0, 0
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var row struct {
			Agent   string      `json:"mistake_agent"`
			Step    json.Number `json:"mistake_step"`
			History []struct {
				Step           json.Number
				Agent, Content string
			}
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		var turns []Turn
		for _, h := range row.History {
			turns = append(turns, Turn{h.Agent, h.Content})
		}
		n++
		i, ok := FirstWrongTurn(turns)
		if !ok {
			continue
		}
		if note.ReplaceAllString(row.History[i].Agent, "") == note.ReplaceAllString(row.Agent, "") {
			agents++
		}
		if row.History[i].Step == row.Step {
			steps++
		}
	}
	t.Logf("%d failures: agent %.3f, step %.3f", n, float64(agents)/float64(n), float64(steps)/float64(n))
	if float64(agents) < .36*float64(n) || float64(steps) < .20*float64(n) {
		t.Errorf("agent %d, step %d of %d", agents, steps, n)
	}
}
