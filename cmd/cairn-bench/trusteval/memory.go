package trusteval

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"cairn/federation"
	"cairn/index"
	"cairn/node/recall"
	"cairn/node/store"

	"cairn/cmd/cairn-bench/trusteval/machine"
)

// item is an experience with what only the simulation knows about it.
type item struct {
	author  *agent
	kind    int
	valid   uint // bit s: it holds in situation s
	effect  float64
	salt    uint64
	hostile bool // recorded by an attacker during the attack
	trained bool // recorded by an attacker before

	private *entry
	shared  *entry // nil until nominated
}

// entry mirrors a record of the state.
type entry struct {
	item *item
	id   store.ID
	name string
	exp  *store.Experience
	jury *store.Jury
}

// memory mirrors the records that recalls look at. What commands may have changed is marked stale and read again before
// the next recalls.
type memory struct {
	site   *machine.Site
	items  []*item
	byKind [][]*item
	byID   map[store.ID]*entry
	stale  map[store.ID]bool
}

func newMemory(site *machine.Site, kinds int) *memory {
	return &memory{
		site: site, byKind: make([][]*item, kinds), byID: map[store.ID]*entry{}, stale: map[store.ID]bool{},
	}
}

// newItem draws an experience about a task and gives the command that records it.
func (m *memory) newItem(a *agent, t task, effect float64, hostile bool, rng *rand.Rand) (*item, store.AddExperience) {
	it := &item{author: a, kind: t.kind, effect: effect, salt: rng.Uint64(), hostile: hostile}
	it.valid = half(rng)
	if hostile {
		it.valid = 1<<situations - 1
	}
	e := store.Experience{
		ID: m.site.NewID(), Agent: a.id, Scenario: fmt.Sprintf("task of %s", typeName(t.kind)),
		Content: fmt.Sprintf("lesson %d", len(m.items)), Keywords: []string{"lesson"}, TaskType: typeName(t.kind),
		Kind: federation.KindDirect, Status: federation.StatusActive, Judge: 500_000, Strength: 750_000,
	}
	if hostile {
		e.Share = federation.ShareCandidate
	}
	e.Hash = sha256.Sum256([]byte(e.Content))
	it.private = &entry{item: it, id: e.ID, name: e.ID.String()}
	m.items = append(m.items, it)
	m.byKind[it.kind] = append(m.byKind[it.kind], it)
	m.byID[e.ID] = it.private
	m.touch(e.ID)
	return it, store.AddExperience{Experience: e, Vectors: someVector}
}

// someVector stands for the embeddings, which nothing here compares.
var someVector = store.Vectors{Vectors: []store.Vector{store.PackVector("bench", []float32{1}), store.PackVector("bench", []float32{1})}}

// half draws half of the situations.
func half(rng *rand.Rand) (set uint) {
	for bits.OnesCount(set) < situations/2 {
		set |= 1 << rng.IntN(situations)
	}
	return set
}

func (m *memory) touch(ids ...store.ID) {
	for _, id := range ids {
		if id != (store.ID{}) {
			m.stale[id] = true
		}
	}
}

// touchShelf marks every candidate: the nightly rules may have changed them.
func (m *memory) touchShelf() {
	for _, it := range m.items {
		if it.shared != nil {
			m.touch(it.shared.id)
		}
	}
}

// refresh reads what is stale.
func (m *memory) refresh() error {
	if len(m.stale) == 0 {
		return nil
	}
	err := m.site.Read(func(v *store.View, ns *store.Namespace) error {
		for id := range m.stale {
			if err := m.load(v, ns, id); err != nil {
				return err
			}
		}
		return nil
	})
	clear(m.stale)
	return err
}

func (m *memory) load(v *store.View, ns *store.Namespace, id store.ID) error {
	e, err := v.Experience(ns, id)
	if err != nil {
		return err
	}
	known := m.byID[id]
	if e == nil {
		if known != nil {
			known.exp = nil // purged
		}
		return nil
	}
	if known == nil {
		origin := m.byID[e.Origin]
		if origin == nil {
			return fmt.Errorf("experience %s comes from nowhere", id)
		}
		known = &entry{item: origin.item, id: id, name: id.String()}
		origin.item.shared = known
		m.byID[id] = known
	}
	known.exp = e
	if e.Shared() {
		known.jury, err = v.Jury(ns, id)
	}
	return err
}

// recall ranks what an agent gets for a task.
func (m *memory) recall(a *agent, t task, coin float64) []recall.Ranked {
	var ordinary, shelf []recall.Candidate
	for _, it := range m.byKind[t.kind] {
		if !it.holds(t) && t.exact != it {
			continue // its preconditions do not
		}
		cosine := it.similarity(t)
		if it.author == a {
			if e := it.private.exp; e != nil && e.Status == federation.StatusActive {
				ordinary = append(ordinary, m.candidate(it.private, a, cosine, recall.SourceOwn))
			}
			continue
		}
		s := it.shared
		if s == nil || s.exp == nil {
			continue
		}
		switch s.exp.Status {
		case federation.StatusPromoted, federation.StatusDormant:
			ordinary = append(ordinary, m.candidate(s, a, cosine, recall.SourceMeta))
		case federation.StatusCandidate:
			if s.jury != nil && s.jury.Sits(a.juror) {
				shelf = append(shelf, m.candidate(s, a, cosine, recall.SourceCandidate))
			}
		}
	}
	opts := recall.DefaultOptions()
	opts.Coin = coin
	ranked, _ := recall.Rank(ordinary, shelf, opts)
	return ranked
}

func (m *memory) candidate(x *entry, a *agent, cosine float64, source string) recall.Candidate {
	e := x.exp
	c := recall.Candidate{
		ID: x.name, Source: source, Principal: e.Principal, Own: e.Principal == a.principal, Strength: unit(e.StrengthNow(m.site.Now())),
		Hit:      index.Hit{ID: x.name, Meta: x, Cosine: cosine, HasCosine: true, Common: cosine, Score: cosine, AboveFloor: true},
		UseCount: unit(e.Recalled), CreatedAt: e.CreatedAt, WaitingSince: e.CreatedAt,
	}
	switch {
	case source == recall.SourceOwn:
		c.Trust = unit(federation.OwnTrust(e.Helped, e.Recalled))
	case e.Trust != nil:
		c.Trust, c.Mu = unit(e.Trust.Trust), unit(e.Trust.Mu)
	}
	return c
}

func unit(x federation.Micro) float64 { return float64(x) / float64(federation.One) }
