package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/federation"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/gate"
	"cairn/node/llm"
	"cairn/node/store"
)

// reward lets a model score attempts that came without a reward, where one is set for that. The scores are written down
// before anything is distilled from them, so that a job that runs again asks nothing twice.
func (n *Node) reward(ctx context.Context, job store.Job) error {
	if !n.models.enabled(llm.RoleReward) {
		return nil
	}
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	defer v.Close()
	d, err := n.openGroup(v, ns, job)
	if err != nil || d == nil {
		return err
	}
	body := store.Judged{Job: ref(job), Trajectory: d.traj.ID, Owner: d.traj.Owner}
	stop := d.scoreAttempts(ctx, &body)
	if len(body.Rewards) > 0 {
		if _, err := n.conclude(ctx, job, store.KindJudged, body); err != nil {
			return errors.Join(stop, err)
		}
	}
	return stop
}

// scoreAttempts asks about one attempt after the other; what was scored before an error is kept.
func (d *distillation) scoreAttempts(ctx context.Context, body *store.Judged) error {
	for _, a := range d.group.Attempts {
		if a.HasReward || len(a.Steps) == 0 {
			continue
		}
		got, ok, err := askForJob(&d.n.models, llm.RoleReward, func() (llm.Reward, error) {
			return d.n.models.client.Reward(ctx, d.payer(), llm.RewardInput{TaskType: d.traj.TaskType, Task: d.traj.Task, Steps: llmSteps(a)})
		})
		if err != nil || !ok {
			return err
		}
		value, success := acquire.Normalise(got.Score, [2]float64{0, 1}, thresholdOf(d.ns, d.traj.TaskType))
		expected, err := d.expected()
		if err != nil {
			return err
		}
		body.Rewards = append(body.Rewards, store.JudgedScore{
			Attempt: a.Number, Score: micro(value), Success: success, Expected: expected.Value, ExpectedBy: expected.Source, By: got.Generator,
		})
	}
	return nil
}

// expected is what the gate expects of an attempt of the group.
func (d *distillation) expected() (gate.Expectation, error) {
	return d.n.expect(d.view, d.ns, d.agent, api.RecordTrajectory{TaskType: d.traj.TaskType}, unpack(d.traj.TaskVector), d.traj.Group)
}

func (d *distillation) payer() llm.Caller { return llm.Caller{Namespace: d.ns.ID, Agent: d.agent.ID} }

func llmSteps(a acquire.Attempt) []llm.Step {
	clean := acquire.Cleaned(a)
	out := make([]llm.Step, 0, len(clean))
	for _, s := range clean {
		out = append(out, llm.Step{Tool: s.Tool, Args: s.Args, Observation: s.Observation, Thought: s.Thought})
	}
	return out
}

// drafts are the group's lessons: those that a model proposes where one is set, and by rule those of the lenses that it
// left empty. The gate is asked first, so that no question is spent on a group from which nothing would be kept.
func (d *distillation) drafts(ctx context.Context) ([]acquire.Draft, []acquire.Discard, error) {
	byRule, discards := d.byRule(ctx)
	byRule, err := d.withRetries(byRule)
	if err != nil || !d.worthAsking() {
		return byRule, discards, err
	}
	got, ok, err := askForJob(&d.n.models, llm.RoleDistil, func() (llm.Distilled, error) {
		return d.n.models.client.Distil(ctx, d.payer(), d.question(ctx))
	})
	if err != nil || !ok {
		return byRule, discards, err
	}
	for _, x := range got.Rejected {
		discards = append(discards, acquire.Discard{Reason: "invalid", Detail: x.Lens + ": " + x.Reason})
	}
	var proposed []acquire.Draft
	filled := map[string]bool{}
	for i, lesson := range got.Lessons {
		draft := d.draftOf(lesson, i, got.Generator)
		if acquire.Recalled(draft, d.group) {
			discards = append(discards, acquire.Discard{Reason: acquire.ReasonRecalled, Detail: lesson.Lens + ": its attempts were given this text"})
			continue
		}
		filled[draft.Lens] = true
		proposed = append(proposed, draft)
	}
	for _, draft := range byRule {
		if !filled[draft.Lens] {
			proposed = append(proposed, draft)
		}
	}
	return proposed, discards, nil
}

