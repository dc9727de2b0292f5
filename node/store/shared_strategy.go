package store

import (
	"slices"
	"strconv"

	"cairn/federation"
)

// Promoted items of several principals that are of one kind become one strategy. It is a candidate like any other: it lists
// its sources, is judged by principals that none of them comes from, and earns its own trust. A hold, revocation or erasure
// of a source closes it.

// minAuthors is from how many principals the sources of a shared strategy come at least.
const minAuthors = 2

// considerSharedStrategy queues a look at the sub-pool of an item that was just promoted.
func (t *txn) considerSharedStrategy(e *Experience) {
	if e.MayBeSource() {
		t.enqueue(JobCompact, compactSubject(SharedOwner, e.TaskType), SharedOwner, t.now, e.TaskType)
	}
}

// MayBeSource reports whether an item can become part of a shared strategy: a success in the meta-pool that everybody sees
// and that is no strategy itself.
func (e *Experience) MayBeSource() bool {
	return e.Shared() && e.Status == federation.StatusPromoted && e.Unit == "" && e.Kind == federation.KindSuccess && e.TaskType != "" &&
		e.Lineage.Lens != LensStrategy
}

// SharedStrategy puts on the shelf what several principals' items of one sub-pool say in general. Screened is what the
// screener says of its text, which is redacted already.
type SharedStrategy struct {
	Job       JobRef               `cbor:"1,keyasint"`
	Copy      Experience           `cbor:"2,keyasint"` // id, text, keywords, tools, hash, generator, judge's score
	Vectors   Vectors              `cbor:"3,keyasint"`
	Sources   []Target             `cbor:"4,keyasint"` // 4 to 16 promoted items; the first one's author stands for all
	Screening federation.Screening `cbor:"5,keyasint"`
	Jurors    []string             `cbor:"6,keyasint,omitempty"`
	More      bool                 `cbor:"7,keyasint,omitempty"` // there is another one to make: run again
}

func applySharedStrategy(t *txn, b *SharedStrategy) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej == nil && (job.Kind != JobCompact || job.Owner != SharedOwner) {
		rej = reject("conflict", "the job is a "+job.Kind+" of "+strconv.FormatUint(uint64(job.Owner), 10))
	}
	if rej != nil {
		return nil, rej
	}
	sources, rej := t.sharedSources(&job, b.Sources)
	if rej != nil {
		return nil, rej
	}
	if b.Copy.ID == (ID{}) || t.has(nsKey(kindOwner, t.ns.Number).id(b.Copy.ID)) {
		return nil, reject("conflict", "the id of the strategy is zero or exists")
	}
	c := t.sharedStrategy(sources, &b.Copy)
	_, eligible := t.Eligible(c)
	if !validJury(b.Jurors, eligible) {
		return nil, reject("precondition", "the eligible jurors changed")
	}
	out := Nominated{Candidate: c.ID}
	same, taken := t.byHash(SharedOwner, c.Hash)
	switch {
	case taken:
		out = Nominated{Candidate: same.ID, Reason: ReasonAlreadyShared}
	case len(eligible) == 0:
		out = Nominated{Reason: federation.ReasonNoOutsideJudge}
	case b.Screening != federation.ScreeningPass && b.Screening != federation.ScreeningRedact:
		out = Nominated{Reason: federation.ReasonQuarantine}
	default:
		t.shelveStrategy(c, b)
	}
	if out.Reason != federation.ReasonNoOutsideJudge { // then it is tried again at the next promotion
		for _, s := range sources {
			t.put(sourceKey(t.ns.Number, SharedOwner, s.ID), c.ID)
		}
		job.Again = job.Again || b.More
	}
	t.endJob(job)
	return out, nil
}

// sharedSources reads the sources as they stand.
func (t *txn) sharedSources(job *Job, targets []Target) ([]*Experience, *Reject) {
	if len(targets) < MinSources || len(targets) > maxSources {
		return nil, rejectField("body.sources", "a strategy has 4..16 sources")
	}
	var sources []*Experience
	var authors []string
	for i, target := range targets {
		e, ok := t.experience(SharedOwner, target.ID)
		switch {
		case !ok || e.Version != target.Version || !e.MayBeSource() || e.TaskType != job.Extra:
			return nil, reject("precondition", "a source changed")
		case slices.ContainsFunc(targets[:i], func(x Target) bool { return x.ID == target.ID }):
			return nil, rejectField("body.sources", "a source is named twice")
		}
		sources = append(sources, e)
		if !slices.Contains(authors, e.Principal) {
			authors = append(authors, e.Principal)
		}
	}
	if len(authors) < minAuthors {
		return nil, rejectField("body.sources", "the sources are of several principals")
	}
	return sources, nil
}

// sharedStrategy is the candidate of a strategy: nothing of its sources' counters, trust or evidence goes with it.
func (t *txn) sharedStrategy(sources []*Experience, text *Experience) *Experience {
	first := sources[0]
	c := &Experience{
		ID: text.ID, Scenario: text.Scenario, Content: text.Content, Keywords: text.Keywords, Tools: text.Tools, Hash: text.Hash,
		Preconditions: text.Preconditions, Environment: text.Environment, ValidUntil: text.ValidUntil, Judge: text.Judge,
		Version: 1, Owner: SharedOwner, Agent: first.Agent, Principal: first.Principal, TaskType: first.TaskType,
		Kind: federation.KindSuccess, Strength: federation.InitialStrength(0), StrengthAt: t.now, CreatedAt: t.now,
		Lineage: Lineage{Lens: LensStrategy, Generator: text.Lineage.Generator, Judge: text.Lineage.Judge},
		Share:   federation.ShareCandidate, Status: federation.StatusCandidate,
	}
	for _, s := range sources {
		c.Lineage.DerivedFrom = append(c.Lineage.DerivedFrom, s.ID)
		c.Success, c.Failure = c.Success+s.Success, c.Failure+s.Failure
		if !slices.Contains(c.Authors, s.Principal) {
			c.Authors = append(c.Authors, s.Principal)
		}
	}
	slices.Sort(c.Authors)
	return c
}

func (t *txn) shelveStrategy(c *Experience, b *SharedStrategy) {
	jury := t.seat(c, &Nominate{Jurors: b.Jurors})
	c.Trust = withoutTerms(federation.Trust(nil, jury.Size, t.ns.Settings.Profile()))
	t.save(nil, c)
	b.Vectors.Version = 1
	t.put(t.vectorsKey(SharedOwner, c.ID), b.Vectors)
	t.count("nominations", 1)
	t.count("strategies", 1)
	t.experienceEvent("experience.nominated", c, map[string]string{
		"jury": strconv.Itoa(jury.Size), "sources": strconv.Itoa(len(c.Lineage.DerivedFrom)),
	})
}
