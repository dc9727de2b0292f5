package node

import (
	"context"
	"net/http"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

// directJudge is the judge's score of a lesson that an agent wrote itself: the middle, whatever confidence it claims.
const directJudge = 500_000

// directStrength is that of an experience without a reward prediction error.
const directStrength = 500_000

// AddExperience records a lesson as its agent wrote it. A duplicate is merged and answered with 200 and merged_into.
func (n *Node) AddExperience(ctx context.Context, c api.Caller, req api.AddExperience, w api.Write) (api.Done[api.Experience], error) {
	var zero api.Done[api.Experience]
	until, err := checkExperience(req)
	if err != nil {
		return zero, err
	}
	added, res, err := call[store.Added](ctx, n, c, w, store.KindAddExperience, func(v *store.View, ns *store.Namespace) (any, error) {
		agent, err := v.Agent(ns, c.Agent)
		if err != nil || agent == nil {
			return nil, orDefault(err, api.NotFound("agent"))
		}
		e := store.Experience{
			ID: ulid.Make(), Owner: agent.Number, Agent: agent.ID, Principal: agent.Principal, Scenario: req.Scenario,
			Content: req.Content, Keywords: req.Keywords, Tools: req.Tools, TaskType: req.TaskType, Kind: federation.KindDirect,
			Preconditions: req.Preconditions, Environment: req.Environment, ValidUntil: until,
			Group: taskGroup(req.GroupKey, req.TaskType, req.Scenario), GroupKey: req.GroupKey, Status: federation.StatusActive,
			Share: federation.Share(req.Share), Judge: directJudge, Strength: directStrength,
			Lineage: store.Lineage{Generator: "agent"}, Fails: req.Outcome == "failure",
			Task: taskName(req.GroupKey, req.TaskType, req.Scenario),
		}
		if req.ClaimedConfidence != nil {
			e.Claimed = micro(*req.ClaimedConfidence) + 1
		}
		e.Hash = textHash(&e)
		return n.withDuplicate(ctx, v, ns, e)
	})
	if err != nil {
		return zero, err
	}
	out, err := n.at(c, added, res)
	status := http.StatusCreated
	if added.Merged {
		status, out.MergedInto = http.StatusOK, added.ID.String()
	}
	return done(out, res, status), err
}

// withDuplicate embeds a lesson and looks for one that says the same. The vectors of an exact duplicate are not needed.
func (n *Node) withDuplicate(ctx context.Context, v *store.View, ns *store.Namespace, e store.Experience) (store.AddExperience, error) {
	body := store.AddExperience{Experience: e}
	same, err := v.ByHash(ns, e.Owner, e.Hash)
	if err != nil || same != nil {
		return body, err
	}
	vectors := n.vectors(ctx, &e)
	body.Vectors = packVectors(vectors)
	if _, into := n.duplicate(poolKey{ns.Number, e.Owner}, &e, vectors); into != nil {
		body.MergeInto, body.MergeVer = into.ID, into.Version
	}
	return body, nil
}

func checkExperience(req api.AddExperience) (until int64, err error) {
	err = firstError(
		checkText("body.scenario", req.Scenario, maxScenario, true),
		checkText("body.content", req.Content, maxContent, true),
		checkWords("body.keywords", req.Keywords, maxKeywords),
		checkWords("body.tools", req.Tools, 64),
		checkTaskType("body.task_type", req.TaskType),
		checkText("body.group_key", req.GroupKey, maxGroupKey, false),
		checkMap("body.preconditions", req.Preconditions),
		checkMap("body.environment", req.Environment),
		checkChoice("body.share", req.Share, "", "auto", "candidate", "never"),
		checkChoice("body.outcome", req.Outcome, "", "success", "failure"),
	)
	if err == nil && req.ClaimedConfidence != nil && !inUnit(*req.ClaimedConfidence) {
		err = api.Invalid("body.claimed_confidence", "must be 0..1", *req.ClaimedConfidence)
	}
	if err != nil {
		return 0, err
	}
	return checkTime("body.valid_until", req.ValidUntil)
}

// at renders the experience that a write made or changed, at the version of the write.
func (n *Node) at(c api.Caller, added store.Added, res store.Result) (api.Experience, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Experience{}, err
	}
	defer v.Close()
	e, err := v.ExperienceOf(ns.Number, added.Owner, added.ID)
	if err == nil && e != nil && e.Version != added.Version {
		if old, oerr := v.VersionOf(ns.Number, added.Owner, added.ID, added.Version); old != nil || oerr != nil {
			e, err = old, oerr
		}
	}
	if err != nil || e == nil {
		return api.Experience{}, orDefault(err, api.NotFound("experience"))
	}
	out := n.render(v, c, e)
	out.Index = res.Index
	return out, nil
}

