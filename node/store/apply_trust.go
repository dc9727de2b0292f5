package store

import (
	"slices"
	"strconv"
	"strings"

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
	if t.onShelf(e) {
		return nil, reject("conflict", "this version is on the shelf already")
	}
	if federation.CombineShare(e.Share, t.author(e.Agent).Share, t.ns.Settings.Share) == federation.ShareNever {
		return nil, reject("conflict", "share is never, of the experience, its agent or the namespace")
	}
	if e.Kind == federation.KindCaution {
		return nil, reject("conflict", "a caution stays private")
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

// ReasonAlreadyShared says that the shelf or the meta-pool has this text already.
const ReasonAlreadyShared = "already_shared"

// Nominated says what became of a nomination; Reason is empty when the copy is on the shelf.
type Nominated struct {
	Candidate ID     `cbor:"1,keyasint"`
	Reason    string `cbor:"2,keyasint,omitempty"`
}

func applyNominate(t *txn, b *Nominate) (any, *Reject) {
	job, rej := t.leasedFor(b.Job, JobNominate, b.Original.ID)
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
	if b.Copy.ID == (ID{}) || t.has(nsKey(kindOwner, t.ns.Number).id(b.Copy.ID)) {
		return nil, reject("conflict", "the id of the copy is zero or exists")
	}
	agent := t.author(original.Agent)
	input := federation.NominationInput{
		Share: federation.CombineShare(original.Share, agent.Share, t.ns.Settings.Share),
		Kind:  original.Kind, Status: original.Status, Own: original.Own, Screening: b.Screening,
		Outside: len(eligible), Candidate: t.onShelf(original),
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
	if same, ok := t.byHash(SharedOwner, unitHash(b.Unit, b.Copy.Hash)); ok && clean {
		return Nominated{Candidate: same.ID, Reason: ReasonAlreadyShared}
	}
	c := t.frozen(original, &b.Copy)
	c.Unit = b.Unit
	out := Nominated{Candidate: c.ID}
	if !clean {
		c.Status, out.Reason = federation.StatusQuarantined, federation.ReasonQuarantine
	}
	jury := t.seat(c, b)
	c.Trust = withoutTerms(federation.Trust(nil, jury.Size, t.ns.Settings.Profile()))
	t.save(nil, c)
	b.Vectors.Version = 1
	t.put(t.vectorsKey(SharedOwner, c.ID), b.Vectors)
	if !clean {
		t.experienceEvent("experience.held", c, map[string]string{"reason": federation.ReasonQuarantine})
		return out
	}
	if p, ok := t.principal(c.Principal); ok {
		p.Authored++
		t.put(t.principalKey(p.ID), p)
	}
	t.claim(c)
	t.count("nominations", 1)
	t.experienceEvent("experience.nominated", c, map[string]string{"jury": strconv.Itoa(jury.Size)})
	return out
}

// frozen is the copy of an original with the redacted text: nothing of the owner's counters goes with it.
func (t *txn) frozen(original, text *Experience) *Experience {
	return &Experience{
		ID: text.ID, Scenario: text.Scenario, Content: text.Content, Keywords: text.Keywords, Hash: text.Hash,
		Version: 1, Owner: SharedOwner, Agent: original.Agent, Principal: original.Principal,
		Origin: original.ID, OriginOwner: original.Owner, OriginVer: original.Version,
		Tools: original.Tools, TaskType: original.TaskType, Kind: original.Kind, Preconditions: original.Preconditions,
		Environment: original.Environment, ValidUntil: original.ValidUntil, Group: original.Group,
		Task: original.Task, Actions: original.Actions, Fails: original.Fails,
		Judge: original.Judge, RPE: original.RPE, Success: original.Success, Failure: original.Failure,
		Strength: original.StrengthNow(t.now), StrengthAt: t.now, CreatedAt: t.now,
		Lineage: Lineage{
			DerivedFrom: []ID{original.ID}, Lens: original.Lineage.Lens, Generator: original.Lineage.Generator,
		},
		Share: federation.ShareCandidate, Status: federation.StatusCandidate,
	}
}

// onShelf reports whether this version of an original has its shared copy. A copy that only agents of one owner judge does
// not count once there are other principals: it is hidden from them, and their jury has to see its own.
func (t *txn) onShelf(original *Experience) bool {
	if original.Candidate == (ID{}) {
		return false
	}
	shared, ok := t.experience(SharedOwner, original.Candidate)
	if !ok || shared.Unit != UnitAgent {
		return true
	}
	unit, _ := t.Eligible(original)
	return unit == UnitAgent
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
	id, ok := strings.CutPrefix(juror, JurorOf("", "", ""))
	if unit == UnitAgent || !ok {
		return
	}
	if p, ok := t.principal(id); ok {
		p.Seats += delta
		t.put(t.principalKey(p.ID), p)
	}
}

// Eligible lists who may sit on an item's jury, in order of id, and the unit: principals outside the author's in good
// standing, or, where the author's principal is the only one with agents, its other agents.
func (t *txn) Eligible(e *Experience) (unit string, jurors []string) {
	return eligible(t, t.ns, t.now, e)
}

// directory is what the rule of eligibility reads.
type directory interface {
	eachPrincipal(func(Principal))
	eachAgent(func(Agent))
}

func eligible(d directory, ns *Namespace, now int64, e *Experience) (unit string, jurors []string) {
	outside := 0
	d.eachPrincipal(func(p Principal) {
		if p.Judges == 0 || p.ID == e.Principal || slices.Contains(e.Authors, p.ID) {
			return
		}
		outside++
		if federation.GoodStanding(p.Standing(ns), now) {
			jurors = append(jurors, JurorOf("", p.ID, ""))
		}
	})
	if outside > 0 {
		return "", jurors
	}
	d.eachAgent(func(a Agent) {
		standing := federation.Standing{AdmittedAt: a.CreatedAt, NamespaceCreatedAt: ns.CreatedAt}
		if a.ID != e.Agent && a.Principal == e.Principal && a.judge() && federation.GoodStanding(standing, now) {
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
	job, rej := t.leasedFor(b.Job, JobPromote, b.Target.ID)
	if rej != nil {
		return nil, rej
	}
	if b.Decision == (ID{}) || t.has(nsKey(kindDecision, t.ns.Number).id(b.Decision)) {
		return nil, reject("conflict", "the id of the decision is zero or exists")
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
		// An item that is hidden from others cannot stand for one that they proved, nor an older version for its successor.
		if into.Unit == e.Unit && (into.Origin != e.Origin || e.Origin == (ID{})) && !t.keptApart(e.ID, into.ID) {
			d.FusedWith = into.ID
		}
	}
	t.endJob(job)
	d.ID = b.Decision
	if !okay {
		e.Blocked = d.Reasons[0]
		t.touch(e)
		if e.Blocked == federation.ReasonQuotaDay || e.Blocked == federation.ReasonQuotaShare {
			t.enqueue(JobPromote, e.ID, e.Owner, (t.now/day+1)*day, "") // quotas move on by themselves
		}
		return Promoted{Reason: d.Reasons[0]}, nil
	}
	if t.ns.Settings.Approval == "manual" {
		return t.await(e, d), nil
	}
	t.putDecision(e, d)
	t.promote(e, d)
	return Promoted{Decision: d.ID, Done: true}, nil
}

// await leaves a decision to a curator, once for an item.
func (t *txn) await(e *Experience, d *Decision) Promoted {
	if e.Pending == (ID{}) {
		d.Status = DecisionPending
		t.putDecision(e, d)
		e.Pending, e.Blocked = d.ID, "approval"
		t.touch(e)
	}
	return Promoted{Decision: e.Pending, Reason: "approval"}
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
		t.noteFused(e, d.FusedWith)
		t.experienceEvent("experience.merged", e, data)
		t.replaceCopies(e, d.FusedWith)
		return
	}
	e.Status, e.PromotedAt, e.General = federation.StatusPromoted, max(t.now, 1), t.general(e)
	t.save(old, e)
	t.count("promotions", 1)
	t.experienceEvent("experience.promoted", e, data)
	t.considerSharedStrategy(e)
	t.replaceCopies(e, e.ID)
}

// replaceCopies retires the earlier shared copies of an original once a later one is promoted; they kept their places
// until now.
func (t *txn) replaceCopies(e *Experience, by ID) {
	t.scan(nsKey(kindChild, t.ns.Number).id(e.Origin), func(k, _ []byte) bool {
		earlier, ok := t.experience(SharedOwner, lastID(k))
		if !ok || earlier.ID == e.ID || earlier.Origin != e.Origin || !earlier.Live() {
			return true
		}
		old := clone(earlier)
		earlier.Status, earlier.SupersededBy = federation.StatusSuperseded, by
		t.save(old, earlier)
		t.experienceEvent("experience.merged", earlier, map[string]string{"into": by.String()})
		return len(t.writes) < purgeStep
	})
}

// general reports whether the item brought lift in two task types or more, by the jurors that were not struck.
func (t *txn) general(e *Experience) bool {
	var jury Jury
	t.get(t.juryKey(e.ID), &jury)
	mass, sum := map[string]federation.Micro{}, map[string]federation.Micro{}
	t.scan(nsKey(kindEvidence, t.ns.Number).id(e.ID), func(_, v []byte) bool {
		var ev Evidence
		if err := decodeValue(v, &ev); err != nil {
			t.fail(err)
			return false
		}
		if ev.Version == e.Version && jury.Sits(ev.Juror) {
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
	job, rej := t.leasedFor(b.Job, JobReplace, b.ID)
	if rej != nil {
		return nil, rej
	}
	var jury Jury
	e, ok := t.experience(SharedOwner, b.ID)
	if !ok || !t.get(t.juryKey(b.ID), &jury) || e.Status != federation.StatusCandidate || jury.vacant() <= 0 {
		t.endJob(job)
		return struct{}{}, nil
	}
	free := t.freeJurors(e, &jury)
	if b.New == "" && len(free) > 0 || b.New != "" && !slices.Contains(free, b.New) {
		return nil, reject("precondition", "the eligible jurors changed")
	}
	if b.New != "" {
		jury.Seats = append(jury.Seats, Seat{Juror: b.New, Since: t.now})
		t.addSeats(jury.Unit, b.New, 1)
	}
	jury.Size = federation.JuryAfterStrike(jury.Size, b.New != "")
	t.put(t.juryKey(e.ID), jury)
	t.reconsider(e, &jury)
	job.Again = jury.vacant() > 0 && (b.New != "" || jury.Size > 1) // a seat at a time; the last one waits for somebody
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
