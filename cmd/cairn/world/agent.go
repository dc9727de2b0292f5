package world

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// maxCalls is how many calls an agent may spend on a task.
const maxCalls = 8

// Agent is a scripted agent. It has no state of its own.
type Agent struct {
	ID        string
	Principal string
	// Liar reports the opposite of every outcome and keeps its attempts to itself.
	Liar bool
}

// Fleet is the demo's eight agents of six principals; the last one lies.
func Fleet() []Agent {
	return []Agent{
		{ID: "ada-1", Principal: "ada"}, {ID: "ada-2", Principal: "ada"},
		{ID: "bo-1", Principal: "bo"}, {ID: "bo-2", Principal: "bo"},
		{ID: "cleo-1", Principal: "cleo"},
		{ID: "dan-1", Principal: "dan"},
		{ID: "eve-1", Principal: "eve"},
		{ID: "mallory-1", Principal: "mallory", Liar: true},
	}
}

// Episode is one finished task.
type Episode struct {
	Agent   Agent
	Task    Task
	Attempt Attempt
	Used    []string
}

// Work does one task: recall, choose a plan, carry it out, report, record. seed fixes the agent's own choices, so that
// the same task without useful memory is tried in the same way in every arm.
func (a Agent) Work(ctx context.Context, seed uint64, t Task, m Memory) (Episode, error) {
	r := rand.New(rand.NewPCG(seed, hash(t.ID)))
	recall, err := a.recall(ctx, t, m)
	if err != nil {
		return Episode{}, err
	}
	plan, used := choose(r, t, recall.Items)
	attempt := carryOut(&t, plan)
	attempt.Receipt = recall.Receipt
	ep := Episode{Agent: a, Task: t, Attempt: attempt, Used: used}
	if m == nil {
		return ep, nil
	}
	return ep, a.tell(ctx, ep, m)
}

func (a Agent) recall(ctx context.Context, t Task, m Memory) (Recall, error) {
	if m == nil {
		return Recall{}, nil
	}
	recall, err := m.Recall(ctx, a, t)
	if err != nil {
		return Recall{}, fmt.Errorf("recall for task %s: %w", t.ID, err)
	}
	return recall, nil
}

func (a Agent) tell(ctx context.Context, ep Episode, m Memory) error {
	o := Outcome{Success: ep.Attempt.Success, Reward: ep.Attempt.Reward, Used: ep.Used}
	if a.Liar {
		o.Success, o.Reward = !o.Success, 1-o.Reward
	}
	if err := m.Outcome(ctx, a, ep.Attempt.Receipt, o); err != nil {
		return fmt.Errorf("report task %s: %w", ep.Task.ID, err)
	}
	if a.Liar {
		return nil
	}
	if err := m.Record(ctx, a, ep.Task, ep.Attempt); err != nil {
		return fmt.Errorf("record task %s: %w", ep.Task.ID, err)
	}
	return nil
}

// choose takes the exploratory item if there is one that can be followed and is not known to harm, else the first
// ordinary one, else a plan at random.
func choose(r *rand.Rand, t Task, items []Item) (Plan, []string) {
	for _, exploratory := range []bool{true, false} {
		for _, item := range items {
			if item.Exploratory != exploratory || discredited(item) {
				continue
			}
			if plan, ok := follow(r, t, item.Content); ok {
				return plan, []string{item.ID}
			}
		}
	}
	return randomPlan(r, t), []string{}
}

// discredited reports whether memory itself says that an item does harm. Of an own item that is its record. Of a shared
// one it is the trust interval below "as expected", after a few reports, as one liar may be among the first; a low
// interval of an item that helps says only that success is what everybody expects by now.
func discredited(item Item) bool {
	if item.Trust == nil {
		return item.Recalled >= 2 && (item.Helped+1)/(item.Recalled+2) < .3
	}
	return item.Trust.Trials >= 4 && item.Trust.High < .5 && 2*item.Helped < item.Recalled
}

// follow reads a plan out of a recalled text and fills it from the task. It reports false when the text has no plan for
// this task's tools.
func follow(r *rand.Rand, t Task, content string) (Plan, bool) {
	plan, ok := ParsePlan(content)
	if !ok {
		return nil, false
	}
	for i, c := range plan {
		tool, ok := findTool(t.Tools, c.Tool)
		if !ok {
			return nil, false
		}
		plan[i] = fill(r, t, tool, c)
	}
	return plan, true
}

// fill replaces placeholders by the task's values, and what the text leaves open by a guess.
func fill(r *rand.Rand, t Task, tool Tool, c Call) Call {
	args := make(map[string]string, len(tool.Args))
	for _, a := range tool.Args {
		value := c.Args[a.Name]
		if name, ok := placeholder(value); ok {
			value = t.Values[name]
		}
		if value == "" {
			value = guess(r, t, a)
		}
		args[a.Name] = value
	}
	return Call{Tool: c.Tool, Args: args}
}

func guess(r *rand.Rand, t Task, a Arg) string {
	if len(a.Options) > 0 {
		return pick(r, a.Options)
	}
	return t.Values[a.Name]
}

// forget is the chance that an agent without guidance leaves a tool out.
const forget = .04

// randomPlan puts the task's tools in a random order, some left out, with random choices.
func randomPlan(r *rand.Rand, t Task) Plan {
	var plan Plan
	for _, i := range r.Perm(len(t.Tools)) {
		if r.Float64() < forget {
			continue
		}
		plan = append(plan, fill(r, t, t.Tools[i], Call{Tool: t.Tools[i].Name}))
	}
	return plan
}

// carryOut makes the calls of a plan until the request is fulfilled or the calls are spent.
func carryOut(t *Task, plan Plan) Attempt {
	env := Start(t)
	var a Attempt
	for _, c := range plan[:min(len(plan), maxCalls)] {
		a.Steps = append(a.Steps, Step{Call: c, Observation: env.Call(c)})
	}
	a.Reward = env.Reward()
	a.Success = a.Reward == 1
	return a
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s)) // a hash.Hash never fails
	return h.Sum64()
}