// visible finds an experience that the caller may see: its own, what its namespace shares, candidates it judges, and
// everything of the namespace for the privileged. Anything else does not exist.
func (n *Node) visible(v *store.View, ns *store.Namespace, c api.Caller, id string) (*store.Experience, error) {
	eid, err := parseID("path.id", id)
	if err != nil {
		return nil, err
	}
	e, err := v.Experience(ns, eid)
	if err != nil {
		return nil, err
	}
	if e != nil {
		ok, err := n.sees(v, ns, c, e)
		if err != nil || ok {
			return e, err
		}
	}
	return nil, api.NotFound("experience")
}

func (n *Node) sees(v *store.View, ns *store.Namespace, c api.Caller, e *store.Experience) (bool, error) {
	switch {
	case e.Agent == c.Agent || privileged(c):
		return true, nil
	case !e.Shared():
		return false, nil
	case e.PromotedAt != 0:
		return e.Unit == "" || e.Principal == c.Principal, nil
	}
	jury, err := v.Jury(ns, e.ID)
	if err != nil || jury != nil && jury.Sits(store.JurorOf(jury.Unit, c.Principal, c.Agent)) {
		return err == nil, err
	}
	agent, err := v.Agent(ns, c.Agent) // the reader's ledger gives candidates to agents that sit on no jury
	if err != nil || agent == nil {
		return false, err
	}
	return v.WasGiven(ns, agent.Number, e.ID)
}

// Experience reads one experience.
func (n *Node) Experience(_ context.Context, c api.Caller, id string) (api.Experience, error) {
	return withExperience(n, c, id, func(v *store.View, _ *store.Namespace, e *store.Experience) (api.Experience, error) {
		return n.render(v, c, e), nil
	})
}

func withExperience[T any](n *Node, c api.Caller, id string, fn func(v *store.View, ns *store.Namespace, e *store.Experience) (T, error)) (T, error) {
	var zero T
	v, ns, err := n.openFor(c)
	if err != nil {
		return zero, err
	}
	defer v.Close()
	e, err := n.visible(v, ns, c, id)
	if err != nil {
		return zero, err
	}
	return fn(v, ns, e)
}

// owned is an experience that the caller may change: the private ones of its own, and all of them for an admin.
func (n *Node) owned(v *store.View, ns *store.Namespace, c api.Caller, id string) (*store.Experience, error) {
	e, err := n.visible(v, ns, c, id)
	if err != nil {
		return nil, err
	}
	if e.Agent != c.Agent && !c.Has(api.RoleAdmin) {
		return nil, api.NotFound("experience")
	}
	return e, nil
}

func needVersion(version int, e *store.Experience) error {
	if version == 0 {
		return &api.Error{Code: api.CodePrecondition, Detail: "send If-Match with the version you read, e.g. If-Match: \"1\""}
	}
	if version != e.Version {
		return &api.Error{Code: api.CodePrecondition, Detail: "another version stands", Fields: []api.Field{{
			Location: "header.If-Match", Message: "does not match the version that stands", Value: e.Version,
		}}}
	}
	return nil
}

// PatchExperience makes a new version of a private experience.
func (n *Node) PatchExperience(ctx context.Context, c api.Caller, id string, version int, req api.PatchExperience, w api.Write) (api.Done[api.Experience], error) {
	added, res, err := call[store.Added](ctx, n, c, w, store.KindPatchExperience, func(v *store.View, ns *store.Namespace) (any, error) {
		e, err := n.owned(v, ns, c, id)
		if err != nil {
			return nil, err
		}
		if err := needVersion(version, e); err != nil {
			return nil, err
		}
		return n.buildPatch(ctx, v, ns, e, req)
	})
	if err != nil {
		return api.Done[api.Experience]{}, err
	}
	out, err := n.at(c, added, res)
	return done(out, res, http.StatusOK), err
}

