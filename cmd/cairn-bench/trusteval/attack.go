package trusteval

import (
	"math/rand/v2"

	"cairn/federation"
	"cairn/node/recall"
	"cairn/node/store"
)

// attack is what attackers do from day 28 on.
type attack int

const (
	_ attack = iota // an honest fleet
	// ring praises the experiences of the other attackers whenever it is given one, and else reports failures without
	// naming anything, which lowers what the server expects of it and blames nobody.
	ring
	// balancedRing also blames what honest authors shared, as much as it praises, so that its mean report is even.
	balancedRing
	// aimedRing knows the rule: it asks for what it wants to praise, by its own text, and praises each experience only as
	// often as the cap on a juror lets count, so that its leniency stays small.
	aimedRing
	// slander records nothing. It blames what honest authors shared and reports successes in between.
	slander
)

const (
	praiseMass  = 2  // reports of praise that the aimed ring gives to one experience
	praiseShare = .2 // of its tasks, while there is something to praise
)

// plan is one task of an attacker: what it faces and what it will report. A ring decides when it sees what it is given.
type plan struct {
	task   task
	praise *item // the one that the aimed ring asks for
	blame  bool
}

// plot chooses an attacker's next task.
func (s *simulation) plot(a *agent) plan {
	p := plan{task: s.world.drawTask(s.rng)}
	switch s.world.attack {
	case slander:
		p.blame = s.rng.Float64() < .5
	case balancedRing:
		p.blame = s.debt[a.principal] > 0
	case aimedRing:
		if s.rng.Float64() >= praiseShare {
			break
		}
		if it := s.needsPraise(a); it != nil {
			p.praise, p.task.kind, p.task.exact = it, it.kind, it
		}
	}
	return p
}

// needsPraise draws one of the experiences that this attacker may judge and has not praised enough.
func (s *simulation) needsPraise(a *agent) *item {
	var open []*item
	for _, it := range s.memory.items {
		x := it.shared
		if !it.hostile || x == nil || x.exp == nil || x.jury == nil || it.author.principal == a.principal {
			continue
		}
		live := x.exp.Status == federation.StatusCandidate || x.exp.Status == federation.StatusPromoted
		if live && x.jury.Sits(a.juror) && s.praised[praiseKey{a.principal, x.id}] < praiseMass {
			open = append(open, it)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open[s.rng.IntN(len(open))]
}

// praiseKey counts praise of an experience by a principal.
type praiseKey struct {
	principal string
	item      store.ID
}

// testify is what an attacker reports of what it was given: whether it succeeded, and what it names as used.
func (s *simulation) testify(a *agent, p plan, given []recall.Ranked) (success bool, used []string) {
	friends, honest := []string{}, []string{}
	for _, r := range given {
		x := r.Hit.Meta.(*entry)
		switch {
		case x.item.hostile && x.item.author.principal != a.principal && (p.praise == nil || p.praise == x.item):
			friends = append(friends, x.name)
			s.praised[praiseKey{a.principal, x.id}]++
		case x.exp.Shared() && !x.item.author.attacker:
			honest = append(honest, x.name)
		}
	}
	switch {
	case p.blame:
		return false, honest
	case s.world.attack == slander:
		return true, []string{}
	case s.world.attack == aimedRing && p.praise == nil || len(friends) == 0:
		return false, []string{}
	}
	return true, friends
}

// balance keeps account of how far an attacker's reports are from even.
func (s *simulation) balance(a *agent, success bool, expected federation.Micro, foreign int) {
	y := federation.Micro(0)
	if success {
		y = federation.One
	}
	s.debt[a.principal] += float64(foreign) * (unit(federation.Lift(y, expected)) - .5)
}

func drawAttackers(w *world, rng *rand.Rand) []*agent {
	var out []*agent
	for i := range w.attackers {
		owner := name("ring", i)
		if w.oneOwner {
			owner = "ring"
		}
		a := newAgent(name("ring", i), owner, rng)
		a.attacker = true
		out = append(out, a)
	}
	return out
}
