package node

import (
	"context"
	"fmt"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// evidenceShown bounds the citations in an answer, which says how many it leaves off.
const evidenceShown = 500

// Trust explains an item's trust: every term, the rule's version, and what is missing for promotion. Who reported what is
// for curators, auditors and admins.
func (n *Node) Trust(_ context.Context, c api.Caller, id string) (api.TrustDetail, error) {
	return withExperience(n, c, id, func(v *store.View, ns *store.Namespace, e *store.Experience) (api.TrustDetail, error) {
		if !e.Shared() {
			return privateTrust(v, ns, e)
		}
		return sharedTrust(v, ns, c, e)
	})
}

// privateTrust shows the author's own record, which nominates.
func privateTrust(v *store.View, ns *store.Namespace, e *store.Experience) (api.TrustDetail, error) {
	profile := ns.Settings.Profile()
	out := api.TrustDetail{
		Experience: e.ID.String(), Version: e.Version, Status: string(e.Status), Rule: federation.RuleVersion,
		Threshold: score(profile.Threshold), DemoteAt: score(profile.DemoteBelow), Verdict: "private", Missing: []string{},
		Own: &api.OwnRecord{Credit: score(e.Own.C), Needed: 3},
	}
	if e.Own.C > 0 {
		out.Own.MeanLift = float64(e.Own.CR) / float64(e.Own.C)
	}
	if e.Candidate != (store.ID{}) {
		out.Verdict = "nominated"
		return out, nil
	}
	agent, err := v.Agent(ns, e.Agent)
	if err != nil {
		return out, err
	}
	_, eligible, err := v.Eligible(ns, e)
	if err != nil {
		return out, err
	}
	wish := []federation.Share{e.Share, ns.Settings.Share}
	if agent != nil {
		wish = append(wish, agent.Share)
	}
	_, reason := federation.Nominate(federation.NominationInput{
		Share: federation.CombineShare(wish...), Kind: e.Kind, Status: e.Status, Own: e.Own,
		Screening: federation.ScreeningPass, Outside: len(eligible),
	})
	out.Missing = append(out.Missing, reason)
	if e.Blocked != "" && e.Blocked != reason {
		out.Missing = append(out.Missing, e.Blocked)
	}
	return out, nil
}

func sharedTrust(v *store.View, ns *store.Namespace, c api.Caller, e *store.Experience) (api.TrustDetail, error) {
	profile := ns.Settings.Profile()
	jury, err := v.Jury(ns, e.ID)
	if err != nil {
		return api.TrustDetail{}, err
	}
	if jury == nil {
		jury = &store.Jury{}
	}
	list, names, err := v.Jurors(ns, e, jury)
	if err != nil {
		return api.TrustDetail{}, err
	}
	s := federation.Trust(list, jury.Size, profile)
	promoted := e.PromotedAt != 0
	verdict, missing := federation.Decide(s, promoted, profile)
	out := detail(e.ID, e.Version, s, profile)
	out.Status, out.Verdict, out.Missing = string(e.Status), string(verdict), orEmpty(missing)
	if e.Blocked != "" {
		out.Missing = append(out.Missing, e.Blocked)
	}
	if !privileged(c) {
		return out, nil
	}
	out.Jurors = jurorTerms(s, names, jury)
	err = v.EvidenceOf(ns, e.ID, nil, func(_ []byte, ev *store.Evidence) bool {
		if len(out.Evidence) == evidenceShown {
			out.LeftOff++
			return true
		}
		out.Evidence = append(out.Evidence, renderEvidence(ev))
		return true
	})
	return out, err
}

func detail(id store.ID, version int, s federation.Score, p federation.Profile) api.TrustDetail {
	return api.TrustDetail{
		Experience: id.String(), Version: version, Rule: s.Rule, Trust: *renderTrust(&s), Half: score(s.Half),
		Threshold: score(p.Threshold), DemoteAt: score(p.DemoteBelow), Jury: s.Jury, Heard: s.Heard, Quorum: s.Quorum,
		Citations: int(s.Citations), Missing: []string{},
	}
}

func jurorTerms(s federation.Score, names []string, jury *store.Jury) []api.JurorTerm {
	var out []api.JurorTerm
	for i, t := range s.Terms {
		term := api.JurorTerm{
			Weight: score(t.W), Sum: score(t.S), Leniency: score(t.Leniency), Lift: score(t.Lift), Cap: score(t.Cap), Heard: t.Heard,
		}
		if i < len(names) {
			term.Juror = names[i]
		}
		out = append(out, term)
	}
	if jury != nil {
		for _, seat := range jury.Seats {
			if seat.Struck {
				out = append(out, api.JurorTerm{Juror: seat.Juror, Struck: true})
			}
		}
	}
	return out
}

func renderEvidence(e *store.Evidence) api.EvidenceEntry {
	return api.EvidenceEntry{
		Citation: e.Citation.String(), Agent: e.Agent, Principal: e.Principal, Kind: string(e.Kind), Reward: score(e.Reward),
		Expected: score(e.Expected), Lift: score(e.Lift), Weight: score(e.Mass), At: api.Time(e.At),
	}
}

// Promotions lists decisions, newest first.
func (n *Node) Promotions(_ context.Context, c api.Caller, status string, p api.Page) (api.List[api.Promotion], error) {
	if err := checkChoice("query.status", status, "", "pending", "approved", "rejected", "automatic"); err != nil {
		return api.List[api.Promotion]{}, err
	}
	return inPage(n, c, p, "promotions", func(v *store.View, ns *store.Namespace, at page) (api.List[api.Promotion], error) {
		return collect(at, func(after []byte, fn func([]byte, *store.Decision) bool) error { return v.DecisionsOf(ns, after, fn) },
			func(d *store.Decision) (api.Promotion, bool, error) {
				ok, err := n.seesDecision(v, ns, c, d)
				return renderDecision(c, d, false), ok && (status == "" || d.Status == status), err
			})
	})
}

// seesDecision follows the item that was decided on; a decision about an erased item is for the privileged.
func (n *Node) seesDecision(v *store.View, ns *store.Namespace, c api.Caller, d *store.Decision) (bool, error) {
	if privileged(c) {
		return true, nil
	}
	e, err := v.Experience(ns, d.Experience)
	if err != nil || e == nil {
		return false, err
	}
	return n.sees(v, ns, c, e)
}

func renderDecision(c api.Caller, d *store.Decision, inputs bool) api.Promotion {
	out := api.Promotion{
		ID: d.ID.String(), Experience: d.Experience.String(), Version: d.Version, Action: d.Action, Status: d.Status,
		Rule: d.Score.Rule, Author: api.Author{Agent: d.Agent, Principal: d.Principal}, Reasons: orEmpty(d.Reasons),
		At: api.Time(d.At), Index: d.Index,
	}
	if d.FusedWith != (store.ID{}) {
		out.FusedWith = d.FusedWith.String()
	}
	if inputs {
		in := detail(d.Experience, d.Version, d.Score, d.Profile)
		in.Verdict = string(d.Verdict)
		if privileged(c) {
			in.Jurors = jurorTerms(d.Score, d.Jurors, nil)
		}
		out.Inputs = &in
	}
	return out
}

// Promotion reads one decision with its inputs.
func (n *Node) Promotion(_ context.Context, c api.Caller, id string) (api.Promotion, error) {
	d, err := n.decision(c, id)
	if err != nil {
		return api.Promotion{}, err
	}
	return renderDecision(c, d, true), nil
}

func (n *Node) decision(c api.Caller, id string) (*store.Decision, error) {
	did, err := parseID("path.id", id)
	if err != nil {
		return nil, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	d, err := v.Decision(ns, did)
	if err != nil || d == nil {
		return nil, orDefault(err, api.NotFound("promotion"))
	}
	if ok, err := n.seesDecision(v, ns, c, d); err != nil || !ok {
		return nil, orDefault(err, api.NotFound("promotion"))
	}
	return d, nil
}

// ReplayPromotion computes a decision again from its stored inputs by the rule of this version.
func (n *Node) ReplayPromotion(_ context.Context, c api.Caller, id string) (api.Replay, error) {
	d, err := n.decision(c, id)
	if err != nil {
		return api.Replay{}, err
	}
	jurors := make([]federation.Juror, 0, len(d.Score.Terms))
	for _, t := range d.Score.Terms {
		jurors = append(jurors, t.Juror())
	}
	s := federation.Trust(jurors, d.Score.Jury, d.Profile)
	verdict, _ := federation.Decide(s, d.Before, d.Profile)
	same := verdict == d.Verdict && s.Trust == d.Score.Trust && s.Rule == d.Score.Rule
	if d.Action == "promote" {
		holds, _ := federation.QuotaHolds(d.Quota)
		same = same && holds
	}
	return api.Replay{Same: same, Rule: federation.RuleVersion, Verdict: string(verdict), Trust: score(s.Trust)}, nil
}

// Receipts says what an agent was given between two times; without an agent, what the caller was given, or, for those who
// may read everything, what every agent was given.
func (n *Node) Receipts(_ context.Context, c api.Caller, agent, from, to string, p api.Page) (api.List[api.ReceiptView], error) {
	var zero api.List[api.ReceiptView]
	everyone := agent == "" && privileged(c)
	if agent == "" {
		agent = c.Agent
	}
	since, err := checkTime("query.from", from)
	if err != nil {
		return zero, err
	}
	until, err := checkTime("query.to", to)
	if err != nil {
		return zero, err
	}
	if err := checkName("query.agent", agent); err != nil {
		return zero, err
	}
	if agent != c.Agent && !privileged(c) {
		return zero, api.NotFound("agent")
	}
	list := "receipts"
	if !everyone {
		list += " to " + agent
	}
	return inPage(n, c, p, list, func(v *store.View, ns *store.Namespace, at page) (api.List[api.ReceiptView], error) {
		visit := func(after []byte, fn func([]byte, *store.Receipt) bool) error { return v.Receipts(ns, after, fn) }
		if !everyone {
			a, err := v.AgentEver(ns, agent) // what one that was removed knew can be asked, too
			if err != nil || a == nil {
				return zero, orDefault(err, api.NotFound("agent"))
			}
			visit = func(after []byte, fn func([]byte, *store.Receipt) bool) error {
				return v.ReceiptsOf(ns, a.Number, after, fn)
			}
		}
		return collect(at, visit,
			func(r *store.Receipt) (api.ReceiptView, bool, error) {
				return renderReceipt(r), r.At >= since && (until == 0 || r.At <= until), nil
			})
	})
}

func renderReceipt(r *store.Receipt) api.ReceiptView {
	out := api.ReceiptView{
		Recall: r.Recall.String(), Agent: r.Agent, TaskType: r.TaskType, Items: []api.ReceiptItem{}, At: api.Time(r.At), Reported: r.Reported,
	}
	if r.Reported {
		success := r.Success
		out.Success = &success
	}
	for _, item := range r.Items {
		out.Items = append(out.Items, api.ReceiptItem{
			Experience: item.ID.String(), Version: item.Version, Exploratory: item.Flags&store.FlagExploratory != 0,
			Hash: fmt.Sprintf("%x", item.Hash),
		})
	}
	return out
}

// ExperienceReceipts says who was given an experience. An agent sees its own receipts only.
func (n *Node) ExperienceReceipts(_ context.Context, c api.Caller, id string, p api.Page) (api.List[api.ReceiptView], error) {
	at, err := checkPage(p, "receipts of "+id)
	if err != nil {
		return api.List[api.ReceiptView]{}, err
	}
	return withExperience(n, c, id, func(v *store.View, ns *store.Namespace, e *store.Experience) (api.List[api.ReceiptView], error) {
		own, err := v.Agent(ns, c.Agent)
		if err != nil {
			return api.List[api.ReceiptView]{}, err
		}
		type given struct {
			recall store.ID
			agent  uint32
		}
		visit := func(after []byte, fn func([]byte, *given) bool) error {
			return v.GivenOf(ns, e.ID, after, func(suffix []byte, recall store.ID, agent uint32) bool {
				return fn(suffix, &given{recall, agent})
			})
		}
		return collect(at, visit, func(g *given) (api.ReceiptView, bool, error) {
			if !privileged(c) && (own == nil || g.agent != own.Number) {
				return api.ReceiptView{}, false, nil
			}
			r, err := v.Receipt(ns, g.agent, g.recall)
			if err != nil || r == nil {
				return api.ReceiptView{}, false, err
			}
			return renderReceipt(r), true, nil
		})
	})
}