func (n *Node) buildPatch(ctx context.Context, v *store.View, ns *store.Namespace, e *store.Experience, req api.PatchExperience) (store.PatchExperience, error) {
	next := *e
	set(&next.Scenario, req.Scenario)
	set(&next.Content, req.Content)
	set(&next.Keywords, req.Keywords)
	set(&next.Tools, req.Tools)
	set(&next.Preconditions, req.Preconditions)
	if req.Share != nil {
		next.Share = federation.Share(*req.Share)
	}
	until := ""
	if req.ValidUntil != nil {
		until = *req.ValidUntil
	}
	at, err := checkExperience(api.AddExperience{
		Scenario: next.Scenario, Content: next.Content, Keywords: next.Keywords, Tools: next.Tools,
		Preconditions: next.Preconditions, Share: string(next.Share), ValidUntil: until,
	})
	if err != nil {
		return store.PatchExperience{}, err
	}
	if req.ValidUntil != nil {
		next.ValidUntil = at
	}
	next.Hash = textHash(&next)
	body := store.PatchExperience{
		ID: e.ID, Owner: e.Owner, Version: e.Version, Scenario: next.Scenario, Content: next.Content, Keywords: next.Keywords,
		Tools: next.Tools, Preconditions: next.Preconditions, ValidUntil: next.ValidUntil, Share: next.Share, Hash: next.Hash,
	}
	if next.Hash == e.Hash {
		body.Vectors, err = v.VectorsOf(ns.Number, e.Owner, e.ID)
		return body, err
	}
	body.Vectors = packVectors(n.vectors(ctx, &next))
	return body, nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// EraseExperience removes an experience with everything derived from it.
func (n *Node) EraseExperience(ctx context.Context, c api.Caller, id string, version int, w api.Write) (api.Done[api.Erased], error) {
	erased, res, err := call[store.ErasedIDs](ctx, n, c, w, store.KindErase, func(v *store.View, ns *store.Namespace) (any, error) {
		e, err := n.owned(v, ns, c, id)
		if err != nil {
			return nil, err
		}
		if err := needVersion(version, e); err != nil {
			return nil, err
		}
		return store.Erase{Receipt: ulid.Make(), Agent: c.Agent, Target: store.Target{ID: e.ID, Owner: e.Owner, Version: e.Version}}, nil
	})
	if err != nil {
		return api.Done[api.Erased]{}, err
	}
	if err := n.index.wait(ctx, res.Index); err != nil {
		return api.Done[api.Erased]{}, api.Unavailable("erased, and not yet out of this node's index", 0, err)
	}
	n.models.forget(c.Namespace)
	out := api.Erased{Erased: idStrings(erased.Erased), Receipt: erased.Receipt.String(), Index: res.Index}
	return done(out, res, http.StatusOK), nil
}

// Erasure verifies an erasure: what is gone, and where copies may still be.
func (n *Node) Erasure(_ context.Context, c api.Caller, receipt string) (api.Erasure, error) {
	id, err := parseID("path.receipt", receipt)
	if err != nil {
		return api.Erasure{}, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Erasure{}, err
	}
	defer v.Close()
	e, err := v.Erasure(ns, id)
	if err != nil || e == nil || e.Agent != c.Agent && !privileged(c) {
		return api.Erasure{}, orDefault(err, api.NotFound("erasure"))
	}
	places := map[string]string{"state": "purged", "index": "purged", "log": "pending", "backups": "not tracked by this node"}
	if e.Open > 0 {
		places["state"] = "pending" // what hung on the erased ids is being purged
	}
	for _, gone := range e.Erased {
		if x, err := v.Experience(ns, gone); err != nil || x != nil {
			places["state"] = "pending"
		}
		if n.index.knows(gone) {
			places["index"] = "pending"
		}
	}
	return api.Erasure{Receipt: receipt, Erased: idStrings(e.Erased), Places: places, CreatedAt: api.Time(e.At)}, nil
}

func (f *follower) knows(id store.ID) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.entries[id] != nil
}

