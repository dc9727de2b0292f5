package store

import (
	"slices"
	"strconv"

	"cairn/federation"
)

// ReceiptTTL is how long an outcome may be reported, and ReceiptKept how long a receipt is kept, in ms.
const (
	ReceiptTTL  = 7 * day
	ReceiptKept = 90 * day
)

// Receipts commits a batch of recalls of one namespace.
type Receipts struct {
	Receipts []Receipt `cbor:"1,keyasint"`
}

func (t *txn) receiptKey(agent uint32, recall ID) keyBuf {
	return nsKey(kindReceipt, t.ns.Number).u32(agent).id(recall)
}

func applyReceipts(t *txn, b *Receipts) (any, *Reject) {
	for i := range b.Receipts {
		r := &b.Receipts[i]
		agent, ok := t.agent(r.Agent)
		if !ok || r.Recall == (ID{}) {
			continue // removed meanwhile
		}
		t.confirmTold(agent.Number, r.Withdrawn)
		var row Receipt
		if t.get(t.receiptKey(agent.Number, r.Recall), &row) {
			t.completeReceipt(&agent, &row, r)
			continue
		}
		t.addReceipt(&agent, unreported(r))
	}
	return struct{}{}, nil
}

// unreported is a receipt's note before its outcome; an item is in it once.
func unreported(r *Receipt) *Receipt {
	out := &Receipt{Recall: r.Recall, Agent: r.Agent, TaskType: r.TaskType, Group: r.Group, At: r.At, Withdrawn: r.Withdrawn, Task: r.Task}
	for _, item := range r.Items {
		if !slices.ContainsFunc(out.Items, func(x ReceiptItem) bool { return x.ID == item.ID }) {
			out.Items = append(out.Items, item)
		}
	}
	return out
}

// completeReceipt fills what an outcome that overtook its receipt could not know: the task group and the content hashes.
func (t *txn) completeReceipt(agent *Agent, row, full *Receipt) {
	if row.Group != ([32]byte{}) || full.Group == ([32]byte{}) {
		return
	}
	row.Group, row.Task, row.Withdrawn = full.Group, full.Task, full.Withdrawn
	for i := range row.Items {
		for _, item := range full.Items {
			if item.ID == row.Items[i].ID {
				row.Items[i].Hash = item.Hash
			}
		}
		if e, ok := t.find(row.Items[i].ID); ok {
			t.markShown(agent, row, row.Items[i], e)
		}
	}
	if row.Reported && row.Evidence == string(federation.EvidenceVerified) {
		late := t.reported(agent, row, nil)
		t.testify(agent, row, nil, row.Actions)
		t.witness(agent, row, late)
	}
	t.put(t.receiptKey(agent.Number, row.Recall), row)
}

// markShown notes a candidate that was shown, once a task group and juror.
func (t *txn) markShown(agent *Agent, r *Receipt, item ReceiptItem, e *Experience) {
	if item.Flags&FlagExploratory != 0 && e.Shared() && r.Group != ([32]byte{}) {
		t.mark(t.shownKey(e.ID, r.Group, JurorOf(e.Unit, agent.Principal, agent.ID)))
	}
}

// addReceipt stores a recall and counts it, once by its id.
func (t *txn) addReceipt(agent *Agent, r *Receipt) {
	t.count("recalls", 1)
	if len(r.Items) == 0 {
		t.count("recalls/empty", 1)
	}
	for _, item := range r.Items {
		e, ok := t.find(item.ID)
		if !ok {
			continue
		}
		t.mark(nsKey(kindGiven, t.ns.Number).id(item.ID).id(r.Recall).u32(agent.Number))
		t.markShown(agent, r, item, e)
		e.Recalled += federation.One
		e.RecalledAt = t.now
		t.count("given", 1)
		t.woken(e)
	}
	t.put(t.receiptKey(agent.Number, r.Recall), r)
	t.mark(key(kindReceiptTime).time(r.At + ReceiptKept).u32(t.ns.Number).u32(agent.Number).id(r.Recall))
}

func (t *txn) shownKey(candidate ID, group [32]byte, juror string) keyBuf {
	return nsKey(kindShown, t.ns.Number).id(candidate).hash(group).str(juror)
}

// touch writes counters; status and text stay.
func (t *txn) touch(e *Experience) {
	t.put(t.experienceKey(e.Owner, e.ID), e)
	t.change(ChangeExperience, e.Owner, e.ID)
}

