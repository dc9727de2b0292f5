package gate

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"cairn/federation"
	"cairn/index/embed"
)

// MaxPerAgent is how many outcomes of one agent a Predictor remembers; the oldest give way.
const MaxPerAgent = 2000

// Outcome is one attempt that ended, as the predictor remembers it. Vector is the embedded task; Reward is in [0,1];
// At is the time of the outcome in Unix milliseconds and decides, with ID, which outcomes are oldest.
type Outcome struct {
	ID       string
	Agent    string
	TaskType string
	Group    string
	Vector   embed.Vector
	Reward   float64
	At       int64
}

// Predictor remembers outcomes and finds those of similar tasks. It is safe for concurrent use. The zero value is empty
// and ready.
type Predictor struct {
	mu     sync.RWMutex
	agents map[string][]Outcome // sorted by (At, ID)
	owner  map[string]string    // outcome id -> agent
}

// Add remembers an outcome. An outcome without id or agent, whose vector has no values or whose reward is not a number
// is ignored; one whose id is known replaces the old one. A reward outside [0,1] is clamped.
func (p *Predictor) Add(o Outcome) {
	v, err := o.Vector.Unit()
	if err != nil || o.ID == "" || o.Agent == "" || math.IsNaN(o.Reward) {
		return
	}
	o.Vector, o.Reward = v, min(1, max(0, o.Reward))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLocked(o.ID)
	if p.agents == nil {
		p.agents, p.owner = make(map[string][]Outcome), make(map[string]string)
	}
	list := p.agents[o.Agent]
	at, _ := slices.BinarySearchFunc(list, o, byAge)
	list = slices.Insert(list, at, o)
	p.owner[o.ID] = o.Agent
	if len(list) > MaxPerAgent {
		delete(p.owner, list[0].ID)
		list = slices.Delete(list, 0, 1)
	}
	p.agents[o.Agent] = list
}

// Remove forgets an outcome; an unknown id is no error.
func (p *Predictor) Remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLocked(id)
}

// Len is the number of outcomes remembered of an agent.
func (p *Predictor) Len(agent string) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.agents[agent])
}

func (p *Predictor) removeLocked(id string) {
	agent, ok := p.owner[id]
	if !ok {
		return
	}
	delete(p.owner, id)
	list := slices.DeleteFunc(p.agents[agent], func(o Outcome) bool { return o.ID == id })
	if len(list) == 0 {
		delete(p.agents, agent)
		return
	}
	p.agents[agent] = list
}

func byAge(a, b Outcome) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
}

type scored struct {
	Outcome
	similarity federation.Micro
}

// Neighbours returns the k most similar past outcomes of agent, best first. excludeGroup leaves out the attempts of the
// group that is being judged. Similarity is the cosine on the common scale less the floor of v's embedder on that scale;
// what is not above the floor, or was embedded by another embedder, is no neighbour. Ties go to the newer outcome, then
// to the smaller id.
func (p *Predictor) Neighbours(agent, excludeGroup string, v embed.Vector, k int) []federation.Neighbour {
	profile, ok := embed.ProfileOf(v.Embedder)
	unit, err := v.Unit()
	if !ok || err != nil || k <= 0 {
		return nil
	}
	floor := profile.Common(profile.Floor)
	p.mu.RLock()
	var found []scored
	for _, o := range p.agents[agent] {
		if excludeGroup != "" && o.Group == excludeGroup {
			continue
		}
		cos, ok := cosine(unit, o.Vector)
		if !ok {
			continue
		}
		if s := micro(profile.Common(cos) - floor); s > 0 {
			found = append(found, scored{o, s})
		}
	}
	p.mu.RUnlock()
	return nearest(found, k)
}

// sortScored puts the most similar first.
func sortScored(found []scored) {
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(b.At, a.At), cmp.Compare(a.ID, b.ID))
	})
}

func nearest(found []scored, k int) []federation.Neighbour {
	sortScored(found)
	out := make([]federation.Neighbour, 0, min(k, len(found)))
	for _, f := range found[:min(k, len(found))] {
		out = append(out, federation.Neighbour{Similarity: f.similarity, Reward: micro(f.Reward)})
	}
	return out
}

// cosine is the dot product of two unit vectors of one space.
func cosine(a, b embed.Vector) (float64, bool) {
	if a.Embedder != b.Embedder || len(a.Values) != len(b.Values) {
		return 0, false
	}
	var s0, s1, s2, s3 float32
	x, y := a.Values, b.Values[:len(a.Values)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return float64(s0+s1) + float64(s2+s3), true
}

func micro(x float64) federation.Micro { return federation.Micro(math.Floor(x*1e6 + .5)) }
