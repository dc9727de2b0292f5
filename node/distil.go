package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/index/embed"
	"cairn/node/acquire"
	"cairn/node/gate"
	"cairn/node/store"
)

const (
	distilAttempts = 16 // the newest of a group, those recorded again left out
	distilRead     = 64 // attempts that are read to find them
	mergeNearest   = 5  // neighbours that are looked at for a merge
)

// distil turns a group into experiences: reward judge, gate, lenses, judge, dedupe, in this order, so that nothing is
// embedded that the gate discards and no model is asked about it.
func (n *Node) distil(ctx context.Context, job store.Job) error {
	if err := n.reward(ctx, job); err != nil {
		return err
	}
	body, err := n.buildDistilled(ctx, job)
	if err != nil {
		return err
	}
	if body == nil {
		return n.finished(ctx, job)
	}
	_, err = n.conclude(ctx, job, store.KindDistilled, *body)
	return err
}

// distillation is one run of the distiller over a group.
type distillation struct {
	n        *Node
	view     *store.View
	ns       *store.Namespace
	traj     *store.Trajectory
	agent    *store.Agent
	attempts []store.Attempt
	group    acquire.Group
	every    []acquire.Attempt     // those of the group and those recorded again
	routes   map[int]store.GateRow // by attempt number
	out      store.Distilled
}

func (n *Node) buildDistilled(ctx context.Context, job store.Job) (*store.Distilled, error) {
	v, ns, err := n.openJob(job)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	d, err := n.openGroup(v, ns, job)
	if err != nil || d == nil {
		return nil, err
	}
	d.route()
	drafts, discards, err := d.drafts(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range discards {
		d.discard(x.Reason, x.Detail)
	}
	for _, draft := range drafts {
		if err := d.keep(ctx, draft); err != nil {
			return nil, err
		}
	}
	return &d.out, nil
}

// openGroup reads the group of a job; nil when it or its agent is gone.
func (n *Node) openGroup(v *store.View, ns *store.Namespace, job store.Job) (*distillation, error) {
	traj, err := v.TrajectoryOf(ns.Number, job.Owner, job.Subject)
	if err != nil || traj == nil {
		return nil, err
	}
	agent, err := v.Agent(ns, traj.Agent)
	if err != nil || agent == nil {
		return nil, err
	}
	attempts, err := v.Attempts(ns, traj, traj.Version-distilRead)
	if err != nil {
		return nil, err
	}
	d := &distillation{n: n, view: v, ns: ns, traj: traj, agent: agent, attempts: attempts, routes: map[int]store.GateRow{}}
	d.out = store.Distilled{Job: ref(job), Trajectory: traj.ID, Owner: traj.Owner, Version: traj.Version}
	return d, d.makeGroup()
}

func (d *distillation) discard(reason, detail string) {
	d.out.Discarded = append(d.out.Discarded, store.Discard{Reason: reason, Detail: detail})
}

func (d *distillation) makeGroup() error {
	d.group = acquire.Group{TaskType: d.traj.TaskType, Task: d.traj.Task, Environment: d.traj.Environment, Lenses: d.subPool().Lenses}
	for _, a := range d.attempts {
		out, err := readAttempt(d.view, d.ns, d.agent.Number, a)
		if err != nil {
			return err
		}
		d.group.Attempts = append(d.group.Attempts, out)
	}
	d.every = d.group.Attempts
	d.once()
	return nil
}

// readAttempt makes a stored attempt what the rules read, with the texts that its agent was given.
func readAttempt(v *store.View, ns *store.Namespace, owner uint32, a store.Attempt) (acquire.Attempt, error) {
	out := acquire.Attempt{
		Number: a.Number, HasReward: a.HasReward, Score: score(a.Score), Success: a.Success, Recording: a.At,
		Named: a.ExternalID != "",
	}
	for _, s := range a.Steps {
		step := acquire.Step{Tool: s.Tool, Observation: s.Observation, Thought: s.Thought, Reward: s.Reward}
		if len(s.Args) > 0 {
			if err := json.Unmarshal(s.Args, &step.Args); err != nil {
				return out, fmt.Errorf("decode arguments of attempt %d: %w", a.Number, err)
			}
		}
		out.Steps = append(out.Steps, step)
	}
	var err error
	out.Given, err = textsGiven(v, ns, owner, a.Receipt)
	return out, err
}

// once leaves out attempts that were recorded again, so that a replay of the input changes nothing, and the oldest of
// what is left. The gate looks at what is distilled and at what is new.
func (d *distillation) once() {
	d.group.Attempts = acquire.Once(d.group.Attempts)
	d.group.Attempts = d.group.Attempts[max(0, len(d.group.Attempts)-distilAttempts):]
	newest := len(d.attempts) - distilAttempts
	var routed []store.Attempt
	for i, a := range d.attempts {
		if i >= newest || slices.ContainsFunc(d.group.Attempts, func(k acquire.Attempt) bool { return k.Number == a.Number }) {
			routed = append(routed, a)
		}
	}
	d.attempts = routed
}

// textsGiven lists what the agent was told by a recall, which is never distilled again.
func textsGiven(v *store.View, ns *store.Namespace, owner uint32, recall store.ID) ([]string, error) {
	if recall == (store.ID{}) {
		return nil, nil
	}
	receipt, err := v.Receipt(ns, owner, recall)
	if err != nil || receipt == nil {
		return nil, err
	}
	var out []string
	for _, item := range receipt.Items {
		e, err := v.Experience(ns, item.ID)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, e.Content)
		}
	}
	return out, nil
}