// Outcome reports what happened after a recall. Items of Receipt are those that the signed receipt names.
type Outcome struct {
	Receipt  Receipt                 `cbor:"1,keyasint"`
	Reward   federation.Micro        `cbor:"2,keyasint"`
	Success  bool                    `cbor:"3,keyasint,omitempty"`
	Evidence federation.EvidenceKind `cbor:"4,keyasint"`
	Credits  []Credit                `cbor:"5,keyasint,omitempty"`
	Note     string                  `cbor:"6,keyasint,omitempty"`
	// Actions are what the attached attempt did first, see federation.CallAction.
	Actions [][32]byte `cbor:"7,keyasint,omitempty"`
}

// Credit is one item's share in the outcome: Unused and Named are what the agent said, Citation the id of the evidence it may
// become.
type Credit struct {
	ID       ID               `cbor:"1,keyasint"`
	Version  int              `cbor:"2,keyasint"`
	Credit   federation.Micro `cbor:"3,keyasint,omitempty"`
	Unused   bool             `cbor:"4,keyasint,omitempty"`
	Citation ID               `cbor:"5,keyasint"`
	Named    bool             `cbor:"6,keyasint,omitempty"` // the agent says that it used this
}

// Reported is what an outcome moved.
type Reported struct {
	Citations []Cited  `cbor:"1,keyasint,omitempty"`
	Trust     []Moved  `cbor:"2,keyasint,omitempty"`
	Expected  int64    `cbor:"3,keyasint"`
	Archived  []string `cbor:"4,keyasint,omitempty"`
}

// Cited is a citation that was counted.
type Cited struct {
	Experience ID `cbor:"1,keyasint"`
	Citation   ID `cbor:"2,keyasint"`
}

// Moved is a trust value before and after.
type Moved struct {
	Experience ID               `cbor:"1,keyasint"`
	Before     federation.Micro `cbor:"2,keyasint"`
	After      federation.Micro `cbor:"3,keyasint"`
}

// report is an outcome while it is applied.
type report struct {
	agent    *Agent
	receipt  *Receipt
	body     *Outcome
	expected federation.Micro
	lift     federation.Micro
	variance federation.Micro
	out      Reported
}

func applyOutcome(t *txn, b *Outcome) (any, *Reject) {
	agent, ok := t.agent(b.Receipt.Agent)
	if !ok {
		return nil, reject("unauthenticated", "the agent was removed")
	}
	if b.Reward < 0 || b.Reward > federation.One {
		return nil, rejectField("body.reward", "must be 0..1")
	}
	if !b.Evidence.Valid() {
		return nil, rejectField("body.evidence", "must be verified, judge or self")
	}
	if b.Receipt.Recall == (ID{}) {
		return nil, reject("not_found", "receipt not found")
	}
	if t.now-b.Receipt.At > ReceiptTTL {
		return nil, reject("conflict", "the receipt expired: an outcome is taken for 7 days")
	}
	var row Receipt
	if !t.get(t.receiptKey(agent.Number, b.Receipt.Recall), &row) {
		row = *unreported(&b.Receipt)
		t.addReceipt(&agent, &row)
	}
	if row.Reported {
		return nil, reject("conflict", "the outcome of this recall was reported before")
	}
	if rej := t.checkCredits(&row, b.Credits); rej != nil {
		return nil, rej
	}
	r := &report{agent: &agent, receipt: &row, body: b}
	r.expected = t.expectation(&agent, row.TaskType)
	r.lift = federation.Lift(b.Reward, r.expected)
	r.variance = federation.NullVariance(r.expected)
	t.addOutcome(&agent, row.TaskType, b.Reward)
	if b.Success {
		t.count("outcomes/success", 1)
	}
	if len(row.Items) > 0 {
		t.count("outcomes/guided", 1)
		t.count("outcomes/guided/reward", b.Reward)
	}
	for _, c := range b.Credits {
		t.credit(r, c)
	}
	row.Reported, row.Reward, row.Success = true, b.Reward, b.Success
	row.Evidence, row.Note = string(b.Evidence), b.Note
	t.outcomeSeen(r)
	t.put(t.receiptKey(agent.Number, row.Recall), row)
	r.out.Expected = r.expected
	return r.out, nil
}

