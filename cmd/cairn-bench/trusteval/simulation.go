package trusteval

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"cairn/cmd/cairn-bench/trusteval/machine"
	"cairn/federation"
	"cairn/node/recall"
	"cairn/node/refine"
	"cairn/node/store"
)

// rounds is the number of times a day that agents recall: the tasks of one round are worked on at a time, and their recalls
// see the same state.
const rounds = 10

// simulation is one run of a world.
type simulation struct {
	world  *world
	rng    *rand.Rand
	site   *machine.Site
	memory *memory

	honest    [][]*agent
	attackers []*agent
	owed      float64 // tasks of attackers that are due
	tasks     uint64
	day       int

	praised map[praiseKey]int
	debt    map[string]float64 // by attacking principal: praise less blame

	successes, attempts int // of honest agents
}

// simulate runs a world from a seed and measures it.
func simulate(ctx context.Context, w world, seed uint64) (result figures, err error) {
	site, err := machine.OpenInMemory(seed)
	if err != nil {
		return figures{}, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	rng := rand.New(rand.NewPCG(seed, 0x7e57))
	s := &simulation{
		world: &w, rng: rng, site: site, memory: newMemory(site, len(w.bases)), honest: drawHonest(&w, rng),
		attackers: drawAttackers(&w, rng), praised: map[praiseKey]int{}, debt: map[string]float64{},
	}
	if err := s.enrol(); err != nil {
		return figures{}, err
	}
	for s.day = range days {
		if err := ctx.Err(); err != nil {
			return figures{}, err
		}
		if err := s.runDay(); err != nil {
			return figures{}, fmt.Errorf("day %d: %w", s.day, err)
		}
	}
	if err := s.memory.refresh(); err != nil {
		return figures{}, err
	}
	result = s.measure()
	if err := s.watch(&result); err != nil {
		return figures{}, err
	}
	if w.silence > 0 {
		err = s.passSilence(&result)
	}
	return result, err
}

func (s *simulation) enrol() error {
	settings := store.Settings{}
	if s.world.strict {
		settings.TrustProfile = "strict"
	}
	if s.world.isolated {
		settings.Share = federation.ShareNever
	}
	if err := s.site.Do(store.KindSettings, settings, nil); err != nil {
		return err
	}
	var all []*agent
	for _, team := range s.honest {
		all = append(all, team...)
	}
	for _, a := range append(all, s.attackers...) {
		body := store.Agent{ID: a.id, Principal: a.principal, Roles: []string{"agent"}, Keys: []store.AgentKey{s.site.Key(a.id)}}
		if err := s.site.Do(store.KindCreateAgent, body, nil); err != nil {
			return fmt.Errorf("enrol %s: %w", a.id, err)
		}
	}
	return nil
}

func (s *simulation) runDay() error {
	actors := s.actors()
	start := machine.Epoch + int64(s.day)*machine.Day
	for i := range rounds {
		s.site.Advance(start + machine.Day*int64(i)/rounds)
		if err := s.work(actors[len(actors)*i/rounds : len(actors)*(i+1)/rounds]); err != nil {
			return err
		}
	}
	s.site.Advance(start + machine.Day - 1)
	return s.night()
}

// night runs the rules that time drives, and the jobs they leave.
func (s *simulation) night() error {
	if err := s.site.Tick(); err != nil {
		return err
	}
	touched, err := s.site.Work()
	s.memory.touch(touched...)
	s.memory.touchShelf()
	return err
}

// turn is one task of an agent, from recall to report.
type turn struct {
	agent   *agent
	plan    plan
	hostile bool
	given   []recall.Ranked
	receipt store.Receipt
	foreign int // shared items of honest authors or others that the report names
	success bool
}

// work lets some agents do a task each: they recall, work and report; what they learn is recorded after it.
func (s *simulation) work(actors []*agent) error {
	if err := s.memory.refresh(); err != nil {
		return err
	}
	turns := make([]turn, len(actors))
	for i, a := range actors {
		turns[i] = s.begin(a)
	}
	for i := range turns {
		if err := s.site.Queue(store.KindOutcome, s.end(&turns[i])); err != nil {
			return err
		}
	}
	for i := range turns {
		if err := s.learn(&turns[i]); err != nil {
			return err
		}
	}
	results, err := s.site.Flush()
	if err != nil {
		return err
	}
	if err := s.settle(turns, results); err != nil {
		return err
	}
	touched, err := s.site.Work()
	s.memory.touch(touched...)
	return err
}

// begin draws a task and recalls.
func (s *simulation) begin(a *agent) turn {
	t := turn{agent: a, hostile: a.attacker && s.day >= s.world.attackFrom}
	if t.hostile {
		t.plan = s.plot(a)
	} else {
		t.plan.task = s.world.drawTask(s.rng)
	}
	t.given = s.memory.recall(a, t.plan.task, s.rng.Float64())
	s.tasks++
	t.receipt = store.Receipt{
		Recall: s.site.NewID(), Agent: a.id, TaskType: typeName(t.plan.task.kind), At: s.site.Now(),
		Group: sha256.Sum256(binary.BigEndian.AppendUint64(nil, s.tasks)),
	}
	for _, r := range t.given {
		x := r.Hit.Meta.(*entry)
		item := store.ReceiptItem{ID: x.id, Version: x.exp.Version, Hash: x.exp.Hash}
		if r.Exploratory {
			item.Flags = store.FlagExploratory
		}
		t.receipt.Items = append(t.receipt.Items, item)
		s.memory.touch(x.id)
	}
	return t
}

// end works on the task and makes the report.
func (s *simulation) end(t *turn) store.Outcome {
	body := store.Outcome{Receipt: t.receipt, Evidence: federation.EvidenceVerified}
	var used *[]string
	if t.hostile {
		success, named := s.testify(t.agent, t.plan, t.given)
		t.success, used, t.foreign = success, &named, len(named)
	} else {
		var named []string
		t.success, named = s.attempt(t)
		body.Evidence = t.agent.kind
		if t.agent.named {
			used = &named
		}
	}
	if body.Success = t.success; t.success {
		body.Reward = federation.One
	}
	body.Credits = s.credits(t.given, used)
	return body
}

// attempt is an honest try: it returns what the agent reports, and what it used.
func (s *simulation) attempt(t *turn) (bool, []string) {
	named := []string{}
	var used []*item
	ordinary := 0
	for _, r := range t.given {
		ordinary += one(!r.Exploratory)
	}
	followed := s.rng.IntN(max(ordinary, 1))
	for i, r := range t.given {
		if r.Exploratory || i == followed { // the exploratory place is the last
			x := r.Hit.Meta.(*entry)
			named, used = append(named, x.name), append(used, x.item)
		}
	}
	success := s.rng.Float64() < s.world.chance(t.plan.task, used)
	if !t.agent.attacker {
		s.attempts++
		if success {
			s.successes++
		}
	}
	return t.agent.says(success, s.rng), named
}

func (s *simulation) credits(given []recall.Ranked, used *[]string) []store.Credit {
	list := make([]refine.Given, len(given))
	for i, r := range given {
		list[i] = refine.Given{ID: r.ID, Version: r.Hit.Meta.(*entry).exp.Version, Rank: r.Rank, Exploratory: r.Exploratory}
	}
	credits, _ := refine.Credits(list, used)
	out := make([]store.Credit, len(credits))
	for i, c := range credits {
		out[i] = store.Credit{
			ID: given[i].Hit.Meta.(*entry).id, Version: c.Version, Credit: c.Credit, Unused: c.Used == federation.UsedNo,
			Citation: s.site.NewID(),
		}
	}
	return out
}

// learn records an experience after some tasks.
func (s *simulation) learn(t *turn) error {
	if s.day >= recordUntil || s.rng.Float64() >= recordShare || t.hostile && s.world.attack == slander {
		return nil
	}
	effect := s.world.mix.draw(s.rng)
	if t.hostile {
		effect = attackEffect
	}
	it, body := s.memory.newItem(t.agent, t.plan.task, effect, t.hostile, s.rng)
	it.trained = t.agent.attacker && !t.hostile
	return s.site.Queue(store.KindAddExperience, body)
}

// settle reads the answers: nothing may be refused, and attackers look at what was expected of them.
func (s *simulation) settle(turns []turn, results []store.Result) error {
	for i, r := range results {
		if r.Reject != nil {
			return fmt.Errorf("command %d of a batch: %w", i, r.Reject)
		}
	}
	for i := range turns {
		t := &turns[i]
		if !t.hostile {
			continue
		}
		var out store.Reported
		if err := store.DecodeBody(results[i].Body, &out); err != nil {
			return err
		}
		s.balance(t.agent, t.success, out.Expected, t.foreign)
	}
	return nil
}

// passSilence lets days pass without a report.
func (s *simulation) passSilence(f *figures) error {
	before := s.pool()
	for range s.world.silence {
		s.site.Advance(s.site.Now() + machine.Day)
		if err := s.night(); err != nil {
			return err
		}
	}
	if err := s.memory.refresh(); err != nil {
		return err
	}
	demoted := 0
	for _, it := range before {
		demoted += one(!it.pooled())
	}
	f.silenceDemoted = ratio(demoted, len(before))
	return nil
}