// route sends each attempt through the gate.
func (d *distillation) route() {
	failed := !slices.ContainsFunc(d.attempts, func(a store.Attempt) bool { return a.HasReward && a.Success })
	for _, a := range d.attempts {
		row := store.GateRow{Attempt: a.Number, HasReward: a.HasReward, Route: "none", Reason: "no_reward"}
		if a.HasReward {
			row.Expected, row.Actual, row.Buffer, row.Long = a.Expected, a.Score, a.Buffer, a.Long
			route, reason := d.routeOf(a, failed)
			row.Route, row.Reason = string(route), reason
		}
		d.routes[a.Number] = row
		d.out.Gate = append(d.out.Gate, row)
	}
}

func (d *distillation) routeOf(a store.Attempt, pureFailure bool) (federation.Route, string) {
	switch d.ns.Settings.Gate {
	case "off":
		return federation.RouteLongTerm, "gate_off"
	case "random":
		return gate.RandomRoute(fmt.Sprintf("%s/%d", d.traj.ID, a.Number), a.Long, a.Buffer), "gate_random"
	}
	return federation.RouteOf(federation.GateInput{
		Success: a.Success, Delta: a.Delta(), Long: a.Long, Buffer: a.Buffer, WarmUp: a.WarmUp, PureFailure: pureFailure,
		Conflict: d.conflicts(a.Success),
	})
}

// conflicts reports whether a trusted experience about the same task says the opposite of an outcome.
func (d *distillation) conflicts(success bool) bool {
	vector := unpack(d.traj.TaskVector)
	profile, ok := embed.ProfileOf(vector.Embedder)
	if !ok {
		return false
	}
	trusted := func(e *store.Experience) bool {
		if e.Group == d.traj.Group || e.TaskType != d.traj.TaskType {
			return false
		}
		warns := e.Kind == federation.KindFailure || e.Kind == federation.KindCaution
		proved := e.Status == federation.StatusPromoted || !e.Shared() && e.Helped >= federation.One && 2*e.Helped >= e.Recalled
		return proved && warns == success
	}
	for _, owner := range []uint32{d.traj.Owner, store.SharedOwner} {
		for _, near := range d.n.index.nearest(poolKey{d.ns.Number, owner}, vector, 0, 1, trusted) {
			if near.Cosine >= profile.Duplicate {
				return true
			}
		}
	}
	return false
}

