package store

import (
	"strconv"

	"cairn/federation"
)

// RequestNomination asks that an author's experience be shown to a jury now, whatever its record.
type RequestNomination struct {
	ID    ID     `cbor:"1,keyasint"`
	Owner uint32 `cbor:"2,keyasint"`
}

func applyRequestNomination(t *txn, b *RequestNomination) (any, *Reject) {
	e, ok := t.experience(b.Owner, b.ID)
	if !ok {
		return nil, reject("not_found", "experience not found")
	}
	if e.Status != federation.StatusActive || e.Shared() {
		return nil, reject("conflict", "only an active private experience is nominated; this one is "+string(e.Status))
	}
	if e.Candidate != (ID{}) {
		return nil, reject("conflict", "this version is on the shelf already")
	}
	if federation.CombineShare(e.Share) == federation.ShareNever {
		return nil, reject("conflict", "share is never")
	}
	e.Share = federation.ShareCandidate
	t.touch(e)
	t.enqueue(JobNominate, e.ID, e.Owner, t.now, "")
	return Added{ID: e.ID, Version: e.Version, Owner: e.Owner}, nil
}

// Nominate puts a redacted, screened copy on the shelf with the jury that the leader drew. Unit is fixed for the item.
type Nominate struct {
	Job       JobRef               `cbor:"1,keyasint"`
	Original  Target               `cbor:"2,keyasint"`
	Copy      Experience           `cbor:"3,keyasint"` // id and redacted text; the rest is taken from the original
	Vectors   Vectors              `cbor:"4,keyasint"`
	Screening federation.Screening `cbor:"5,keyasint"`
	Unit      string               `cbor:"6,keyasint,omitempty"`
	Jurors    []string             `cbor:"7,keyasint,omitempty"`
	Findings  []string             `cbor:"8,keyasint,omitempty"` // names of the screening rules that fired
}

// Nominated says what became of a nomination; Reason is empty when the copy is on the shelf.
type Nominated struct {
	Candidate ID     `cbor:"1,keyasint"`
	Reason    string `cbor:"2,keyasint,omitempty"`
}

func applyNominate(t *txn, b *Nominate) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	original, ok := t.experience(b.Original.Owner, b.Original.ID)
	if !ok {
		t.endJob(job)
		return Nominated{Reason: "erased"}, nil
	}
	if original.Version != b.Original.Version {
		return nil, reject("precondition", "the original changed")
	}
	unit, eligible := t.Eligible(original)
	if unit != b.Unit || !validJury(b.Jurors, eligible) {
		return nil, reject("precondition", "the eligible jurors changed")
	}
	agent, _ := t.agent(original.Agent)
	input := federation.NominationInput{
		Share: federation.CombineShare(original.Share, agent.Share, t.ns.Settings.Share),
		Kind:  original.Kind, Status: original.Status, Own: original.Own, Screening: b.Screening,
		Outside: len(eligible), Candidate: original.Candidate != (ID{}),
	}
	okay, reason := federation.Nominate(input)
	out := Nominated{Reason: reason}
	if okay || reason == federation.ReasonQuarantine {
		out = t.shelve(original, b, okay)
	}
	was := clone(original)
	original.Blocked = out.Reason
	if out.Candidate != (ID{}) {
		original.Candidate = out.Candidate
	}
	t.save(was, original)
	t.endJob(job)
	return out, nil
}

func validJury(jurors, eligible []string) bool {
	if len(jurors) != federation.JurySize(len(eligible)) {
		return false
	}
	may := map[string]bool{}
	for _, j := range eligible {
		may[j] = true
	}
	for _, j := range jurors {
		if !may[j] {
			return false
		}
		may[j] = false
	}
	return true
}

// shelve makes the copy: a candidate with its jury, or a quarantined one that only an admin sees.
func (t *txn) shelve(original *Experience, b *Nominate, clean bool) Nominated {
	c := b.Copy
	if same, ok := t.byHash(SharedOwner, c.Hash); ok && clean {
		return Nominated{Candidate: same.ID, Reason: "already_shared"}
	}
	c.Version, c.Owner, c.Agent, c.Principal = 1, SharedOwner, original.Agent, original.Principal
	c.Origin, c.OriginOwner, c.OriginVer = original.ID, original.Owner, original.Version
	c.Tools, c.TaskType, c.Kind, c.Preconditions = original.Tools, original.TaskType, original.Kind, original.Preconditions
	c.Environment, c.ValidUntil, c.Group = original.Environment, original.ValidUntil, original.Group
	c.Judge, c.RPE, c.Success, c.Failure = original.Judge, original.RPE, original.Success, original.Failure
	c.Strength, c.StrengthAt = original.StrengthNow(t.now), t.now
	c.Lineage = Lineage{DerivedFrom: []ID{original.ID}, Lens: original.Lineage.Lens, Generator: original.Lineage.Generator}
	c.CreatedAt, c.Unit, c.Share = t.now, b.Unit, federation.ShareCandidate
	c.Status = federation.StatusCandidate
	out := Nominated{Candidate: c.ID}
	if !clean {
		c.Status, out.Reason = federation.StatusQuarantined, federation.ReasonQuarantine
	}
	jury := t.seat(&c, b)
	score := federation.Trust(nil, jury.Size, t.ns.Settings.Profile())
	c.Trust = withoutTerms(score)
	t.save(nil, &c)
	b.Vectors.Version = 1
	t.put(t.vectorsKey(SharedOwner, c.ID), b.Vectors)
	if !clean {
		t.experienceEvent("experience.held", &c, map[string]string{"reason": federation.ReasonQuarantine})
		return out
	}
	if p, ok := t.principal(c.Principal); ok {
		p.Authored++
		t.put(t.principalKey(p.ID), p)
	}
	t.count("nominations", 1)
	t.experienceEvent("experience.nominated", &c, map[string]string{"jury": strconv.Itoa(jury.Size)})
	return out
}

