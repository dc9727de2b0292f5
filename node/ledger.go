package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"cairn/federation"
	"cairn/index/embed"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/recall"
	"cairn/node/store"
)

// Ledger lists what the verified outcomes of a reader principal say about the authors of candidates. A principal sees its
// own, the privileged everybody's; an empty reader is the caller's principal, and all of them for the privileged.
func (n *Node) Ledger(_ context.Context, c api.Caller, reader string, p api.Page) (api.List[api.LedgerEntry], error) {
	if reader == "" && !privileged(c) {
		reader = c.Principal
	}
	if reader != "" {
		if err := checkName("path.id", reader); err != nil {
			return api.List[api.LedgerEntry]{}, err
		}
	}
	if reader != c.Principal && !privileged(c) {
		return api.List[api.LedgerEntry]{}, api.NotFound("principal")
	}
	return inPage(n, c, p, "ledger of "+reader, func(v *store.View, ns *store.Namespace, at page) (api.List[api.LedgerEntry], error) {
		if reader != "" {
			if known, err := v.Principal(ns, reader); err != nil || known == nil {
				return api.List[api.LedgerEntry]{}, orDefault(err, api.NotFound("principal"))
			}
		}
		visit := func(after []byte, fn func([]byte, *store.LedgerRow) bool) error { return v.Ledgers(ns, after, fn) }
		return collect(at, visit, func(r *store.LedgerRow) (api.LedgerEntry, bool, error) {
			return api.LedgerEntry{
				Reader: r.Reader, Author: r.Author, Agreed: r.Agreed, Contradicted: r.Contradicted, Proof: string(r.Proof()),
			}, reader == "" || r.Reader == reader, nil
		})
	})
}

// probation is what the reader's ledger lets into one recall: candidates of other principals outside the exploratory slot.
type probation struct {
	proofs  map[string]federation.Proof // by author principal
	proven  []recall.Candidate          // for the ordinary places
	waiting []recall.Candidate          // unproven, for the extra places
}

// onProbation searches the shelf by the reader's ledger.
func (r *recalling) onProbation(ctx context.Context, text string, vector embed.Vector) (*probation, error) {
	p := &probation{proofs: map[string]federation.Proof{}}
	if r.ns.Settings.Probation == federation.ProbationOff {
		return p, nil
	}
	found, err := r.search(ctx, poolKey{r.ns.Number, store.SharedOwner}, text, vector, func(s *entryState) bool {
		return s.exp.Status == federation.StatusCandidate && s.exp.Unit == "" && s.exp.Principal != r.agent.Principal &&
			(r.req.Filters.MinTrust == 0 || s.exp.Trust != nil && score(s.exp.Trust.Trust) >= r.req.Filters.MinTrust)
	})
	if err != nil {
		return nil, err
	}
	strict := r.ns.Settings.TrustProfile == "strict"
	for _, c := range found {
		proof, err := r.proof(p, c.Principal)
		if err != nil {
			return nil, err
		}
		switch weight := federation.ProbationWeight(proof, r.ns.Settings.Probation, strict); {
		case weight <= 0:
		case proof == federation.Proven:
			p.proven = append(p.proven, c)
		default:
			p.waiting = append(p.waiting, c)
		}
	}
	return p, nil
}

// proof looks an author up once a recall. A suspended author's candidates are not shown.
func (r *recalling) proof(p *probation, author string) (federation.Proof, error) {
	if known, ok := p.proofs[author]; ok {
		return known, nil
	}
	l, err := r.v.Ledger(r.ns, author, r.agent.Principal)
	if err != nil {
		return "", err
	}
	owner, err := r.v.Principal(r.ns, author)
	if err != nil {
		return "", err
	}
	proof := l.Proof()
	if owner != nil && owner.Suspended {
		proof = federation.Disproved
	}
	p.proofs[author] = proof
	return proof, nil
}

// undisproved leaves out of the shelf what the reader's own outcomes speak against.
func (r *recalling) undisproved(p *probation, shelf []recall.Candidate) ([]recall.Candidate, error) {
	if r.ns.Settings.Probation == federation.ProbationOff {
		return shelf, nil
	}
	var out []recall.Candidate
	for _, c := range shelf {
		if c.Own { // agents of one owner judge each other; there is no ledger among them
			out = append(out, c)
			continue
		}
		proof, err := r.proof(p, c.Principal)
		if err != nil {
			return nil, err
		}
		if proof != federation.Disproved {
			out = append(out, c)
		}
	}
	return out, nil
}

