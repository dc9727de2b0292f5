package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/store"
)

// Reflect records a failure after a recall and gives a hypothesis for a retry. The same failure again gets the same
// answer; another one under the receipt is that of the retry, and gets the next hypothesis.
func (n *Node) Reflect(ctx context.Context, c api.Caller, req api.ReflectRequest, w api.Write) (api.Done[api.RetryAdvice], error) {
	if err := checkTrajectory(req.Trajectory, "body.trajectory."); err != nil {
		return api.Done[api.RetryAdvice]{}, err
	}
	return n.reflect(ctx, c, req.Receipt, req.Trajectory, w, false)
}

var (
	// errSameFailure says that a failure was reflected on before: the answer stands.
	errSameFailure = errors.New("the failure was reflected on before")
	// errNothingAlike says that there is no past success to compare with.
	errNothingAlike = errors.New("no similar success is known")
)

// reflect is Reflect; with alike it ends with errNothingAlike, and records nothing, where no past success is similar.
func (n *Node) reflect(ctx context.Context, c api.Caller, token string, t api.RecordTrajectory, w api.Write, alike bool) (api.Done[api.RetryAdvice], error) {
	var warnings []api.Field
	var standing *store.Reflection
	got, res, err := call[store.Reflected](ctx, n, c, w, store.KindReflect, func(v *store.View, ns *store.Namespace) (any, error) {
		r := &reflecting{n: n, view: v, ns: ns, caller: c}
		body, err := r.failure(ctx, token, t, alike)
		warnings, standing = r.warnings, r.standing
		return body, err
	})
	switch {
	case errors.Is(err, errSameFailure):
		got = store.Reflected{ID: standing.ID, Attempt: len(standing.Tries), Status: standing.Status, Trajectory: standing.Trajectory}
	case err != nil:
		return api.Done[api.RetryAdvice]{}, err
	}
	return n.advise(c, got, res, warnings)
}

// reflectOnOutcome begins a reflection on the failure that an outcome reports, where a past success is similar; ok is false
// where there is none, or none may begin.
func (n *Node) reflectOnOutcome(ctx context.Context, c api.Caller, token string, req api.OutcomeRequest, w api.Write) (advice api.Done[api.RetryAdvice], ok bool, err error) {
	advice, err = n.reflect(ctx, c, token, *req.Trajectory, partOf(w, "reflection"), true)
	var refused *api.Error
	if errors.Is(err, errNothingAlike) || errors.As(err, &refused) && (refused.Code == api.CodeConflict || refused.Code == api.CodeInvalid) {
		return advice, false, nil // the attempts are recorded as any others
	}
	return advice, err == nil, err
}

// mayReflect reports whether an outcome is a failure on which a reflection may begin. A repeated report does what the first
// did: it finds the reflection that the first began.
func (n *Node) mayReflect(c api.Caller, token string, req api.OutcomeRequest, again bool) (bool, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return false, err
	}
	defer v.Close()
	receipt, err := n.openReceipt(v, ns, c, token)
	if err != nil {
		return false, err
	}
	if _, success := rewardOf(req, thresholdOf(ns, receipt.TaskType)); success || !again {
		return !success, nil
	}
	agent, err := v.Agent(ns, c.Agent)
	if err != nil || agent == nil {
		return false, err
	}
	r, err := v.ReflectionOf(ns, agent.Number, receipt.Recall)
	return r != nil, err
}

// RetryOutcome reports how a retry ended. A success closes the reflection and is distilled; a failure gets the next
// hypothesis, as long as one is left.
func (n *Node) RetryOutcome(ctx context.Context, c api.Caller, id string, req api.RetryRequest, w api.Write) (api.Done[api.RetryAdvice], error) {
	var zero api.Done[api.RetryAdvice]
	rid, err := parseID("path.id", id)
	if err != nil {
		return zero, err
	}
	if req.Trajectory != nil {
		if err := checkTrajectory(*req.Trajectory, "body.trajectory."); err != nil {
			return zero, err
		}
	}
	var warnings []api.Field
	got, res, err := call[store.Reflected](ctx, n, c, w, store.KindRetried, func(v *store.View, ns *store.Namespace) (any, error) {
		r := &reflecting{n: n, view: v, ns: ns, caller: c}
		body, err := r.outcome(ctx, rid, req)
		warnings = r.warnings
		return body, err
	})
	if err != nil {
		return zero, err
	}
	return n.advise(c, got, res, warnings)
}