func (t *txn) seat(c *Experience, b *Nominate) Jury {
	jury := Jury{Unit: b.Unit, Size: len(b.Jurors)}
	for _, j := range b.Jurors {
		jury.Seats = append(jury.Seats, Seat{Juror: j, Since: t.now})
		t.addSeats(b.Unit, j, 1)
	}
	t.put(t.juryKey(c.ID), jury)
	return jury
}

func (t *txn) addSeats(unit, juror string, delta int) {
	if unit == UnitAgent {
		return
	}
	if p, ok := t.principal(juror[len("principal:"):]); ok {
		p.Seats += delta
		t.put(t.principalKey(p.ID), p)
	}
}

// Eligible lists who may sit on an item's jury, in order of id, and the unit: principals outside the author's in good
// standing, or, where the namespace has one principal with agents, that principal's other agents.
func (t *txn) Eligible(e *Experience) (unit string, jurors []string) {
	return eligible(t, t.ns, t.now, e)
}

// directory is what the rule of eligibility reads.
type directory interface {
	eachPrincipal(func(Principal))
	eachAgent(func(Agent))
}

func eligible(d directory, ns *Namespace, now int64, e *Experience) (unit string, jurors []string) {
	owners := 0
	d.eachPrincipal(func(p Principal) {
		if p.Judges == 0 {
			return
		}
		owners++
		if p.ID != e.Principal && federation.GoodStanding(p.Standing(ns), now) {
			jurors = append(jurors, JurorOf("", p.ID, ""))
		}
	})
	if owners > 1 {
		return "", jurors
	}
	d.eachAgent(func(a Agent) {
		standing := federation.Standing{AdmittedAt: a.CreatedAt, NamespaceCreatedAt: ns.CreatedAt}
		if a.ID != e.Agent && a.judge() && federation.GoodStanding(standing, now) {
			jurors = append(jurors, JurorOf(UnitAgent, "", a.ID))
		}
	})
	return UnitAgent, jurors
}

// eachAgent visits the namespace's agents in order of id.
func (t *txn) eachAgent(fn func(Agent)) {
	t.scan(nsKey(kindAgent, t.ns.Number), func(_, v []byte) bool {
		var a Agent
		if err := decodeValue(v, &a); err != nil {
			t.fail(err)
			return false
		}
		fn(a)
		return true
	})
}

// Promote lets a candidate into the meta-pool, or fuses it with an item that says the same.
type Promote struct {
	Job      JobRef `cbor:"1,keyasint"`
	Target   Target `cbor:"2,keyasint"`
	Decision ID     `cbor:"3,keyasint"`
	Fuse     ID     `cbor:"4,keyasint"`
	FuseVer  int    `cbor:"5,keyasint,omitempty"`
}

// Promoted says what was decided.
type Promoted struct {
	Decision ID     `cbor:"1,keyasint"`
	Done     bool   `cbor:"2,keyasint,omitempty"`
	Reason   string `cbor:"3,keyasint,omitempty"`
}

func applyPromote(t *txn, b *Promote) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	e, ok := t.experience(SharedOwner, b.Target.ID)
	if !ok || e.Status != federation.StatusCandidate {
		t.endJob(job)
		return Promoted{Reason: "not_a_candidate"}, nil
	}
	if e.Version != b.Target.Version {
		return nil, reject("precondition", "the candidate changed")
	}
	d, okay := t.decide(e)
	if okay && b.Fuse != (ID{}) {
		into, ok := t.experience(SharedOwner, b.Fuse)
		if !ok || into.Status != federation.StatusPromoted || into.Version != b.FuseVer {
			return nil, reject("precondition", "the item to fuse with changed")
		}
		d.FusedWith = into.ID
	}
	t.endJob(job)
	d.ID = b.Decision
	if !okay {
		e.Blocked = d.Reasons[0]
		t.touch(e)
		return Promoted{Reason: d.Reasons[0]}, nil
	}
	t.putDecision(e, d)
	t.promote(e, d)
	return Promoted{Decision: d.ID, Done: true}, nil
}

