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
	noAttack attack = iota
	// ring praises the experiences of the other attackers, and else reports failures without naming anything, which
	// lowers what the server expects of it and blames nobody.
	ring
	// balancedRing also blames what honest authors shared, as much as it praises, so that its mean report is even.
	balancedRing
	// slander records nothing. It blames what honest authors shared and reports successes in between.
	slander
)

const (
	praiseMass  = 2  // reports of praise that an attacker gives to one experience
	praiseShare = .2 // of an attacker's tasks, while there is something to praise
)

// plan is one task of an attacker: what it faces and what it will report.
type plan struct {
	task    task
	praise  *item
	blame   bool
	success bool
}

// plot chooses an attacker's next task.
func (s *simulation) plot(a *agent) plan {
	p := plan{task: s.world.drawTask(s.rng)}
	switch s.world.attack {
	case slander:
		p.success = s.rng.Float64() < .5
		p.blame = !p.success
		return p
	case balancedRing:
		if s.debt[a.principal] > 0 {
			p.blame = true
			return p
		}
	}
	if s.rng.Float64() >= praiseShare {
		return p
	}
	if it := s.needsPraise(a); it != nil {
		p.praise, p.success = it, true
		p.task.kind, p.task.exact = it.kind, it
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

// testify is what an attacker says it used, for what it was given.
func (s *simulation) testify(a *agent, p plan, given []recall.Ranked) (success bool, used []string) {
	used = []string{}
	for _, r := range given {
		x := r.Hit.Meta.(*entry)
		switch {
		case p.praise != nil && x.item == p.praise:
			s.praised[praiseKey{a.principal, x.id}]++
			used = append(used, x.name)
		case p.blame && x.exp.Shared() && !x.item.author.attacker:
			used = append(used, x.name)
		}
	}
	if p.praise != nil && len(used) == 0 {
		return false, used // it was not given: praise for nothing would only raise what is expected
	}
	return p.success, used
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
