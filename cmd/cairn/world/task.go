package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Tool is what an agent knows about a tool: its name and its arguments.
type Tool struct {
	Name string
	Args []Arg
}

// Arg is an argument of a tool. Without options its value is the task's value of the same name; with options it is one
// of them, and which one works is what an agent has to learn.
type Arg struct {
	Name    string
	Options []string
}

// Task is one request. Values are the words of the text that arguments take, by argument name.
type Task struct {
	ID     string
	Type   string
	Text   string
	Values map[string]string
	Tools  []Tool
	// Environment is where the task plays, as an agent tells it to its memory; nil where it makes no difference.
	Environment map[string]string

	kind   *kind
	hidden string
}

// kind is a family of tasks on one simulator.
type kind struct {
	name  string
	tools []Tool
	// draw makes one request. hidden is a circumstance that only the simulator sees.
	draw func(r *rand.Rand) (text string, values map[string]string, hidden string)
	// environment is where a request plays; nil when the family knows no differences.
	environment func(hidden string) map[string]string
	// start makes the simulator of one request in its initial state.
	start func(t *Task) backend
}

// backend is a simulator in the middle of one request.
type backend interface {
	// call carries out one call. The error is what the tool answered; it does not end the request.
	call(c Call) (observation string, err error)
	// done reports whether the request has been fulfilled.
	done() bool
}

// kinds are all families, in the order in which tasks are drawn.
var kinds = []*kind{
	flightBooking, flightRefund, pagedSearch, bankTransfer, forecast, calendarEvent, ticketClose, snapshotRestore,
	dataDeletion, addressChange,
}

// distinct is how many requests are drawn of a family. Tasks repeat them, as requests do in real work.
const distinct = 24

// Types are the names of the task families.
func Types() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Tasks draws each agent's tasks: the answer holds n tasks for every agent, and is the same for the same arguments. An
// agent has two families that are its daily work, drawn twice as often as the others.
func Tasks(seed uint64, agents []Agent, n int) map[string][]Task {
	pools := drawPools(rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)))
	out := make(map[string][]Task, len(agents))
	for i, a := range agents {
		r := rand.New(rand.NewPCG(seed, uint64(i)+1))
		tasks := make([]Task, n)
		for j := range tasks {
			k := drawKind(r, i)
			tasks[j] = pools[k][r.IntN(distinct)]
			tasks[j].ID = fmt.Sprintf("%s-%04d", a.ID, j)
		}
		out[a.ID] = tasks
	}
	return out
}

func drawPools(r *rand.Rand) [][]Task {
	pools := make([][]Task, len(kinds))
	for i, k := range kinds {
		for range distinct {
			text, values, hidden := k.draw(r)
			t := Task{Type: k.name, Text: text, Values: values, Tools: k.tools, kind: k, hidden: hidden}
			if k.environment != nil {
				t.Environment = k.environment(hidden)
			}
			pools[i] = append(pools[i], t)
		}
	}
	return pools
}

// drawKind picks a family for the i-th agent.
func drawKind(r *rand.Rand, agent int) int {
	n := r.IntN(len(kinds) + 2)
	if n < len(kinds) {
		return n
	}
	return (2*agent + n - len(kinds)) % len(kinds)
}

// Observation is the answer of a tool.
type Observation struct {
	Text   string
	Failed bool
}

// Env is the world during one task. It belongs to one goroutine.
type Env struct {
	task    *Task
	backend backend
}

// Start puts the world into the initial state of a task.
func Start(t *Task) *Env { return &Env{task: t, backend: t.kind.start(t)} }

// Call carries out one call and returns what the tool answered.
func (e *Env) Call(c Call) Observation {
	if err := checkCall(e.task.Tools, c); err != nil {
		return Observation{Text: "error: " + err.Error(), Failed: true}
	}
	text, err := e.backend.call(c)
	if err != nil {
		return Observation{Text: "error: " + err.Error(), Failed: true}
	}
	return Observation{Text: text}
}

// Reward is 1 when the request has been fulfilled, else 0.
func (e *Env) Reward() float64 {
	if e.backend.done() {
		return 1
	}
	return 0
}

// checkCall refuses unknown tools and missing or unknown arguments, as an API would.
func checkCall(tools []Tool, c Call) error {
	tool, ok := findTool(tools, c.Tool)
	if !ok {
		return fmt.Errorf("404 no tool %q here", c.Tool)
	}
	for _, a := range tool.Args {
		if c.Args[a.Name] == "" {
			return fmt.Errorf("422 %s needs %s", c.Tool, a.Name)
		}
	}
	for name := range c.Args {
		if !tool.has(name) {
			return fmt.Errorf("422 %s has no argument %s", c.Tool, name)
		}
	}
	return nil
}

func findTool(tools []Tool, name string) (Tool, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func (t Tool) has(arg string) bool {
	for _, a := range t.Args {
		if a.Name == arg {
			return true
		}
	}
	return false
}

// mismatch names the first argument that is not the task's value.
func mismatch(t *Task, c Call, names ...string) error {
	for _, n := range names {
		if c.Args[n] != t.Values[n] {
			return fmt.Errorf("404 unknown %s %q", n, c.Args[n])
		}
	}
	return nil
}

// ToolNames are the names of all tools of the world, each once.
func ToolNames() []string {
	var names []string
	for _, k := range kinds {
		for _, t := range k.tools {
			if !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	return names
}