// decide evaluates the rule on what stands now.
func (t *txn) decide(e *Experience) (*Decision, bool) {
	var jury Jury
	t.get(t.juryKey(e.ID), &jury)
	list, names := t.jurors(e, &jury)
	profile := t.ns.Settings.Profile()
	d := &Decision{
		Experience: e.ID, Version: e.Version, Action: "promote", Status: "automatic", Profile: profile,
		Score: federation.Trust(list, jury.Size, profile), Jurors: names, Quota: t.quota(e),
	}
	d.Verdict, d.Reasons = federation.Decide(d.Score, false, profile)
	if d.Verdict != federation.VerdictPromote {
		return d, false
	}
	if holds, reason := federation.QuotaHolds(d.Quota); !holds {
		d.Reasons = append(d.Reasons, reason)
		return d, false
	}
	d.Reasons = append(d.Reasons, "rule")
	return d, true
}

func (t *txn) quotaKey(principal string) keyBuf {
	return nsKey(kindQuota, t.ns.Number).u64(uint64(t.now / day)).str(principal)
}

func (t *txn) quota(e *Experience) federation.QuotaInput {
	author, _ := t.principal(e.Principal)
	active := 0
	t.eachPrincipal(func(p Principal) {
		if p.Judges > 0 && !p.Suspended {
			active++
		}
	})
	return federation.QuotaInput{
		PromotedToday: int(t.number(t.quotaKey(e.Principal))), AuthorInMeta: author.InMeta,
		MetaSize: int(t.counter("meta")), ActivePrincipals: active, Limits: t.ns.Settings.Quota(),
	}
}

func (t *txn) promote(e *Experience, d *Decision) {
	old := clone(e)
	e.Trust, e.Blocked = withoutTerms(d.Score), ""
	t.setNumber(t.quotaKey(e.Principal), t.number(t.quotaKey(e.Principal))+1)
	data := map[string]string{"decision": d.ID.String(), "trust": strconv.FormatInt(d.Score.Trust, 10)}
	if d.FusedWith != (ID{}) {
		e.Status, e.SupersededBy = federation.StatusSuperseded, d.FusedWith
		t.save(old, e)
		data["into"] = d.FusedWith.String()
		t.count("merges", 1)
		t.experienceEvent("experience.merged", e, data)
		return
	}
	e.Status, e.PromotedAt, e.General = federation.StatusPromoted, max(t.now, 1), t.general(e)
	t.save(old, e)
	t.addInMeta(e.Principal, 1)
	t.count("meta", 1)
	t.count("promotions", 1)
	t.experienceEvent("experience.promoted", e, data)
}

// general reports whether the item brought lift in two task types or more.
func (t *txn) general(e *Experience) bool {
	mass, sum := map[string]federation.Micro{}, map[string]federation.Micro{}
	t.scan(nsKey(kindEvidence, t.ns.Number).id(e.ID), func(_, v []byte) bool {
		var ev Evidence
		if err := decodeValue(v, &ev); err != nil {
			t.fail(err)
			return false
		}
		if ev.Version == e.Version {
			mass[ev.TaskType] += ev.Mass
			sum[ev.TaskType] += federation.Mass(ev.Mass, ev.Lift)
		}
		return true
	})
	proved := 0
	for taskType, m := range mass { // a count: the order does not matter
		if m >= federation.One && 2*sum[taskType] > m {
			proved++
		}
	}
	return proved >= 2
}

// ReplaceJuror fills the seat of a juror that was struck; an empty New means that nobody eligible is left.
type ReplaceJuror struct {
	Job    JobRef `cbor:"1,keyasint"`
	ID     ID     `cbor:"2,keyasint"`
	Struck string `cbor:"3,keyasint"`
	New    string `cbor:"4,keyasint,omitempty"`
}

func applyReplaceJuror(t *txn, b *ReplaceJuror) (any, *Reject) {
	job, rej := t.leased(b.Job)
	if rej != nil {
		return nil, rej
	}
	var jury Jury
	e, ok := t.experience(SharedOwner, b.ID)
	if !ok || !t.get(t.juryKey(b.ID), &jury) || e.Status != federation.StatusCandidate {
		t.endJob(job)
		return struct{}{}, nil
	}
	free := t.freeJurors(e, &jury)
	if b.New == "" && len(free) > 0 || b.New != "" && !contains(free, b.New) {
		return nil, reject("precondition", "the eligible jurors changed")
	}
	if b.New != "" {
		jury.Seats = append(jury.Seats, Seat{Juror: b.New, Since: t.now})
		t.addSeats(jury.Unit, b.New, 1)
	}
	jury.Size = federation.JuryAfterStrike(jury.Size, b.New != "")
	t.put(t.juryKey(e.ID), jury)
	t.reconsider(e, &jury)
	t.endJob(job)
	return struct{}{}, nil
}

// freeJurors are eligible and never sat on this jury.
func (t *txn) freeJurors(e *Experience, jury *Jury) []string {
	unit, all := t.Eligible(e)
	return withoutSeated(unit, all, jury)
}

func withoutSeated(unit string, all []string, jury *Jury) []string {
	if unit != jury.Unit {
		return nil // the unit is fixed for the item
	}
	sat := map[string]bool{}
	for _, s := range jury.Seats {
		sat[s.Juror] = true
	}
	var free []string
	for _, j := range all {
		if !sat[j] {
			free = append(free, j)
		}
	}
	return free
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