// advise renders where a reflection is. The text is read from the state, so that nothing outlives its erasure.
func (n *Node) advise(c api.Caller, got store.Reflected, res store.Result, warnings []api.Field) (api.Done[api.RetryAdvice], error) {
	out := api.RetryAdvice{
		ID: got.ID.String(), Status: got.Status, Attempt: got.Attempt, RetriesLeft: max(0, store.MaxRetries-got.Attempt), BasedOn: []string{},
		Trajectory: got.Trajectory.String(), Warnings: warnings, Index: res.Index,
	}
	if got.Status == store.ReflectionSolved {
		out.RetriesLeft = 0
	}
	if got.Job != (store.ID{}) && got.Status == store.ReflectionSolved {
		out.Job = got.Job.String()
	}
	if got.Recorded > 0 && !res.Replayed {
		n.metrics.attempts.Add(float64(got.Recorded))
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Done[api.RetryAdvice]{}, err
	}
	defer v.Close()
	if out.Index == 0 { // nothing was written
		out.Index, res.Index = v.Index(), v.Index()
	}
	if got.Status == store.ReflectionOpen {
		err = n.tellHypothesis(v, ns, c, got, &out)
	}
	return done(out, res, http.StatusOK), err
}

// tellHypothesis adds the text of a retry unless something it was made from was called back.
func (n *Node) tellHypothesis(v *store.View, ns *store.Namespace, c api.Caller, got store.Reflected, out *api.RetryAdvice) error {
	agent, err := v.Agent(ns, c.Agent)
	if err != nil || agent == nil {
		return err
	}
	r, err := v.Reflection(ns, agent.Number, got.ID)
	if err != nil || r == nil || got.Attempt > len(r.Tries) {
		return err
	}
	retry := r.Tries[got.Attempt-1]
	stands, err := sourcesStand(v, ns, retry.BasedOn)
	if err != nil || !stands {
		return err
	}
	out.Hypothesis, out.BasedOn, out.Generator = retry.Hypothesis, idStrings(retry.BasedOn), retry.Generator
	return nil
}

// sourcesStand reports whether everything a hypothesis was made from is still there and not closed.
func sourcesStand(v *store.View, ns *store.Namespace, ids []store.ID) (bool, error) {
	for _, id := range ids {
		e, err := v.Experience(ns, id)
		if err != nil {
			return false, err
		}
		if e != nil {
			if closedStatus(e.Status) {
				return false, nil
			}
			continue
		}
		if t, err := v.Trajectory(ns, id); err != nil || t == nil {
			return false, err
		}
	}
	return true, nil
}

func closedStatus(s federation.Status) bool {
	return s == federation.StatusHeld || s == federation.StatusRevoked || s == federation.StatusQuarantined
}

// reflecting builds the commands of reflections from one view.
type reflecting struct {
	n      *Node
	view   *store.View
	ns     *store.Namespace
	caller api.Caller
	agent  *store.Agent

	standing *store.Reflection
	warnings []api.Field
}

func (r *reflecting) open() (err error) {
	r.agent, err = r.view.Agent(r.ns, r.caller.Agent)
	if err == nil && r.agent == nil {
		err = api.NotFound("agent")
	}
	return err
}

// failure builds the command for a failure under a receipt.
func (r *reflecting) failure(ctx context.Context, token string, t api.RecordTrajectory, alike bool) (store.Reflect, error) {
	receipt, err := r.n.openReceipt(r.view, r.ns, r.caller, token)
	if err != nil {
		return store.Reflect{}, err
	}
	if expired(receipt) {
		return store.Reflect{}, api.Conflict("the receipt expired: a retry is taken for 7 days")
	}
	if err := r.open(); err != nil {
		return store.Reflect{}, err
	}
	if r.standing, err = r.view.ReflectionOf(r.ns, r.agent.Number, receipt.Recall); err != nil {
		return store.Reflect{}, err
	}
	record, failed, err := r.record(ctx, under(token, t), false)
	if err != nil {
		return store.Reflect{}, err
	}
	body := store.Reflect{ID: ulid.Make(), Receipt: *receipt, Record: record, Seen: acquire.Identity(failed)}
	var tried []store.Retry
	if s := r.standing; s != nil {
		if s.Status == store.ReflectionOpen && s.Seen == body.Seen {
			return body, errSameFailure
		}
		body.ID, body.Tries, tried = s.ID, len(s.Tries), s.Tries
		if s.Status != store.ReflectionOpen || len(tried) >= store.MaxRetries {
			return body, nil // the state says why it refuses
		}
	}
	next, found, err := r.hypothesis(ctx, record, failed, tried)
	if err == nil && alike && !found {
		err = errNothingAlike
	}
	body.Next = next
	return body, err
}