// rankOnce ranks so that a candidate of a proven author which is on trial with the reader has the exploratory place alone:
// there its report counts fully.
func rankOnce(ordinary, shelf []recall.Candidate, o recall.Options) ([]recall.Ranked, []recall.Omitted) {
	ranked, omitted := recall.Rank(ordinary, shelf, o)
	if len(ranked) == 0 || !ranked[len(ranked)-1].Exploratory {
		return ranked, omitted
	}
	trial := ranked[len(ranked)-1].Candidate
	twice := func(c recall.Candidate) bool { return c.ID == trial.ID && c.Source == recall.SourceCandidate }
	if trial.Source != recall.SourceCandidate || !slices.ContainsFunc(ordinary, twice) {
		return ranked, omitted
	}
	return recall.Rank(slices.DeleteFunc(ordinary, twice), []recall.Candidate{trial}, o)
}

// extra adds candidates of unproven authors after the places of a recall, never instead of another item, and returns which
// of all are unproven. An exploratory candidate of an unproven author is one of them.
func (p *probation) extra(ranked []recall.Ranked, o recall.Options) ([]recall.Ranked, map[string]bool) {
	budget, marked, taken, tokens := o.TokenBudget, map[string]bool{}, map[string]bool{}, 0
	for _, x := range ranked {
		taken[x.ID] = true
		tokens += x.Length
		if x.Source == recall.SourceCandidate && !x.Own && p.proofs[x.Principal] == federation.Unproven {
			marked[x.ID] = true
		}
	}
	weight := score(federation.ProbationWeight(federation.Unproven, federation.ProbationLedger, false))
	weighed := slices.Clone(p.waiting)
	for i := range weighed {
		weighed[i].Hit.Score *= weight
	}
	o.K, o.Explore, o.TokenBudget, o.AuthorCap = len(weighed)+1, false, 0, 0
	more, _ := recall.Rank(weighed, nil, o)
	for _, x := range more {
		if len(marked) >= federation.UnprovenPlaces {
			break
		}
		if taken[x.ID] || budget > 0 && tokens+x.Length > budget {
			continue
		}
		x.Rank, tokens = len(ranked), tokens+x.Length
		ranked, marked[x.ID] = append(ranked, x), true
	}
	return ranked, marked
}

// actionsOf are what the attempts of an attached trajectory did first. The last one is what the outcome is about.
func actionsOf(t *api.RecordTrajectory) ([][32]byte, error) {
	if t == nil || len(t.Attempts) == 0 {
		return nil, nil
	}
	for _, s := range t.Attempts[len(t.Attempts)-1].Steps {
		if s.Tool == "" {
			continue
		}
		args, err := json.Marshal(s.Args) // keys in order
		if err != nil {
			return nil, fmt.Errorf("encode arguments: %w", err)
		}
		return [][32]byte{federation.CallAction(s.Tool, args)}, nil
	}
	return nil, nil
}

// task is the hash of the task where the caller named the group otherwise.
func (r *recalling) task() [32]byte { return taskName(r.req.GroupKey, r.req.TaskType, r.req.Task) }

func taskName(groupKey, taskType, task string) [32]byte {
	if groupKey == "" {
		return [32]byte{}
	}
	return taskGroup("", taskType, task)
}

// calls are what sets the outcome of a draft's attempts apart: the first call that those of the other outcome did not make at
// the same place, or the first call where there are none.
func (d *distillation) calls(draft acquire.Draft) [][32]byte {
	wins := draft.Kind != federation.KindFailure && draft.Kind != federation.KindCaution
	var ours, others [][][32]byte
	for _, a := range d.attempts {
		line := callLine(a.Steps)
		switch {
		case a.HasReward && a.Success != wins:
			others = append(others, line)
		case len(line) > 0 && slices.Contains(draft.Attempts, a.Number):
			ours = append(ours, line)
		}
	}
	if len(ours) == 0 {
		return nil
	}
	for i, call := range ours[0] {
		made := func(line [][32]byte) bool { return i < len(line) && line[i] == call }
		if !slices.ContainsFunc(others, made) {
			return [][32]byte{call}
		}
	}
	return ours[0][:1]
}

func callLine(steps []store.Step) [][32]byte {
	var out [][32]byte
	for _, s := range steps {
		if a := federation.CallAction(s.Tool, s.Args); a != ([32]byte{}) {
			out = append(out, a)
		}
	}
	return out
}