// worthAsking reports whether the gate keeps anything of the group.
func (d *distillation) worthAsking() bool {
	rewarded, success, failure, kept := 0, false, false, false
	for _, a := range d.attempts {
		if !a.HasReward {
			continue
		}
		rewarded++
		success, failure = success || a.Success, failure || !a.Success
		kept = kept || federation.Route(d.routes[a.Number].Route) != federation.RouteDiscard
	}
	return rewarded > 0 && (kept || success && failure)
}

func (d *distillation) question(ctx context.Context) llm.DistilInput {
	in := llm.DistilInput{TaskType: d.traj.TaskType, Task: d.traj.Task, Lenses: d.group.Lenses}
	for _, a := range d.group.Attempts {
		if a.HasReward {
			in.Attempts = append(in.Attempts, llm.Attempt{Number: a.Number, Steps: llmSteps(a), Score: a.Score, Success: a.Success})
		}
	}
	in.Pairs = d.pairs(ctx)
	return in
}

var kindOfLens = map[string]federation.Kind{
	acquire.LensSuccess: federation.KindSuccess, acquire.LensContrast: federation.KindContrast,
	acquire.LensFailure: federation.KindFailure, acquire.LensToolUse: federation.KindToolUse,
}

// draftOf makes a draft of a lesson. Its support is what its attempts show; a lesson of failures alone is a caution, as by
// rule. The feature counts lessons within their lens: a group that is distilled again replaces them in order.
func (d *distillation) draftOf(lesson llm.Lesson, i int, generator string) acquire.Draft {
	out := acquire.Draft{
		Lens: lesson.Lens, Feature: fmt.Sprintf("llm/%d", i), Kind: kindOfLens[lesson.Lens], Scenario: lesson.Scenario, Content: lesson.Content,
		Keywords: lesson.Keywords, Tools: lesson.Tools, Attempts: lesson.Attempts, Generator: generator, Preconditions: acquire.Conditions(d.group),
	}
	successes := 0
	for _, a := range d.group.Attempts {
		switch {
		case a.HasReward && a.Success:
			successes++
		}
		if !a.HasReward || !slices.Contains(lesson.Attempts, a.Number) {
			continue
		}
		if a.Success {
			out.Success++
		} else {
			out.Failure++
		}
	}
	if successes == 0 {
		out.Kind = federation.KindCaution
	}
	return out
}

// judge scores a draft: by a model where one is set, else by rule. A verdict that cannot be read is an error of the job,
// never a pass.
func (d *distillation) judge(ctx context.Context, draft acquire.Draft, nearest float64, neighbour string) (acquire.Verdict, string, error) {
	got, ok, err := askForJob(&d.n.models, llm.RoleJudge, func() (llm.Verdict, error) {
		return d.n.models.client.Judge(ctx, d.payer(), llm.JudgeInput{
			TaskType: d.traj.TaskType, Task: d.traj.Task, Scenario: draft.Scenario, Content: draft.Content, Tools: d.tools(),
			Successes: draft.Success, Failures: draft.Failure, Neighbour: neighbour,
		})
	})
	if err != nil {
		return acquire.Verdict{}, "", err
	}
	if !ok {
		return decided(acquire.Judge(draft, d.group, nearest, ""), draft.Kind, d.subPool()), "", nil
	}
	return decided(acquire.Verdict{
		Actionability: got.Actionability, Accuracy: got.Accuracy, Relevance: got.Relevance, Clarity: got.Clarity, Uniqueness: got.Uniqueness,
	}, draft.Kind, d.subPool()), got.Generator, nil
}

// subPool is the profile of the sub-pool that the group's lessons go to.
func (d *distillation) subPool() store.TaskType { return d.ns.Settings.TaskTypes[d.traj.TaskType] }

// decided completes a verdict as the profile of a sub-pool says.
func decided(v acquire.Verdict, kind federation.Kind, of store.TaskType) acquire.Verdict {
	if of.Admit > 0 {
		return acquire.DecideAt(v, score(of.Admit))
	}
	return acquire.Decide(v, kind, of.Judge)
}

// tools are those of the group's attempts, each once, in order of appearance.
func (d *distillation) tools() []string {
	var out []string
	for _, a := range d.group.Attempts {
		for _, s := range a.Steps {
			if !slices.Contains(out, s.Tool) {
				out = append(out, s.Tool)
			}
		}
	}
	return out
}
