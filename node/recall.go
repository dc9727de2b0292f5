package node

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/index"
	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/recall"
	"cairn/node/store"
)

const (
	maxK         = 50
	omittedShown = 20
	wideFactor   = 4 // candidates looked at for each place
)

// recalling is one recall while it is answered.
type recalling struct {
	n     *Node
	v     *store.View
	ns    *store.Namespace
	c     api.Caller
	agent *store.Agent
	req   api.RecallRequest
	k     int
	since int64
	env   map[string]string
	group [32]byte
	parts []part
	route string   // the task type of the sub-pool that is searched; empty: all
	steps []string // written by a model for this task

	unproven map[string]bool // of what is given, by id

	total, passed int
	out           api.RecallAnswer
	items         []store.ReceiptItem
	shown         []shownKey
}

// Recall finds experiences that fit a task, in the caller's own pool and in what the namespace shares. In mode inject the
// answer carries a receipt and is counted; search never counts.
func (n *Node) Recall(ctx context.Context, c api.Caller, req api.RecallRequest) (api.RecallAnswer, error) {
	started := time.Now()
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.RecallAnswer{}, err
	}
	defer v.Close()
	r := &recalling{n: n, v: v, ns: ns, c: c, req: req}
	if err := r.fromMessages(); err != nil {
		return api.RecallAnswer{}, err
	}
	if err := r.check(); err != nil {
		return api.RecallAnswer{}, err
	}
	r.out.Degraded = []string{}
	r.group = taskGroup(req.GroupKey, req.TaskType, req.Task)
	if err := r.find(ctx); err != nil {
		return api.RecallAnswer{}, err
	}
	if err := r.finish(); err != nil {
		return api.RecallAnswer{}, err
	}
	n.metrics.recalls.WithLabelValues(r.req.Mode).Observe(time.Since(started).Seconds())
	return r.out, nil
}

func (r *recalling) check() error {
	if r.req.Mode == "" {
		r.req.Mode = "inject"
	}
	r.k = recall.DefaultK
	if r.req.K != nil {
		r.k = *r.req.K
	}
	if len(r.req.Pools) == 0 {
		r.req.Pools = []string{"own", "meta"}
	}
	f := r.req.Filters
	err := firstError(
		checkText("body.task", r.req.Task, maxTask, true),
		checkText("body.context", r.req.Context, maxTask, false),
		checkTaskType("body.task_type", r.req.TaskType),
		checkText("body.group_key", r.req.GroupKey, maxGroupKey, false),
		checkChoice("body.mode", r.req.Mode, "inject", "search"),
		checkMap("body.environment", r.req.Environment),
		checkTaskType("body.filters.task_type", f.TaskType),
		checkWords("body.filters.tools", f.Tools, 256),
		checkChoice("body.filters.rpe", f.RPE, "", "positive", "negative"),
	)
	switch {
	case err != nil:
		return err
	case r.k < 1 || r.k > maxK:
		return api.Invalid("body.k", "must be 1..50", r.k)
	case r.req.TokenBudget < 0 || r.req.TokenBudget > 100_000:
		return api.Invalid("body.token_budget", "must be 0..100000", r.req.TokenBudget)
	case !inUnit(f.MinTrust):
		return api.Invalid("body.filters.min_trust", "must be 0..1", f.MinTrust)
	}
	for i, p := range r.req.Pools {
		if err := checkChoice(fmt.Sprintf("body.pools[%d]", i), p, "own", "meta"); err != nil {
			return err
		}
	}
	for i, k := range f.Kind {
		if !federation.Kind(k).Valid() {
			return api.Invalid(fmt.Sprintf("body.filters.kind[%d]", i), "is not a kind of experience", clip(k))
		}
	}
	if r.since, err = checkTime("body.filters.since", f.Since); err != nil {
		return err
	}
	return r.identify()
}

