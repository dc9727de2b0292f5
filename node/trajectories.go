package node

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/index/embed"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/gate"
	"cairn/node/store"
)

// maxWait bounds ?wait on a recording.
const maxWait = time.Minute

// taskGroup identifies attempts at the same task: the caller's key, else the task type and the normalised task.
func taskGroup(groupKey, taskType, task string) [32]byte {
	if groupKey != "" {
		return sha256.Sum256([]byte("key\x00" + groupKey))
	}
	return sha256.Sum256([]byte("task\x00" + taskType + "\x00" + federation.NormalizeText(task)))
}

// RecordTrajectory records attempts; the group is distilled by a job. With wait > 0 the answer has what was distilled when
// the job ended in time, and is 202 with the job otherwise.
func (n *Node) RecordTrajectory(ctx context.Context, c api.Caller, req api.RecordTrajectory, wait time.Duration, w api.Write) (api.Done[api.RecordedTrajectory], error) {
	var zero api.Done[api.RecordedTrajectory]
	if err := checkTrajectory(req, "body."); err != nil {
		return zero, err
	}
	var warnings []api.Field
	rec, res, err := call[store.Recorded](ctx, n, c, w, store.KindRecordTrajectory, func(v *store.View, ns *store.Namespace) (any, error) {
		body, warn, err := n.buildTrajectory(ctx, v, ns, c, req)
		warnings = warn
		return body, err
	})
	if err != nil {
		return zero, err
	}
	n.metrics.attempts.Add(float64(rec.Recorded))
	out := api.RecordedTrajectory{
		ID: rec.ID.String(), Recorded: rec.Recorded, Known: rec.Known, Warnings: warnings, Index: res.Index,
	}
	if rec.Job != (store.ID{}) {
		out.Job = rec.Job.String()
	}
	if wait <= 0 {
		return done(out, res, http.StatusAccepted), nil
	}
	finished, err := n.awaitDistilled(ctx, c, rec, min(wait, maxWait), &out)
	if err != nil || !finished {
		return done(out, res, http.StatusAccepted), err
	}
	res.Index = out.Index
	return done(out, res, http.StatusOK), nil
}