// keep gates, judges and dedupes one draft.
func (d *distillation) keep(ctx context.Context, draft acquire.Draft) error {
	route, delta := d.routeDraft(draft)
	if route == federation.RouteDiscard {
		d.discard("gate", draft.Lens+": nothing unexpected in its attempts")
		return nil
	}
	e := d.experience(draft, route, delta)
	same, err := d.view.ByHash(d.ns, d.traj.Owner, e.Hash)
	if err != nil {
		return err
	}
	item := store.DistilledItem{Experience: e}
	if same != nil {
		item.Experience.Judge = same.Judge
		d.out.Items = append(d.out.Items, item) // apply joins it by its hash: no vectors needed
		return nil
	}
	vectors := d.n.vectors(ctx, &e)
	nearest, neighbour, merge := d.n.alike(poolKey{d.ns.Number, d.traj.Owner}, &e, vectors)
	verdict, by, err := d.judge(ctx, draft, nearest, neighbour)
	if err != nil {
		return err
	}
	if !verdict.Admit {
		d.discard("judge", draft.Lens+": "+verdict.Reason)
		return nil
	}
	item.Experience.Judge, item.Experience.Lineage.Judge = micro(verdict.Score), by
	item.Vectors = packVectors(vectors)
	if merge != nil {
		item.MergeInto, item.MergeVer = merge.ID, merge.Version
	}
	d.out.Items = append(d.out.Items, item)
	return nil
}

// routeDraft gives an experience the highest route among its source attempts; what contrasts both outcomes is long-term, also
// when nothing of what it says was seen on the other side.
func (d *distillation) routeDraft(draft acquire.Draft) (federation.Route, federation.Micro) {
	var routes []federation.Route
	var delta federation.Micro
	success, failure := false, false
	for _, number := range draft.Attempts {
		row, ok := d.routes[number]
		if !ok || !row.HasReward {
			continue
		}
		success, failure = success || d.succeeded(number), failure || !d.succeeded(number)
		routes = append(routes, federation.Route(row.Route))
		if x := row.Actual - row.Expected; max(x, -x) > max(delta, -delta) {
			delta = x
		}
	}
	mixed := draft.Success > 0 && draft.Failure > 0 && draft.Kind != federation.KindSuccess
	if mixed || draft.Kind == federation.KindContrast && success && failure {
		return federation.RouteLongTerm, delta
	}
	return federation.HighestRoute(routes...), delta
}

func (d *distillation) succeeded(number int) bool {
	return slices.ContainsFunc(d.attempts, func(a store.Attempt) bool { return a.Number == number && a.Success })
}

func (d *distillation) experience(draft acquire.Draft, route federation.Route, delta federation.Micro) store.Experience {
	e := store.Experience{
		ID: ulid.Make(), Owner: d.traj.Owner, Agent: d.agent.ID, Principal: d.agent.Principal,
		Scenario: draft.Scenario, Content: draft.Content, Keywords: draft.Keywords, Tools: draft.Tools,
		TaskType: d.traj.TaskType, Kind: draft.Kind, Preconditions: draft.Preconditions, Environment: d.traj.Environment,
		Group: d.traj.Group, GroupKey: d.traj.GroupKey, Status: federation.StatusActive, Share: d.traj.Share, RPE: delta,
		Strength: federation.InitialStrength(delta), Success: draft.Success, Failure: draft.Failure,
		Lineage: store.Lineage{
			Trajectories: []store.ID{d.traj.ID}, Lens: draft.Lens, Generator: draft.Generator, Feature: draft.Feature,
			Reflections: reflectionOf(draft),
		},
	}
	e.Task = taskName(d.traj.GroupKey, d.traj.TaskType, d.traj.Task)
	e.Actions = d.calls(draft)
	if route == federation.RouteBuffer {
		e.Status = federation.StatusBuffered
	}
	e.Hash = textHash(&e)
	return e
}

// textHash is the identity of an experience's text: what must be equal for an exact duplicate.
func textHash(e *store.Experience) [32]byte {
	var conditions []string
	for _, k := range slices.Sorted(maps.Keys(e.Preconditions)) {
		conditions = append(conditions, k+"="+e.Preconditions[k])
	}
	return federation.TextHash(e.Scenario, e.Content, e.TaskType, conditions...)
}