// identify sets whose memory is read: the caller's, or for the privileged that of the agent named in `as`.
func (r *recalling) identify() error {
	id := r.c.Agent
	if r.req.As != "" {
		if !r.c.Has(api.RoleAdmin, api.RoleAuditor) {
			return api.Denied("as needs the role admin or auditor")
		}
		if r.req.Mode != "search" {
			return api.Invalid("body.as", "goes with mode search only", clip(r.req.As))
		}
		if err := checkName("body.as", r.req.As); err != nil {
			return err
		}
		id = r.req.As
	}
	agent, err := r.v.Agent(r.ns, id)
	if err != nil || agent == nil {
		return orDefault(err, api.NotFound("agent"))
	}
	r.agent = agent
	r.env = maps.Clone(orEmptyMap(agent.Environment))
	maps.Copy(r.env, r.req.Environment)
	return nil
}

// keepOwn, keepMeta and keepCandidate are the scopes; hard filters come after them.
func (r *recalling) keepOwn(s *entryState) bool {
	return s.exp.Status == federation.StatusActive || s.exp.Status == federation.StatusBuffered || s.exp.Status == federation.StatusDormant
}

func (r *recalling) keepMeta(s *entryState) bool {
	if s.exp.Status != federation.StatusPromoted && s.exp.Status != federation.StatusDormant {
		return false
	}
	return s.exp.Unit == "" || s.exp.Principal == r.agent.Principal
}

func (r *recalling) keepCandidate(s *entryState) bool {
	if s.exp.Status != federation.StatusCandidate || s.jury == nil {
		return false
	}
	return s.jury.Sits(store.JurorOf(s.jury.Unit, r.agent.Principal, r.agent.ID))
}

// hard are the filters that nothing passes by scoring well.
func (r *recalling) hard(e *store.Experience) bool {
	f := r.req.Filters
	switch {
	case e.ValidUntil != 0 && e.ValidUntil <= time.Now().UnixMilli(),
		f.TaskType != "" && e.TaskType != f.TaskType,
		len(f.Kind) > 0 && !slices.Contains(f.Kind, string(e.Kind)),
		f.RPE == "positive" && e.RPE <= 0, f.RPE == "negative" && e.RPE >= 0,
		r.since != 0 && e.CreatedAt < r.since,
		e.PromotedAt != 0 && f.MinTrust > 0 && (e.Trust == nil || score(e.Trust.Trust) < f.MinTrust),
		!r.hasTools(e.Tools):
		return false
	}
	return agrees(e.Preconditions, r.env) && agrees(e.Environment, r.env)
}

// hasTools reports whether the agent has every tool an experience needs; an agent that lists no tools has any.
func (r *recalling) hasTools(needs []string) bool {
	for _, have := range [][]string{r.agent.Tools, r.req.Filters.Tools} {
		if len(have) == 0 {
			continue
		}
		for _, t := range needs {
			if !slices.Contains(have, t) {
				return false
			}
		}
	}
	return true
}

// agrees reports whether no condition is contradicted; what the environment does not say is not held against it.
func agrees(conditions, env map[string]string) bool {
	for k, want := range conditions {
		if have, ok := env[k]; ok && have != want {
			return false
		}
	}
	return true
}

func (r *recalling) search(ctx context.Context, key poolKey, text string, vector embed.Vector, scope func(*entryState) bool) ([]recall.Candidate, error) {
	pool := r.n.index.pool(key)
	hits, err := r.searchParts(ctx, pool, index.Query{
		Text: text, Vector: vector, Others: r.n.others(ctx, key, text), Limit: r.k * wideFactor,
		Filter: func(_ string, meta any) bool {
			s := stateOf(meta)
			if !scope(s) || !r.onRoute(s.exp) {
				return false
			}
			r.total++
			if !r.hard(s.exp) {
				return false
			}
			r.passed++
			return true
		},
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	look := looking{r: r, key: key, pool: pool, scope: scope, current: r.n.index.reflects(r.v.Index())}
	var out []recall.Candidate
	for _, h := range hits {
		cand, ok, err := look.candidate(h)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, cand)
		}
	}
	return out, nil
}

