package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/index/embed"
	"cairn/node/acquire"
	"cairn/node/llm"
	"cairn/node/store"
)

const (
	reflectDeadline = 10 * time.Second // of a model that makes a hypothesis; then it is made by rule
	similarGroups   = 3                // groups of the agent that are compared
	similarLessons  = 2                // lessons of a pool
	pastAttempts    = 8                // successes that are read of a group
	namedSources    = 3                // ids that a hypothesis names
)

// past is something that succeeded at the same or a similar task.
type past struct {
	task     string
	attempts []acquire.Attempt
	lesson   string
	ids      []store.ID
}

// hypothesis compares a failure with what succeeded before, nearest first: the same task, the agent's similar tasks,
// lessons that it may see. Of several the first that says something new is taken. found is false without any of them;
// what the failure shows by itself is then all there is.
func (r *reflecting) hypothesis(ctx context.Context, rec store.RecordTrajectory, failed acquire.Attempt, tried []store.Retry) (store.Retry, bool, error) {
	list, err := r.successes(rec)
	if err != nil {
		return store.Retry{}, false, err
	}
	chosen, text := past{}, ""
	for i, p := range list {
		said := acquire.Hypothesis(compared(rec, failed, p))
		fresh := !slices.ContainsFunc(tried, func(t store.Retry) bool { return t.Hypothesis == said || sameIDs(t.BasedOn, p.ids) })
		if i == 0 || fresh {
			chosen, text = p, said
		}
		if fresh {
			break
		}
	}
	if len(list) == 0 {
		text = acquire.Hypothesis(compared(rec, failed, chosen))
	}
	out := store.Retry{Hypothesis: text, BasedOn: chosen.ids, Generator: acquire.Generator}
	r.byModel(ctx, rec, failed, chosen, tried, &out)
	return out, len(list) > 0, nil
}

func sameIDs(a, b []store.ID) bool { return len(a) > 0 && slices.Equal(a, b) }

func compared(rec store.RecordTrajectory, failed acquire.Attempt, p past) acquire.Compared {
	return acquire.Compared{
		TaskType: rec.TaskType, Task: rec.Task, Failed: failed, PastTask: p.task, Past: p.attempts, Lesson: p.lesson,
	}
}

// byModel lets a model say it better where one is set; its failure costs nothing but the wait.
func (r *reflecting) byModel(ctx context.Context, rec store.RecordTrajectory, failed acquire.Attempt, p past, tried []store.Retry, out *store.Retry) {
	if !r.n.models.enabled(llm.RoleDistil) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reflectDeadline)
	defer cancel()
	in := llm.ReflectInput{
		TaskType: rec.TaskType, Task: rec.Task, Failed: llmSteps(failed), PastTask: p.task, Lesson: p.lesson, Rule: out.Hypothesis,
	}
	if len(p.attempts) > 0 {
		in.Past = llmSteps(p.attempts[0])
	}
	for _, t := range tried {
		if t.Hypothesis != "" {
			in.Before = append(in.Before, t.Hypothesis)
		}
	}
	got, err := askInRecall(&r.n.models, llm.RoleDistil, func() (llm.Hypothesis, error) {
		return r.n.models.client.Reflect(ctx, llm.Caller{Namespace: r.ns.ID, Agent: r.agent.ID}, in)
	})
	if err != nil {
		r.n.log.InfoContext(ctx, "hypothesis by rule", "agent", r.agent.ID, "error", err)
		return
	}
	if utf8.RuneCountInString(got.Text) <= store.MaxHypothesis {
		out.Hypothesis, out.Generator = got.Text, got.Generator
	}
}