// vectors embeds scenario and content; either may be missing when the deadline passed.
func (n *Node) vectors(ctx context.Context, e *store.Experience) []embed.Vector {
	scenario, err1 := n.embed(ctx, scenarioText(e))
	content, err2 := n.embed(ctx, e.Content)
	if err1 != nil || err2 != nil {
		return nil
	}
	return []embed.Vector{scenario, content}
}

// scenarioText is what stands for the scenario: prefixed with task type and constraints. A query is not prefixed: on both
// sides the prefix alone lifts unrelated texts above the floor.
func scenarioText(e *store.Experience) string {
	var b strings.Builder
	if e.TaskType != "" {
		b.WriteString(e.TaskType + ": ")
	}
	b.WriteString(e.Scenario)
	for _, k := range slices.Sorted(maps.Keys(e.Preconditions)) {
		fmt.Fprintf(&b, " [%s=%s]", k, e.Preconditions[k])
	}
	return b.String()
}

func packVectors(list []embed.Vector) store.Vectors {
	var out store.Vectors
	for _, v := range list {
		out.Vectors = append(out.Vectors, store.PackVector(v.Embedder, v.Values))
	}
	return out
}

func unpack(v store.Vector) embed.Vector {
	if v.Embedder == "" {
		return embed.Vector{}
	}
	return embed.Vector{Embedder: v.Embedder, Values: v.Values()}
}

// duplicate looks for an experience of the pool that says the same; nearest is the highest cosine of contents.
func (n *Node) duplicate(pool poolKey, e *store.Experience, vectors []embed.Vector) (nearest float64, into *store.Experience) {
	nearest, _, into = n.alike(pool, e, vectors)
	return nearest, into
}

// alike is duplicate for who wants to know the neighbour too. nearest is the highest cosine of contents on the common
// scale, neighbour the content that has it.
func (n *Node) alike(pool poolKey, e *store.Experience, vectors []embed.Vector) (nearest float64, neighbour string, into *store.Experience) {
	if len(vectors) != 2 {
		return 0, "", nil
	}
	profile, ok := embed.ProfileOf(vectors[1].Embedder)
	if !ok {
		return 0, "", nil
	}
	live := func(x *store.Experience) bool {
		return x.ID != e.ID && (!x.Shared() || x.Status == federation.StatusPromoted)
	}
	for _, near := range n.index.nearest(pool, vectors[1], 1, mergeNearest, live) {
		if cosine := profile.Common(near.Cosine); cosine > nearest {
			nearest, neighbour = cosine, near.exp.Content
		}
		if into == nil && acquire.Duplicate(side(e), side(near.exp), n.index.cosineAt(pool, near.exp.ID, 0, vectors[0]), near.Cosine, profile) {
			into = near.exp
		}
	}
	return nearest, neighbour, into
}

func side(e *store.Experience) federation.DedupeSide {
	return federation.DedupeSide{
		Scenario: e.Scenario, Content: e.Content, Tools: e.Tools, Preconditions: e.Preconditions, Kind: e.Kind, TaskType: e.TaskType,
	}
}

// embedJob makes the vectors that a write could not wait for.
func (n *Node) embedJob(ctx context.Context, job store.Job) error {
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	e, err := v.ExperienceOf(ns.Number, job.Owner, job.Subject)
	v.Close()
	if err != nil {
		return err
	}
	if e == nil {
		return n.finished(ctx, job)
	}
	scenario, err := n.encoder.Embed(ctx, scenarioText(e))
	if err != nil {
		return fmt.Errorf("embed scenario: %w", err)
	}
	content, err := n.encoder.Embed(ctx, e.Content)
	if err != nil {
		return fmt.Errorf("embed content: %w", err)
	}
	_, err = n.conclude(ctx, job, store.KindSetVectors, store.SetVectors{
		Job: ref(job), Target: store.Target{ID: e.ID, Owner: e.Owner, Version: e.Version},
		Vectors: packVectors([]embed.Vector{scenario, content}),
	})
	return err
}

func unpackAll(v store.Vectors) []embed.Vector {
	var out []embed.Vector
	for _, x := range v.Vectors {
		out = append(out, unpack(x))
	}
	return out
}