// candidate is a hit with what ranking needs to know of it.
func (l *looking) candidate(h index.Hit) (recall.Candidate, bool, error) {
	r := l.r
	e, vectors, err := l.read(h)
	if err != nil || e == nil {
		return recall.Candidate{}, false, err
	}
	if open, err := r.open(e); err != nil || !open {
		return recall.Candidate{}, false, err
	}
	h.Meta = e
	out := recall.Candidate{
		ID: h.ID, Hit: h, Principal: e.Principal, Own: e.Principal == r.agent.Principal,
		Strength: score(e.StrengthNow(r.v.Now())), UseCount: score(e.Recalled), AbsRPE: score(max(e.RPE, -e.RPE)),
		Buffered: e.Status == federation.StatusBuffered, CreatedAt: e.CreatedAt, WaitingSince: e.CreatedAt,
		Source: recall.SourceOwn, Vectors: vectors,
		Trust: score(federation.OwnTrust(e.Helped, e.Recalled)),
	}
	if e.Shared() {
		out.Source, out.Trust = recall.SourceMeta, 0
		if e.Status == federation.StatusCandidate {
			out.Source = recall.SourceCandidate
		}
		if e.Trust != nil {
			out.Trust, out.Mu = score(e.Trust.Trust), score(e.Trust.Mu)
		}
	}
	out.Length = recall.ItemTokens(r.guidanceItem(recall.Ranked{Candidate: out, Exploratory: out.Source == recall.SourceCandidate}))
	return out, true, nil
}

// open reports whether no ancestor of an experience was revoked or held: its descendants are closed by job, and until then
// by this look.
func (r *recalling) open(e *store.Experience) (bool, error) {
	for _, id := range e.Lineage.DerivedFrom {
		parent, err := r.v.Experience(r.ns, id)
		if err != nil {
			return false, err
		}
		if parent != nil && (parent.Status == federation.StatusRevoked || parent.Status == federation.StatusHeld) {
			return false, nil
		}
	}
	return true, nil
}

// withdrawn lists what the agent was given before and was revoked since, once: the receipt says that it was told.
func (r *recalling) withdrawn() ([]store.ID, error) {
	var ids []store.ID
	err := r.v.WithdrawnFrom(r.ns, r.agent.Number, func(id store.ID, w *store.Withdrawn) bool {
		if w.Told == 0 {
			ids = append(ids, id)
		}
		return len(ids) < maxLimit
	})
	return ids, err
}

