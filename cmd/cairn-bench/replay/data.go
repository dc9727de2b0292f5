package replay

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"cairn/cmd/cairn-bench/jsonl"
	"cairn/federation"
)

// attempt is one recorded choice.
type attempt struct {
	arm     int
	action  [32]byte // hash of the first tool call
	text    string   // of the first tool call
	success bool
}

// task is a recorded task with its arms in order of name, one attempt each.
type task struct {
	id       string
	text     string
	hash     [32]byte
	attempts []attempt
	near     []federation.Micro // similarity to every task
}

// domain is what was recorded of one kind of task.
type domain struct {
	name  string
	arms  []string
	tasks []task
}

// recorded is a line of a data file.
type recorded struct {
	TaskID  string `json:"task_id"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Agent   string `json:"agent"`
	Success *bool  `json:"success"`
	Steps   []struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	} `json:"steps"`
}

// file is where a domain's attempts are.
func file(dir, name string) string { return filepath.Join(dir, "trajectories-"+name+".jsonl") }

// strategySuffix marks the variants of one arm.
var strategySuffix = regexp.MustCompile(`_fs_\d+$`)

// load reads a domain. It returns an error that matches [os.ErrNotExist] when the file is missing.
func load(dir, name string) (*domain, error) {
	d := &domain{name: name}
	at, arms := map[string]int{}, map[string]int{}
	err := jsonl.Each(file(dir, name), func(r recorded) error {
		if r.Success != nil && len(r.Steps) > 0 {
			d.add(&r, at, arms)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	d.finish()
	return d, nil
}

// add keeps the first attempt of an arm at a task.
func (d *domain) add(r *recorded, at, arms map[string]int) {
	i, ok := at[r.TaskID]
	if !ok {
		i = len(d.tasks)
		at[r.TaskID] = i
		d.tasks = append(d.tasks, task{id: r.TaskID, text: r.Task, hash: sha256.Sum256([]byte(r.Task))})
	}
	name := strategySuffix.ReplaceAllString(r.Agent, "")
	arm, ok := arms[name]
	if !ok {
		arm = len(d.arms)
		arms[name] = arm
		d.arms = append(d.arms, name)
	}
	t := &d.tasks[i]
	if slices.ContainsFunc(t.attempts, func(a attempt) bool { return a.arm == arm }) {
		return
	}
	first := r.Steps[0].Tool + string(r.Steps[0].Args)
	t.attempts = append(t.attempts, attempt{arm: arm, action: federation.LessonAction(name + ": " + first), text: first, success: *r.Success})
}

// finish orders arms within tasks, drops tasks without a choice and compares the tasks' words.
func (d *domain) finish() {
	d.tasks = slices.DeleteFunc(d.tasks, func(t task) bool { return len(t.attempts) < 2 })
	words := make([][]uint64, len(d.tasks))
	for i := range d.tasks {
		slices.SortFunc(d.tasks[i].attempts, func(a, b attempt) int { return a.arm - b.arm })
		words[i] = federation.TokenSet(d.tasks[i].text)
	}
	for i := range d.tasks {
		d.tasks[i].near = make([]federation.Micro, len(d.tasks))
		for j := range d.tasks {
			d.tasks[i].near[j] = federation.Jaccard(words[i], words[j])
		}
	}
}