// checkCredits holds an outcome to its recall: each item once, in the version that was given.
func (t *txn) checkCredits(row *Receipt, credits []Credit) *Reject {
	for i, c := range credits {
		at := "body.credits[" + strconv.Itoa(i) + "]"
		given := func(x ReceiptItem) bool { return x.ID == c.ID && x.Version == c.Version }
		same := func(x Credit) bool { return x.ID == c.ID }
		switch {
		case !slices.ContainsFunc(row.Items, given):
			return rejectField(at, "was not in the recall")
		case slices.ContainsFunc(credits[:i], same):
			return rejectField(at, "is named twice")
		case c.Credit < 0 || c.Credit > federation.One:
			return rejectField(at, "credit must be 0..1")
		case !c.Unused && (c.Citation == (ID{}) || t.has(t.evidenceKey(c.ID, c.Citation))):
			return reject("conflict", "citation id is zero or exists")
		}
	}
	return nil
}

// credit applies the outcome to one item: utility, strength, own record or citation.
func (t *txn) credit(r *report, c Credit) {
	e, ok := t.find(c.ID)
	if !ok || !e.Shared() && e.Agent != r.agent.ID {
		return
	}
	if c.Unused || c.Credit <= 0 {
		e.Recalled = max(0, e.Recalled-federation.One)
		t.count("given", -1)
		t.touch(e)
		return
	}
	if r.body.Success {
		e.Helped += federation.One
		t.count("helped", 1)
	}
	if !e.Shared() {
		t.strengthen(e, c, r.body)
		t.ownOutcome(r, e, c)
		return
	}
	if byAuthor(e, r.agent) {
		t.touch(e) // what authors say about their own shared copies moves nothing that others see
		return
	}
	t.strengthen(e, c, r.body)
	if !t.cite(r, e, c) {
		t.touch(e)
	}
}

// byAuthor reports whether an agent is on the author's side of a shared item.
func byAuthor(e *Experience, agent *Agent) bool {
	return e.Agent == agent.ID || e.Unit != UnitAgent && e.Principal == agent.Principal
}

// strengthen follows a use that is known to have happened.
func (t *txn) strengthen(e *Experience, c Credit, b *Outcome) {
	if c.Credit < federation.One {
		return
	}
	now := e.StrengthNow(t.now)
	if b.Success {
		e.Strength = federation.StrengthHelped(now)
		e.Uses++
		t.retireSources(e)
	} else {
		e.Strength = federation.StrengthHarmed(now)
		e.Harms++
	}
	e.StrengthAt = t.now
}

// ownOutcome adds to the author's record, which nominates, and deletes by utility.
func (t *txn) ownOutcome(r *report, e *Experience, c Credit) {
	if c.Version == e.Version {
		e.Own.Add(c.Credit, r.lift)
	}
	base := AgentTally{}
	t.get(t.agentTallyKey(r.agent.Number, r.receipt.TaskType), &base)
	pool := int(t.counter(PoolCounter(e.Owner)))
	if e.Status == federation.StatusActive &&
		federation.UtilityDelete(e.Recalled, e.Helped, pool, base.Tally, federation.Alpha("")) {
		old := clone(e)
		e.Status = federation.StatusArchived
		t.save(old, e)
		t.count("archived", 1)
		r.out.Archived = append(r.out.Archived, e.ID.String())
		return
	}
	t.touch(e)
	share := federation.CombineShare(e.Share, r.agent.Share, t.ns.Settings.Share)
	if !t.onShelf(e) && e.Status == federation.StatusActive && e.Kind != federation.KindCaution &&
		share != federation.ShareNever && (share == federation.ShareCandidate || federation.NominateByRecord(e.Own)) {
		t.enqueue(JobNominate, e.ID, e.Owner, t.now, "")
	}
}

func (t *txn) accKey(e *Experience, juror string) keyBuf {
	return nsKey(kindAcc, t.ns.Number).id(e.ID).u32(uint32(e.Version)).str(juror)
}

func (t *txn) raterKey(juror string) keyBuf { return nsKey(kindRater, t.ns.Number).str(juror) }

func (t *txn) juryKey(id ID) keyBuf { return nsKey(kindJury, t.ns.Number).id(id) }

func (t *txn) evidenceKey(id, citation ID) keyBuf {
	return nsKey(kindEvidence, t.ns.Number).id(id).id(citation)
}