// RestoreExperience brings an archived experience back.
func (n *Node) RestoreExperience(ctx context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Experience], error) {
	return n.change(ctx, c, id, w, store.KindRestore, func(e *store.Experience) any {
		return store.Target{ID: e.ID, Owner: e.Owner}
	})
}

// NominateExperience asks for a jury now, whatever the author's own record says.
func (n *Node) NominateExperience(ctx context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Experience], error) {
	return n.change(ctx, c, id, w, store.KindRequestNomination, func(e *store.Experience) any {
		return store.RequestNomination{ID: e.ID, Owner: e.Owner}
	})
}

func (n *Node) change(ctx context.Context, c api.Caller, id string, w api.Write, kind store.Kind, body func(e *store.Experience) any) (api.Done[api.Experience], error) {
	added, res, err := call[store.Added](ctx, n, c, w, kind, func(v *store.View, ns *store.Namespace) (any, error) {
		e, err := n.owned(v, ns, c, id)
		if err != nil {
			return nil, err
		}
		return body(e), nil
	})
	if err != nil {
		return api.Done[api.Experience]{}, err
	}
	out, err := n.at(c, added, res)
	return done(out, res, http.StatusOK), err
}

// render shows an experience to a caller. The origin of a shared copy is for its agent and the privileged.
func (n *Node) render(v *store.View, c api.Caller, e *store.Experience) api.Experience {
	out := api.Experience{
		ID: e.ID.String(), Version: e.Version, Scenario: e.Scenario, Content: e.Content, Keywords: orEmpty(e.Keywords),
		Confidence: score(e.Confidence()), Tools: orEmpty(e.Tools), TaskType: e.TaskType, Kind: string(e.Kind),
		Preconditions: orEmptyMap(e.Preconditions), Environment: orEmptyMap(e.Environment), Pool: store.PoolName(e),
		Author: api.Author{Agent: e.Agent, Principal: e.Principal}, Status: string(e.Status),
		Share: string(federation.CombineShare(e.Share)), RPE: score(e.RPE), Strength: score(e.StrengthNow(v.Now())),
		Utility: api.Utility{Recalled: score(e.Recalled), Helped: score(e.Helped)},
		Support: api.Support{Success: e.Success, Failure: e.Failure}, Trust: renderTrust(e.Trust),
		Lineage:   api.Lineage{Trajectories: []string{}, DerivedFrom: []string{}, Lens: e.Lineage.Lens, Generator: e.Lineage.Generator, Judge: e.Lineage.Judge},
		CreatedAt: api.Time(e.CreatedAt), UpdatedAt: api.Time(e.UpdatedAt), Index: v.Index(),
	}
	if site, err := v.Site(); err == nil && site != nil {
		out.Author.Site = site.ID
	}
	if e.Claimed > 0 {
		claimed := score(e.Claimed - 1)
		out.ClaimedConfidence = &claimed
	}
	if e.Unit == store.UnitAgent {
		out.Label = "same_owner"
	}
	if e.ValidUntil != 0 {
		until := api.Time(e.ValidUntil)
		out.ValidUntil = &until
	}
	if e.SupersededBy != (store.ID{}) {
		by := e.SupersededBy.String()
		out.SupersededBy = &by
	}
	if e.Agent == c.Agent || privileged(c) {
		out.Lineage.Trajectories, out.Lineage.DerivedFrom = idStrings(e.Lineage.Trajectories), idStrings(e.Lineage.DerivedFrom)
		out.Lineage.Reflections = idStrings(e.Lineage.Reflections)
		if e.Candidate != (store.ID{}) {
			out.CandidateID = e.Candidate.String()
		}
	}
	return out
}

func renderTrust(s *federation.Score) *api.Trust {
	if s == nil {
		return nil
	}
	return &api.Trust{
		Value: score(s.Trust), Mean: score(s.Mu), Low: score(s.Trust), High: score(s.Upper), Evidence: score(s.N), Trials: int(s.Citations),
	}
}