// unseen leaves out candidates that this juror was shown in this task group.
func (r *recalling) unseen(shelf []recall.Candidate) ([]recall.Candidate, error) {
	var out []recall.Candidate
	for _, c := range shelf {
		e := c.Hit.Meta.(*store.Experience)
		k := r.shownKey(e)
		shown, err := r.v.Shown(r.ns, k.candidate, k.group, k.juror)
		if err != nil {
			return nil, err
		}
		if !shown && !r.n.receipts.recently(k) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (r *recalling) shownKey(e *store.Experience) shownKey {
	return shownKey{r.ns.Number, e.ID, r.group, store.JurorOf(e.Unit, r.agent.Principal, r.agent.ID)}
}

// withoutCopies drops shared items whose text the caller has in its own pool.
func withoutCopies(ordinary, shelf []recall.Candidate) (o, s []recall.Candidate) {
	own := map[[32]byte]bool{}
	for _, c := range ordinary {
		if e := c.Hit.Meta.(*store.Experience); !e.Shared() {
			own[e.Hash] = true
		}
	}
	copied := func(c recall.Candidate) bool {
		e := c.Hit.Meta.(*store.Experience)
		return e.Shared() && own[e.Hash]
	}
	return slices.DeleteFunc(ordinary, copied), shelf
}

func (r *recalling) fill(ranked []recall.Ranked, omitted []recall.Omitted) {
	r.out.Experiences, r.out.Omitted, r.out.Withdrawn = []api.Recalled{}, []api.Omitted{}, []string{}
	for _, x := range ranked {
		e := x.Hit.Meta.(*store.Experience)
		item := api.Recalled{
			Experience: r.n.render(r.v, r.c, e), Score: x.Score, Exploratory: x.Exploratory, Buffered: x.Buffered, Rank: x.Rank + 1,
			Unproven: r.unproven[x.ID],
			Parts:    api.Parts{Cosine: x.Hit.Cosine, Keyword: x.Hit.Keyword, Trust: x.Trust, Strength: x.Strength},
		}
		r.out.Experiences = append(r.out.Experiences, item)
		given := store.ReceiptItem{ID: e.ID, Version: e.Version, Hash: e.Hash}
		if x.Exploratory {
			given.Flags |= store.FlagExploratory
		}
		if r.unproven[x.ID] {
			given.Flags |= store.FlagUnproven
		}
		if x.Buffered {
			given.Flags |= store.FlagBuffered
		}
		r.items = append(r.items, given)
		if x.Exploratory && e.Status == federation.StatusCandidate {
			r.shown = append(r.shown, r.shownKey(e))
		}
	}
	for _, o := range omitted {
		if len(r.out.Omitted) < omittedShown {
			r.out.Omitted = append(r.out.Omitted, api.Omitted{ID: o.ID, Reason: o.Reason})
		}
	}
	r.out.Guidance = recall.GuidanceWithSteps(r.steps, r.guidance(ranked))
	if len(ranked) == 0 {
		r.out.WhyEmpty = r.whyEmpty()
	}
}

// guidance are the items of an answer as its text shows them. Where the first alone is beyond the token budget, it is cut.
func (r *recalling) guidance(ranked []recall.Ranked) []recall.GuidanceItem {
	var out []recall.GuidanceItem
	for _, x := range ranked {
		out = append(out, r.guidanceItem(x))
	}
	if r.req.TokenBudget > 0 && len(out) == 1 {
		out[0] = recall.Shortened(out[0], r.req.TokenBudget-recall.PreambleTokens)
	}
	return out
}

func (r *recalling) guidanceItem(x recall.Ranked) recall.GuidanceItem {
	e := x.Hit.Meta.(*store.Experience)
	item := recall.GuidanceItem{
		ID: x.ID, Source: x.Source, Author: e.Principal, Kind: string(e.Kind), Scenario: e.Scenario, Content: e.Content,
		AgeDays: int(max(0, r.v.Now()-e.CreatedAt) / (24 * 3_600_000)), Success: e.Success, Failure: e.Failure,
		Exploratory: x.Exploratory, Unproven: r.unproven[x.ID], Buffered: x.Buffered, Strength: x.Strength,
	}
	if e.Trust != nil {
		t := score(e.Trust.Trust)
		item.Trust = &t
	}
	return item
}

// finish makes the receipt of an inject recall and queues it.
func (r *recalling) finish() error {
	r.out.Index = min(r.n.index.watermark(), r.v.Index())
	if r.req.Mode != "inject" {
		return nil
	}
	site, err := r.v.Site()
	if err != nil || site == nil {
		return orDefault(err, api.Unavailable("the site is not bootstrapped", time.Second, nil))
	}
	withdrawn, err := r.withdrawn()
	if err != nil {
		return err
	}
	r.out.Withdrawn = idStrings(withdrawn)
	receipt := store.Receipt{
		Withdrawn: withdrawn, Recall: ulid.Make(), Agent: r.agent.ID, TaskType: r.req.TaskType, Group: r.group, At: time.Now().UnixMilli(),
		Task:  r.task(),
		Items: r.items,
	}
	if r.out.Receipt, err = sealReceipt(site, r.ns.ID, &receipt); err != nil {
		return err
	}
	r.n.receipts.add(r.ns.ID, receipt, r.shown)
	return nil
}