// cite counts a report about a shared item by somebody other than its author's side. What a rater who is no juror says
// goes into its own mean only. It reports whether the item was written with its new trust.
func (t *txn) cite(r *report, e *Experience, c Credit) bool {
	mass := federation.Mass(c.Credit, federation.Kappa(r.body.Evidence))
	if mass <= 0 {
		return false
	}
	juror := JurorOf(e.Unit, r.agent.Principal, r.agent.ID)
	var rater federation.Rater
	t.get(t.raterKey(juror), &rater)
	rater.Add(mass, r.lift)
	t.put(t.raterKey(juror), rater)
	var jury Jury
	if !t.get(t.juryKey(e.ID), &jury) || !jury.Sits(juror) || c.Version != e.Version || !judged(e.Status) {
		return false
	}
	var acc federation.Accumulator
	t.get(t.accKey(e, juror), &acc)
	acc.Add(mass, r.lift, r.variance)
	t.put(t.accKey(e, juror), acc)
	t.put(t.evidenceKey(e.ID, c.Citation), Evidence{
		Citation: c.Citation, Version: e.Version, Agent: r.agent.ID, Principal: r.agent.Principal, Juror: juror,
		Kind: r.body.Evidence, Reward: r.body.Reward, Expected: r.expected, Lift: r.lift, Variance: r.variance, Mass: mass,
		Recall: r.receipt.Recall, At: t.now, TaskType: r.receipt.TaskType,
	})
	t.count("citations", 1)
	r.out.Citations = append(r.out.Citations, Cited{e.ID, c.Citation})
	t.experienceEvent("citation.added", e, map[string]string{"citation": c.Citation.String()})
	before, after := t.reconsider(e, &jury)
	r.out.Trust = append(r.out.Trust, Moved{e.ID, before, after})
	return true
}

func judged(s federation.Status) bool {
	switch s {
	case federation.StatusCandidate, federation.StatusPromoted, federation.StatusDormant, federation.StatusHeld:
		return true
	}
	return false
}

// jurors lists the accumulators and raters of the seats that were not struck, in order of the seats.
func (t *txn) jurors(e *Experience, jury *Jury) (list []federation.Juror, names []string) {
	list, names = make([]federation.Juror, len(jury.Seats)), make([]string, 0, len(jury.Seats))
	for _, seat := range jury.Seats {
		if seat.Struck {
			continue
		}
		j := &list[len(names)]
		t.get(t.borrow(kindAcc).id(e.ID).u32(uint32(e.Version)).str(seat.Juror), &j.Acc)
		t.get(t.borrow(kindRater).str(seat.Juror), &j.Rater)
		names = append(names, seat.Juror)
	}
	return list[:len(names)], names
}

// reconsider computes an item's trust again, demotes it, or asks for its promotion.
func (t *txn) reconsider(e *Experience, jury *Jury) (before, after federation.Micro) {
	profile := t.ns.Settings.Profile()
	list, names := t.jurors(e, jury)
	score := federation.Trust(list, jury.Size, profile)
	if e.Trust != nil {
		before = e.Trust.Trust
	}
	e.Trust = withoutTerms(score)
	promoted := e.PromotedAt != 0
	verdict, reasons := federation.Decide(score, promoted, profile)
	if before != score.Trust {
		t.experienceEvent("trust.changed", e, map[string]string{
			"before": strconv.FormatInt(before, 10), "after": strconv.FormatInt(score.Trust, 10), "verdict": string(verdict),
		})
	}
	switch {
	case verdict == federation.VerdictDemote && inMeta(e):
		t.demote(e, Decision{
			Verdict: verdict, Before: true, Profile: profile, Score: score, Jurors: names, Reasons: reasons,
		})
		return before, score.Trust
	case verdict == federation.VerdictPromote && e.Status == federation.StatusCandidate:
		t.enqueue(JobPromote, e.ID, e.Owner, t.now, "")
	}
	t.touch(e)
	return before, score.Trust
}

func withoutTerms(s federation.Score) *federation.Score {
	s.Terms = nil
	return &s
}

func (t *txn) demote(e *Experience, d Decision) {
	old := clone(e)
	e.Status = federation.StatusDemoted
	t.save(old, e)
	d.ID, d.Experience, d.Version, d.Action, d.Status = t.mint(), e.ID, e.Version, "demote", "automatic"
	t.putDecision(e, &d)
	t.count("demotions", 1)
	t.experienceEvent("experience.demoted", e, map[string]string{"decision": d.ID.String()})
}

func (t *txn) putDecision(e *Experience, d *Decision) {
	d.Agent, d.Principal, d.At, d.Index = e.Agent, e.Principal, t.now, t.index
	t.put(nsKey(kindDecision, t.ns.Number).id(d.ID), d)
}
