package pipeline

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cairn/cmd/cairn-bench/jsonl"
	"cairn/node/acquire"
)

// domains are the task types whose attempts have rewards.
var domains = []string{"airline", "bash", "bfcl", "ctf", "hotpotqa", "python", "sql", "strategyqa"}

// attemptRow is a line of trajectories-*.jsonl.
type attemptRow struct {
	TaskID  string   `json:"task_id"`
	Domain  string   `json:"domain"`
	Task    string   `json:"task"`
	Attempt int      `json:"attempt"`
	Agent   string   `json:"agent"`
	Reward  *float64 `json:"reward"`
	Success *bool    `json:"success"`
	Trial   any      `json:"trial"`
	Steps   []struct {
		Tool        string         `json:"tool"`
		Args        map[string]any `json:"args"`
		Observation string         `json:"observation"`
		Thought     string         `json:"thought"`
		Reward      *float64       `json:"step_reward"`
	} `json:"steps"`
}

// taskGroup is all attempts at one task.
type taskGroup struct {
	id, domain, task string
	rows             []attemptRow
}

// readLines reads the JSON values of a file of the data folder.
func readLines[T any](dir, name string) ([]T, error) {
	if dir == "" {
		return nil, fmt.Errorf("no %s: %w", name, os.ErrNotExist)
	}
	var out []T
	err := jsonl.Read(filepath.Join(dir, name), &out)
	return out, err
}

// groups reads the attempts of a domain, grouped by task, in order of task.
func (r *runner) groups(domain string) ([]taskGroup, error) {
	rows, err := readLines[attemptRow](r.opts.Data, "trajectories-"+domain+".jsonl")
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	var out []taskGroup
	for _, row := range rows {
		i, ok := at[row.TaskID]
		if !ok {
			i = len(out)
			at[row.TaskID] = i
			out = append(out, taskGroup{id: row.TaskID, domain: row.Domain, task: row.Task})
		}
		out[i].rows = append(out[i].rows, row)
	}
	slices.SortFunc(out, func(a, b taskGroup) int { return cmp.Compare(a.id, b.id) })
	return out, nil
}

// half says to which of two halves a name belongs; salt makes other halves.
func half(name string, salt uint64) int { return int(spreadHash(name, salt) & 1) }

// distillable makes the distiller's group of some attempts at a task.
func distillable(g taskGroup, rows []attemptRow) acquire.Group {
	out := acquire.Group{TaskType: g.domain, Task: g.task}
	for i, row := range rows {
		a := acquire.Attempt{Number: i, HasReward: row.Reward != nil}
		if row.Reward != nil {
			a.Score, a.Success = acquire.Normalise(*row.Reward, [2]float64{0, 1}, 1)
		}
		for _, s := range row.Steps {
			a.Steps = append(a.Steps, acquire.Step{Tool: s.Tool, Args: s.Args, Observation: s.Observation, Thought: s.Thought, Reward: s.Reward})
		}
		out.Attempts = append(out.Attempts, a)
	}
	return out
}

// spreadHash orders names at random, the same way for one salt.
func spreadHash(name string, salt uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", salt, name)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
