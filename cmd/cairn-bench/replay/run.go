package replay

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"cairn/cmd/cairn-bench/trusteval/machine"
	"cairn/federation"
	"cairn/node/store"
)

const (
	honest   = 10
	visits   = 3 // of each task, each by another principal
	stepMS   = 10_000
	mostUsed = 10 // shared claims that one receipt names
)

// run is one seed of a domain under a condition.
type run struct {
	domain  *domain
	cond    condition
	site    *machine.Site
	claims  []*claim
	byID    map[store.ID]*claim
	ledgers [][]federation.Ledger // [reader][author], as last read from the state

	sums []float64 // successes by task
}

// result is what a run gave: mean success by task, and how many pairs of an honest reader and an author came to be proven.
type result struct {
	byTask          []float64
	attackersProven float64
	honestProven    float64
	promoted        int
}

// step is one turn of a principal.
type step struct {
	principal int
	task      int
	attacker  bool
}

// schedule draws the order of steps: the same for every condition of a seed.
func schedule(d *domain, attackers int, rng *rand.Rand) []step {
	var out []step
	for t := range d.tasks {
		for _, p := range rng.Perm(honest)[:visits] {
			out = append(out, step{principal: p, task: t})
		}
	}
	each := len(out) / honest
	for a := range attackers {
		for range each {
			out = append(out, step{principal: honest + a, task: rng.IntN(len(d.tasks)), attacker: true})
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func replay(ctx context.Context, d *domain, cond condition, attackers int, dir string, seed uint64) (res result, err error) {
	folder, err := os.MkdirTemp(dir, "replay-*")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	site, err := machine.Open(filepath.Join(folder, "state"), seed)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	all := honest + attackers
	r := &run{
		domain: d, cond: cond, site: site, byID: map[store.ID]*claim{}, sums: make([]float64, len(d.tasks)),
		ledgers: make([][]federation.Ledger, all),
	}
	for i := range r.ledgers {
		r.ledgers[i] = make([]federation.Ledger, all)
	}
	if err := r.enrol(all); err != nil {
		return result{}, err
	}
	for i, s := range schedule(d, attackers, rand.New(rand.NewPCG(seed, 1))) {
		if err := ctx.Err(); err != nil {
			return result{}, err
		}
		site.Advance(site.Now() + stepMS)
		if err := r.take(s, rand.New(rand.NewPCG(seed, uint64(i)+2))); err != nil {
			return result{}, fmt.Errorf("step %d: %w", i, err)
		}
	}
	for reader := range honest {
		if err := r.consult(reader); err != nil {
			return result{}, err
		}
	}
	return r.result(attackers), nil
}

func agentName(p int) string { return fmt.Sprintf("agent-%02d", p) }

func principalName(p int) string { return fmt.Sprintf("team-%02d", p) }

func (r *run) enrol(all int) error {
	settings := store.Settings{PerDay: 1 << 20, PerOwner: 1 << 20}
	if r.cond.strict {
		settings.TrustProfile = "strict"
	}
	if err := r.site.Do(store.KindSettings, settings, nil); err != nil {
		return err
	}
	for p := range all {
		body := store.Agent{
			ID: agentName(p), Principal: principalName(p), Roles: []string{"agent"}, Keys: []store.AgentKey{r.site.Key(agentName(p))},
		}
		if err := r.site.Do(store.KindCreateAgent, body, nil); err != nil {
			return fmt.Errorf("enrol: %w", err)
		}
	}
	return nil
}

// take lets a principal take one step: recall, act, report, record.
func (r *run) take(s step, rng *rand.Rand) error {
	t := &r.domain.tasks[s.task]
	if s.attacker {
		a := t.attempts[rng.IntN(len(t.attempts))]
		a.success = !a.success
		return r.record(s.principal, s.task, a)
	}
	if err := r.consult(s.principal); err != nil {
		return err
	}
	a := r.pick(s.principal, s.task, rng)
	if a.success {
		r.sums[s.task]++
	}
	if err := r.report(s, a); err != nil {
		return err
	}
	return r.record(s.principal, s.task, a)
}

// consult reads what a reader knows about the authors.
func (r *run) consult(reader int) error {
	return r.site.Read(func(v *store.View, ns *store.Namespace) (err error) {
		for author := range r.ledgers[reader] {
			if r.ledgers[reader][author], err = v.Ledger(ns, principalName(author), principalName(reader)); err != nil {
				return err
			}
		}
		return nil
	})
}

// record adds the experience of a step and asks for its nomination.
func (r *run) record(p, t int, a attempt) error {
	c := &claim{author: p, task: t, arm: a.arm, success: a.success, order: len(r.claims)}
	r.claims = append(r.claims, c)
	verb := "worked"
	if !a.success {
		verb = "failed"
	}
	e := store.Experience{
		ID: r.site.NewID(), Agent: agentName(p), Scenario: r.domain.tasks[t].text, TaskType: r.domain.name, Kind: federation.KindDirect,
		Content: fmt.Sprintf("%s %s, first action %s (note %d)", r.domain.arms[a.arm], verb, a.text, c.order),
		Status:  federation.StatusActive, Share: federation.ShareCandidate, Judge: 500_000, Strength: 750_000,
		Group: r.domain.tasks[t].hash, Actions: [][32]byte{a.action}, Fails: !a.success,
	}
	e.Hash = sha256.Sum256([]byte(e.Content))
	c.private = e.ID
	r.byID[e.ID] = c
	vectors := store.Vectors{Vectors: []store.Vector{store.PackVector("bench", []float32{1}), store.PackVector("bench", []float32{1})}}
	if err := r.site.Do(store.KindAddExperience, store.AddExperience{Experience: e, Vectors: vectors}, nil); err != nil {
		return err
	}
	return r.settle()
}

// settle does the jobs that are due and reads what they changed.
func (r *run) settle() error {
	touched, err := r.site.Work()
	if err != nil {
		return err
	}
	return r.refresh(touched)
}

func (r *run) refresh(ids []store.ID) error {
	if len(ids) == 0 {
		return nil
	}
	return r.site.Read(func(v *store.View, ns *store.Namespace) error {
		for _, id := range ids {
			e, err := v.Experience(ns, id)
			if err != nil {
				return err
			}
			if e == nil || !e.Shared() {
				continue
			}
			c := r.byID[id]
			if c == nil {
				c = r.byID[e.Origin]
				c.shared, r.byID[id] = id, c
			}
			c.status, c.version = e.Status, e.Version
			if e.Trust != nil {
				c.trust = e.Trust.Mu
			}
			if c.jury, err = v.Jury(ns, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// report sends the outcome of a step with the shared claims that took part in it: those about the task that were followed,
// and the candidate in the exploratory slot.
func (r *run) report(s step, a attempt) error {
	given, trial := r.given(s, a)
	receipt := store.Receipt{
		Recall: r.site.NewID(), Agent: agentName(s.principal), TaskType: r.domain.name, Group: r.domain.tasks[s.task].hash, At: r.site.Now(),
	}
	body := store.Outcome{Evidence: federation.EvidenceVerified, Success: a.success, Actions: [][32]byte{a.action}}
	if a.success {
		body.Reward = federation.One
	}
	ids := make([]store.ID, 0, len(given))
	for _, c := range given {
		item := store.ReceiptItem{ID: c.shared, Version: c.version}
		if c == trial {
			item.Flags = store.FlagExploratory
		}
		followed := c.task == s.task && (c.arm == a.arm) == c.success
		credit := store.Credit{ID: c.shared, Version: c.version, Unused: !followed, Citation: r.site.NewID()}
		if followed {
			credit.Credit = federation.One
		}
		receipt.Items, body.Credits, ids = append(receipt.Items, item), append(body.Credits, credit), append(ids, c.shared)
	}
	body.Receipt = receipt
	if err := r.site.Do(store.KindOutcome, body, nil); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	return r.refresh(ids)
}

// given lists the shared claims about the task that the reader sees, and the candidate to be tried: about the task if
// there is one, then by mean lift, then the one that waits longest.
func (r *run) given(s step, a attempt) (list []*claim, trial *claim) {
	if !r.cond.shared {
		return nil, nil
	}
	juror := store.JurorOf("", principalName(s.principal), "")
	for _, c := range r.claims {
		if c.author == s.principal || c.shared == (store.ID{}) || c.task != s.task {
			continue
		}
		if c.status == federation.StatusCandidate && c.jury != nil && c.jury.Sits(juror) && (trial == nil || better(c, trial)) {
			trial = c
		}
		if r.weight(s.principal, c) > 0 && len(list) < mostUsed {
			list = append(list, c)
		}
	}
	if trial != nil && !slices.Contains(list, trial) {
		list = append(list, trial)
	}
	return list, trial
}

func better(a, b *claim) bool {
	if a.trust != b.trust {
		return a.trust > b.trust
	}
	return a.order < b.order
}

func (r *run) result(attackers int) result {
	res := result{byTask: r.sums}
	for i := range res.byTask {
		res.byTask[i] /= visits
	}
	for reader := range honest {
		for author := range r.ledgers[reader] {
			proven := author != reader && r.ledgers[reader][author].Proof() == federation.Proven
			switch {
			case proven && author < honest:
				res.honestProven += 1. / (honest * (honest - 1))
			case proven:
				res.attackersProven += 1 / float64(honest*attackers)
			}
		}
	}
	for _, c := range r.claims {
		if c.status == federation.StatusPromoted {
			res.promoted++
		}
	}
	return res
}
