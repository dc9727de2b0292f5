package recall

import (
	"cmp"
	"slices"
	"sync"

	"cairn/index/embed"
)

const (
	// RouteNeighbours is how many past tasks vote about the task type of a new one.
	RouteNeighbours = 5
	// RouteWeak is the share of the votes below which a route says too little: search all sub-pools.
	RouteWeak = .6
	// RouteNear is the similarity on the common scale that the nearest task has to have. Who knows tasks of one type only
	// would else send everything there.
	RouteNear = .3
	// maxTasks is how many tasks a Router remembers of one agent; the oldest give way.
	maxTasks = 2000
)

// Router remembers the tasks that agents recorded and tells to which task type a new task belongs: that of the tasks most
// like it (section 3.1 of the rules of memory). It looks at tasks, not at experiences, since a task type whose attempts
// taught nothing new has no experiences and is a task type all the same. It is safe for concurrent use; the zero value is
// empty and ready.
type Router struct {
	mu     sync.RWMutex
	agents map[string][]routedTask // oldest first
}

type routedTask struct {
	id, taskType string
	vector       embed.Vector
}

// Route is where a task belongs. TaskType is empty when no task of a type is known; Share is what part of the votes it
// has, in [0,1]; Nearest is the similarity of the most similar task, on the common scale.
type Route struct {
	TaskType string
	Share    float64
	Nearest  float64
}

// Weak reports that the vote decides nothing.
func (r Route) Weak() bool {
	return r.TaskType == "" || r.Share < RouteWeak || r.Nearest < RouteNear
}

// Add remembers a task of an agent under its id; a known id is replaced. A task without a type or with a vector that
// cannot be used does not vote.
func (r *Router) Add(agent, id, taskType string, v embed.Vector) {
	unit, err := v.Unit()
	if err != nil || taskType == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.agents == nil {
		r.agents = make(map[string][]routedTask)
	}
	list := r.agents[agent]
	if at := slices.IndexFunc(list, func(t routedTask) bool { return t.id == id }); at >= 0 {
		list[at] = routedTask{id, taskType, unit}
		return
	}
	if len(list) == maxTasks {
		list = slices.Delete(list, 0, 1)
	}
	r.agents[agent] = append(list, routedTask{id, taskType, unit})
}

// Remove drops one task of an agent, if it is known.
func (r *Router) Remove(agent, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents[agent] = slices.DeleteFunc(r.agents[agent], func(t routedTask) bool { return t.id == id })
	if len(r.agents[agent]) == 0 {
		delete(r.agents, agent)
	}
}

// Clear drops all tasks.
func (r *Router) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = nil
}

// Forget drops an agent's tasks.
func (r *Router) Forget(agent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.agents, agent)
}

// Route lets the RouteNeighbours nearest tasks of the agent vote, each with its similarity on the common scale. Among
// equal sums the first name wins.
func (r *Router) Route(agent string, v embed.Vector) Route {
	unit, err := v.Unit()
	profile, ok := embed.ProfileOf(v.Embedder)
	if err != nil || !ok {
		return Route{}
	}
	type vote struct {
		taskType string
		weight   float64
	}
	var votes []vote
	r.mu.RLock()
	for _, t := range r.agents[agent] {
		if t.vector.Embedder == unit.Embedder && len(t.vector.Values) == len(unit.Values) {
			votes = append(votes, vote{t.taskType, max(0, profile.Common(product(unit.Values, t.vector.Values)))})
		}
	}
	r.mu.RUnlock()
	slices.SortFunc(votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.taskType, b.taskType))
	})
	sums, total := make(map[string]float64), 0.0
	for _, x := range votes[:min(len(votes), RouteNeighbours)] {
		sums[x.taskType] += x.weight
		total += x.weight
	}
	var best Route
	for taskType, sum := range sums {
		share := sum / max(total, 1e-9)
		if best.TaskType == "" || share > best.Share || share == best.Share && taskType < best.TaskType {
			best = Route{TaskType: taskType, Share: share}
		}
	}
	if len(votes) > 0 {
		best.Nearest = votes[0].weight
	}
	return best
}

// product of two vectors of one length; both have unit length here, so that it is their cosine.
func product(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0+s1) + float64(s2+s3)
}
