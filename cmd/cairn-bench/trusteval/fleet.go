package trusteval

import (
	"fmt"
	"math/rand/v2"

	"cairn/node/store"
)

// agent is a simulated caller.
type agent struct {
	id        string
	principal string
	juror     string
	attacker  bool
	reporter
}

func newAgent(id, principal string, rng *rand.Rand) *agent {
	return &agent{id: id, principal: principal, juror: store.JurorOf("", principal, ""), reporter: drawReporter(rng)}
}

func name(kind string, i int) string { return fmt.Sprintf("%s-%02d", kind, i) }

// drawHonest draws the agents of the honest principals: 1 to 3 each.
func drawHonest(w *world, rng *rand.Rand) [][]*agent {
	out := make([][]*agent, w.honest)
	for i := range out {
		owner := name("team", i)
		for j := range 1 + rng.IntN(3) {
			out[i] = append(out[i], newAgent(fmt.Sprintf("%s-%d", owner, j), owner, rng))
		}
	}
	return out
}

// actors draws who works on a day, in order. Each attacker works as often as an honest principal.
func (s *simulation) actors() []*agent {
	var out []*agent
	for range s.world.perDay {
		team := s.honest[s.rng.IntN(len(s.honest))]
		out = append(out, team[s.rng.IntN(len(team))])
	}
	s.owed += float64(s.world.perDay*len(s.attackers)) / float64(len(s.honest))
	for ; s.owed >= 1; s.owed-- {
		out = append(out, s.attackers[s.rng.IntN(len(s.attackers))])
	}
	s.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