func checkTrajectory(req api.RecordTrajectory, at string) error {
	err := firstError(
		checkText(at+"task", req.Task, maxTask, true),
		checkTaskType(at+"task_type", req.TaskType),
		checkText(at+"group_key", req.GroupKey, maxGroupKey, false),
		checkChoice(at+"share", req.Share, "", "auto", "candidate", "never"),
		checkMap(at+"environment", req.Environment),
	)
	switch {
	case err != nil:
		return err
	case req.ExpectedReward != nil && !inUnit(*req.ExpectedReward):
		return api.Invalid(at+"expected_reward", "must be 0..1", *req.ExpectedReward)
	case len(req.Attempts) == 0 || len(req.Attempts) > maxAttempts:
		return api.Invalid(at+"attempts", "must have 1..16 entries", len(req.Attempts))
	}
	for i, a := range req.Attempts {
		if err := checkAttempt(a, fmt.Sprintf("%sattempts[%d].", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func checkAttempt(a api.Attempt, at string) error {
	if len(a.Steps) > maxSteps {
		return api.Invalid(at+"steps", "must have at most 256 entries", len(a.Steps))
	}
	if err := checkText(at+"external_id", a.ExternalID, maxExternalID, false); err != nil {
		return err
	}
	scale, err := scaleOf(a, at)
	if err != nil {
		return err
	}
	if err := checkParts(a, at); err != nil {
		return err
	}
	if a.Reward != nil && !(*a.Reward >= scale[0] && *a.Reward <= scale[1]) {
		return api.Invalid(at+"reward", fmt.Sprintf("must be within reward_scale [%g,%g]", scale[0], scale[1]), *a.Reward)
	}
	for i, s := range a.Steps {
		if err := checkStep(s, fmt.Sprintf("%ssteps[%d].", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func checkStep(s api.Step, at string) error {
	if s.Reward != nil && (math.IsNaN(*s.Reward) || math.IsInf(*s.Reward, 0)) {
		return api.Invalid(at+"reward", "must be a number", nil)
	}
	return firstError(
		checkText(at+"tool", s.Tool, maxWord, true),
		checkText(at+"observation", s.Observation, 2<<20, false),
		checkText(at+"thought", s.Thought, 2<<20, false),
	)
}

func scaleOf(a api.Attempt, at string) ([2]float64, error) {
	if a.RewardScale == nil {
		return [2]float64{0, 1}, nil
	}
	s := *a.RewardScale
	if len(s) != 2 || !(s[0] < s[1]) || math.IsInf(s[0], 0) || math.IsInf(s[1], 0) {
		return [2]float64{}, api.Invalid(at+"reward_scale", "must be [lowest, highest] with lowest < highest", s)
	}
	return [2]float64{s[0], s[1]}, nil
}

func (n *Node) buildTrajectory(ctx context.Context, v *store.View, ns *store.Namespace, c api.Caller, req api.RecordTrajectory) (store.RecordTrajectory, []api.Field, error) {
	agent, err := v.Agent(ns, c.Agent)
	if err != nil || agent == nil {
		return store.RecordTrajectory{}, nil, orDefault(err, api.NotFound("agent"))
	}
	body := store.RecordTrajectory{
		ID: ulid.Make(), Agent: c.Agent, GroupKey: req.GroupKey, Group: taskGroup(req.GroupKey, req.TaskType, req.Task),
		Task: req.Task, TaskType: req.TaskType, Environment: req.Environment, Share: federation.Share(req.Share),
		Complete: req.Complete,
	}
	vector, _ := n.embed(ctx, req.Task)
	if !vector.IsZero() {
		body.TaskVector = store.PackVector(vector.Embedder, vector.Values)
	}
	expected, err := n.expect(v, ns, agent, req, vector, body.Group)
	if err != nil {
		return body, nil, err
	}
	var warnings []api.Field
	for i, a := range req.Attempts {
		at := fmt.Sprintf("body.attempts[%d].", i)
		if a, err = combined(ns, req.TaskType, a, at); err != nil {
			return body, nil, err
		}
		rec, warn, err := n.buildAttempt(v, ns, c, a, thresholdOf(ns, req.TaskType), at)
		if err != nil {
			return body, nil, err
		}
		rec.Expected, rec.ExpectedBy = expected.Value, expected.Source
		warnings = append(warnings, warn...)
		body.Attempts = append(body.Attempts, rec)
	}
	return body, warnings, nil
}

func thresholdOf(ns *store.Namespace, taskType string) float64 {
	if t, ok := ns.Settings.TaskTypes[taskType]; ok && t.SuccessThreshold > 0 {
		return score(t.SuccessThreshold)
	}
	return acquire.DefaultThreshold
}

// expect is the gate's expectation, from what was known before this recording.
func (n *Node) expect(v *store.View, ns *store.Namespace, agent *store.Agent, req api.RecordTrajectory, vector embed.Vector, group [32]byte) (gate.Expectation, error) {
	tallies, err := v.TalliesOf(ns, agent.Number, req.TaskType)
	if err != nil {
		return gate.Expectation{}, err
	}
	in := gate.Inputs{Caller: req.ExpectedReward, TaskType: tallies.TaskType, Agent: tallies.AgentAll, Namespace: tallies.All}
	if t, ok := ns.Settings.TaskTypes[req.TaskType]; ok && t.ExpectedReward >= 0 {
		rule := score(t.ExpectedReward)
		in.Rule = &rule
	}
	if !vector.IsZero() {
		in.Neighbours = n.predictor.Neighbours(predictorAgent(ns.Number, agent.Number), groupName(group), vector, federation.PredictorNeighbours)
	}
	return gate.Expected(in), nil
}

func predictorAgent(ns, agent uint32) string { return fmt.Sprintf("%d/%d", ns, agent) }

func groupName(group [32]byte) string { return fmt.Sprintf("%x", group[:8]) }

func (n *Node) buildAttempt(v *store.View, ns *store.Namespace, c api.Caller, a api.Attempt, threshold float64, at string) (store.Attempt, []api.Field, error) {
	rec := store.Attempt{ExternalID: a.ExternalID, Parts: a.RewardParts}
	var warnings []api.Field
	scale, err := scaleOf(a, at)
	if err != nil {
		return rec, nil, err
	}
	rec.Scale = scale
	reward := a.Reward
	if reward == nil && a.Success != nil {
		reward = &scale[0]
		if *a.Success {
			reward = &scale[1]
		}
	}
	if reward != nil {
		value, success := acquire.Normalise(*reward, scale, threshold)
		rec.HasReward, rec.Reward, rec.Score, rec.Success = true, *reward, micro(value), success
		if a.Success != nil && *a.Success != success {
			warnings = append(warnings, api.Field{
				Location: at + "success", Message: "contradicts the reward; the reward stands", Value: *a.Success,
			})
		}
	}
	if a.Receipt != "" {
		receipt, err := n.openReceipt(v, ns, c, a.Receipt)
		if err != nil {
			return rec, nil, err
		}
		rec.Receipt = receipt.Recall
	}
	for i, s := range a.Steps {
		step, err := buildStep(s, fmt.Sprintf("%ssteps[%d].", at, i))
		if err != nil {
			return rec, nil, err
		}
		rec.Steps = append(rec.Steps, step)
	}
	return rec, warnings, nil
}

func buildStep(s api.Step, at string) (store.Step, error) {
	out := store.Step{Tool: s.Tool, Observation: cutTail(s.Observation), Thought: cutTail(s.Thought), Reward: s.Reward}
	if len(s.Args) > 0 {
		args, err := json.Marshal(s.Args)
		if err != nil {
			return out, api.Invalid(at+"args", "must be a JSON object", nil)
		}
		out.Args = args
	}
	return out, nil
}

// cutTail bounds a text to 16 KiB at a character and says how much went.
func cutTail(s string) string {
	if len(s) <= maxObservation {
		return s
	}
	cut := maxObservation
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s…[+%d bytes]", s[:cut], len(s)-cut)
}

// embed gives the vector of a text, or none when it is blank or the deadline passed: then keywords and a job help.
func (n *Node) embed(ctx context.Context, text string) (embed.Vector, error) {
	if strings.TrimSpace(text) == "" {
		return embed.Vector{}, embed.ErrBlank
	}
	ctx, cancel := context.WithTimeout(ctx, n.cfg.EmbedDeadline)
	defer cancel()
	v, err := n.encoder.Embed(ctx, text)
	if err != nil {
		n.metrics.embedMisses.Inc()
		return embed.Vector{}, err
	}
	return v, nil
}

// awaitDistilled waits for the group's job and fills what it left.
func (n *Node) awaitDistilled(ctx context.Context, c api.Caller, rec store.Recorded, wait time.Duration, out *api.RecordedTrajectory) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		changed := n.store.Changed()
		traj, list, index, err := n.distilled(c, rec.ID)
		if err != nil {
			return false, err
		}
		if traj.Distilled >= rec.Version {
			if err := n.index.wait(ctx, index); err != nil {
				return false, nil
			}
			out.Experiences, out.Index = list, index
			out.Gate, out.Discarded = renderGate(traj.Gate), renderDiscards(traj.Discarded)
			return true, nil
		}
		if traj.Status == "failed" {
			return false, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false, nil
		}
	}
}

func (n *Node) distilled(c api.Caller, id store.ID) (*store.Trajectory, []api.Experience, uint64, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return nil, nil, 0, err
	}
	defer v.Close()
	traj, err := v.Trajectory(ns, id)
	if err != nil || traj == nil {
		return nil, nil, 0, orDefault(err, api.NotFound("trajectory"))
	}
	list := []api.Experience{}
	for _, id := range traj.Experiences {
		e, err := v.ExperienceOf(ns.Number, traj.Owner, id)
		if err != nil {
			return nil, nil, 0, err
		}
		if e != nil {
			list = append(list, n.render(v, c, e))
		}
	}
	return traj, list, v.Index(), nil
}

func renderGate(rows []store.GateRow) []api.GateRow {
	out := []api.GateRow{}
	for _, r := range rows {
		row := api.GateRow{
			Attempt: r.Attempt, Expected: score(r.Expected), Route: r.Route, Reason: r.Reason,
			Thresholds: [2]float64{score(r.Buffer), score(r.Long)},
		}
		if r.HasReward {
			actual, rpe := score(r.Actual), score(r.Actual-r.Expected)
			row.Actual, row.RPE = &actual, &rpe
		}
		out = append(out, row)
	}
	return out
}

func renderDiscards(list []store.Discard) []api.Discarded {
	out := []api.Discarded{}
	for _, d := range list {
		out = append(out, api.Discarded{Reason: d.Reason, Detail: d.Detail})
	}
	return out
}

// Trajectory reads a group: its agent's own, or any for the privileged.
func (n *Node) Trajectory(_ context.Context, c api.Caller, id string) (api.Trajectory, error) {
	tid, err := parseID("path.id", id)
	if err != nil {
		return api.Trajectory{}, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Trajectory{}, err
	}
	defer v.Close()
	traj, err := v.Trajectory(ns, tid)
	if err != nil || traj == nil || traj.Agent != c.Agent && !privileged(c) {
		return api.Trajectory{}, orDefault(err, api.NotFound("trajectory"))
	}
	attempts, err := v.Attempts(ns, traj, 0)
	if err != nil {
		return api.Trajectory{}, err
	}
	return renderTrajectory(traj, attempts)
}

func renderTrajectory(t *store.Trajectory, attempts []store.Attempt) (api.Trajectory, error) {
	out := api.Trajectory{
		ID: t.ID.String(), Agent: t.Agent, GroupKey: t.GroupKey, Task: t.Task, TaskType: t.TaskType,
		Environment: orEmptyMap(t.Environment), Share: string(federation.CombineShare(t.Share)), Status: t.Status,
		Attempts: []api.AttemptView{}, Experiences: idStrings(t.Experiences), Gate: renderGate(t.Gate),
		Discarded: renderDiscards(t.Discarded), CreatedAt: api.Time(t.CreatedAt), UpdatedAt: api.Time(t.UpdatedAt),
	}
	for _, a := range attempts {
		view := api.AttemptView{Attempt: api.Attempt{Steps: []api.Step{}, ExternalID: a.ExternalID, RewardParts: a.Parts}}
		if a.HasReward {
			reward, success, value := a.Reward, a.Success, score(a.Score)
			scale := []float64{a.Scale[0], a.Scale[1]}
			view.Reward, view.Success, view.Score, view.RewardScale = &reward, &success, &value, &scale
		}
		for _, s := range a.Steps {
			step := api.Step{Tool: s.Tool, Observation: s.Observation, Thought: s.Thought, Reward: s.Reward}
			if len(s.Args) > 0 {
				if err := json.Unmarshal(s.Args, &step.Args); err != nil {
					return out, fmt.Errorf("decode arguments of a step: %w", err)
				}
			}
			view.Steps = append(view.Steps, step)
		}
		out.Attempts = append(out.Attempts, view)
	}
	return out, nil
}

func idStrings(ids []store.ID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}