// outcome builds the command for the end of a retry.
func (r *reflecting) outcome(ctx context.Context, id store.ID, req api.RetryRequest) (store.Retried, error) {
	if err := r.open(); err != nil {
		return store.Retried{}, err
	}
	s, err := r.view.Reflection(r.ns, r.agent.Number, id)
	if err != nil || s == nil {
		return store.Retried{}, orDefault(err, api.NotFound("reflection"))
	}
	r.standing = s
	body := store.Retried{ID: s.ID, Agent: r.agent.ID, Tries: len(s.Tries), Success: req.Success}
	last := store.RecordTrajectory{}
	var failed acquire.Attempt
	if req.Trajectory != nil {
		if last, failed, err = r.record(ctx, *req.Trajectory, req.Success); err != nil {
			return body, err
		}
		for i := range last.Attempts {
			if last.Attempts[i].Receipt == (store.ID{}) {
				last.Attempts[i].Receipt = s.Recall
			}
		}
		last.Complete = last.Complete || req.Success
		body.Record, body.Seen = &last, acquire.Identity(failed)
	}
	if req.Success || s.Status != store.ReflectionOpen || len(s.Tries) >= store.MaxRetries {
		return body, nil
	}
	if req.Trajectory == nil {
		if last, failed, err = r.lastFailure(s); err != nil {
			return body, err
		}
	}
	body.Next, _, err = r.hypothesis(ctx, last, failed, s.Tries)
	return body, err
}

// record makes attempts a recording in the group of the reflection, whose last attempt ended as it is reported.
func (r *reflecting) record(ctx context.Context, t api.RecordTrajectory, success bool) (store.RecordTrajectory, acquire.Attempt, error) {
	var last acquire.Attempt
	if err := r.sameTask(&t); err != nil {
		return store.RecordTrajectory{}, last, err
	}
	at := len(t.Attempts) - 1
	if t.Attempts[at].Reward == nil && t.Attempts[at].Success == nil {
		t.Attempts = append(t.Attempts[:at:at], t.Attempts[at])
		t.Attempts[at].Success = &success
	}
	body, warnings, err := r.n.buildTrajectory(ctx, r.view, r.ns, r.caller, t)
	if err != nil {
		return body, last, err
	}
	r.warnings = warnings
	if body.Attempts[at].Success != success {
		return body, last, api.Invalid(fmt.Sprintf("body.trajectory.attempts[%d].success", at), "the last attempt must have ended as it is reported", nil)
	}
	last, err = readAttempt(r.view, r.ns, r.agent.Number, body.Attempts[at])
	return body, last, err
}

// sameTask puts a retry into the group of the failure; a retry of another task is none.
func (r *reflecting) sameTask(t *api.RecordTrajectory) error {
	if r.standing == nil {
		return nil
	}
	group, err := r.view.TrajectoryOf(r.ns.Number, r.agent.Number, r.standing.Trajectory)
	if err != nil || group == nil {
		return err
	}
	if federation.NormalizeText(t.Task) != federation.NormalizeText(group.Task) || t.TaskType != "" && t.TaskType != group.TaskType {
		return api.Invalid("body.trajectory.task", "a retry is of the task that failed", nil)
	}
	t.Task, t.TaskType, t.GroupKey = group.Task, group.TaskType, group.GroupKey
	return nil
}

// lastFailure reads the failure that a retry without attempts leaves standing.
func (r *reflecting) lastFailure(s *store.Reflection) (store.RecordTrajectory, acquire.Attempt, error) {
	var out store.RecordTrajectory
	group, err := r.view.TrajectoryOf(r.ns.Number, r.agent.Number, s.Trajectory)
	if err != nil || group == nil || len(s.Failures) == 0 {
		return out, acquire.Attempt{}, err
	}
	out = store.RecordTrajectory{
		Agent: r.agent.ID, Group: group.Group, Task: group.Task, TaskType: group.TaskType, Environment: group.Environment, TaskVector: group.TaskVector,
	}
	attempts, err := r.view.Attempts(r.ns, group, s.Failures[len(s.Failures)-1])
	if err != nil || len(attempts) == 0 {
		return out, acquire.Attempt{}, err
	}
	failed, err := readAttempt(r.view, r.ns, r.agent.Number, attempts[0])
	return out, failed, err
}