// successes lists what succeeded before, nearest first.
func (r *reflecting) successes(rec store.RecordTrajectory) ([]past, error) {
	var out []past
	add := func(p past, ok bool) {
		if ok {
			out = append(out, p)
		}
	}
	group, err := r.view.GroupOf(r.ns, r.agent.Number, rec.Group)
	if err != nil {
		return nil, err
	}
	if group != nil {
		p, ok, err := r.pastOf(group)
		if err != nil {
			return nil, err
		}
		p.task = rec.Task
		add(p, ok)
	}
	vector := unpack(rec.TaskVector)
	if vector.IsZero() {
		return out, nil
	}
	agent, own := predictorAgent(r.ns.Number, r.agent.Number), map[string]bool{groupName(rec.Group): true}
	for _, m := range r.n.predictor.Similar(agent, own, vector, thresholdOf(r.ns, rec.TaskType), similarGroups) {
		p, ok, err := r.pastCalled(m.ID)
		if err != nil {
			return nil, err
		}
		add(p, ok)
	}
	return append(out, r.lessons(rec, vector)...), nil
}

// pastCalled reads the group of an outcome of the predictor, whose id is that of the group and a number.
func (r *reflecting) pastCalled(outcome string) (past, bool, error) {
	name, _, _ := strings.Cut(outcome, "/")
	id, err := ulid.ParseStrict(name)
	if err != nil {
		return past{}, false, fmt.Errorf("outcome %s: %w", outcome, err)
	}
	group, err := r.view.TrajectoryOf(r.ns.Number, r.agent.Number, id)
	if err != nil || group == nil {
		return past{}, false, err
	}
	return r.pastOf(group)
}

// pastOf reads the successes of a group, the newest that have their steps.
func (r *reflecting) pastOf(group *store.Trajectory) (past, bool, error) {
	attempts, err := r.view.Attempts(r.ns, group, group.Version-distilRead)
	if err != nil {
		return past{}, false, err
	}
	p := past{task: group.Task, ids: []store.ID{group.ID}}
	for _, a := range slices.Backward(attempts) {
		if !a.HasReward || !a.Success || len(a.Steps) == 0 || len(p.attempts) == pastAttempts {
			continue
		}
		read, err := readAttempt(r.view, r.ns, r.agent.Number, a)
		if err != nil {
			return past{}, false, err
		}
		p.attempts = append(p.attempts, read)
	}
	p.ids = append(r.tellingOf(group), p.ids...)
	return p, len(p.attempts) > 0, nil
}

// tellingOf are lessons of a group that say how it succeeded.
func (r *reflecting) tellingOf(group *store.Trajectory) []store.ID {
	var out []store.ID
	for _, id := range group.Experiences {
		e, err := r.view.ExperienceOf(r.ns.Number, group.Owner, id)
		if err == nil && e != nil && e.Live() && telling(e.Kind) && len(out) < namedSources-1 {
			out = append(out, e.ID)
		}
	}
	return out
}

// telling reports a kind of lesson that says how something succeeds.
func telling(k federation.Kind) bool {
	return k == federation.KindSuccess || k == federation.KindContrast || k == federation.KindReflection || k == federation.KindToolUse
}

// lessons are those for similar tasks in the agent's own pool and the meta-pool.
func (r *reflecting) lessons(rec store.RecordTrajectory, vector embed.Vector) []past {
	profile, ok := embed.ProfileOf(vector.Embedder)
	if !ok {
		return nil
	}
	env := maps.Clone(orEmptyMap(r.agent.Environment))
	maps.Copy(env, rec.Environment)
	fits := func(e *store.Experience) bool {
		switch {
		case !telling(e.Kind), e.Group == rec.Group, e.ValidUntil != 0 && e.ValidUntil <= time.Now().UnixMilli():
			return false
		case e.Shared() && (e.Status != federation.StatusPromoted || e.Unit != "" && e.Principal != r.agent.Principal):
			return false
		case !e.Shared() && e.Status != federation.StatusActive:
			return false
		}
		return agrees(e.Preconditions, env) && agrees(e.Environment, env)
	}
	var near []neighbour
	for _, owner := range []uint32{r.agent.Number, store.SharedOwner} {
		near = append(near, r.n.index.nearest(poolKey{r.ns.Number, owner}, vector, 0, similarLessons, fits)...)
	}
	slices.SortStableFunc(near, func(a, b neighbour) int { return cmp.Compare(b.Cosine, a.Cosine) })
	var out []past
	for _, x := range near {
		if x.Cosine >= profile.Strict {
			out = append(out, past{lesson: x.exp.Content, ids: []store.ID{x.exp.ID}})
		}
	}
	return out
}
