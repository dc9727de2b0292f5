package gate

import (
	"cairn/index/embed"
)

// Match is a past outcome of a similar task. Similarity is the cosine on the common scale.
type Match struct {
	ID         string
	Group      string
	Similarity float64
}

// Similar returns the k past outcomes of agent whose tasks are most similar to v and whose reward is at least least, best
// first, one a group. Groups named in exclude, what is below the strict threshold of v's embedder, and what was embedded
// by another one are left out. Ties go as in Neighbours.
func (p *Predictor) Similar(agent string, exclude map[string]bool, v embed.Vector, least float64, k int) []Match {
	profile, ok := embed.ProfileOf(v.Embedder)
	unit, err := v.Unit()
	if !ok || err != nil || k <= 0 {
		return nil
	}
	strict := profile.Common(profile.Strict)
	p.mu.RLock()
	var found []scored
	for _, o := range p.agents[agent] {
		if exclude[o.Group] || o.Reward < least {
			continue
		}
		if cos, ok := cosine(unit, o.Vector); ok && profile.Common(cos) >= strict {
			found = append(found, scored{o, micro(profile.Common(cos))})
		}
	}
	p.mu.RUnlock()
	return onePerGroup(found, k)
}

func onePerGroup(found []scored, k int) []Match {
	sortScored(found)
	seen := make(map[string]bool)
	var out []Match
	for _, f := range found {
		if len(out) < k && !seen[f.Group] {
			seen[f.Group] = true
			out = append(out, Match{f.ID, f.Group, float64(f.similarity) / 1e6})
		}
	}
	return out
}
