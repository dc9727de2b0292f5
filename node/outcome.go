package node

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/refine"
	"cairn/node/store"
)

// Outcome reports what happened after a recall, once per receipt.
func (n *Node) Outcome(ctx context.Context, c api.Caller, receipt string, req api.OutcomeRequest, w api.Write) (api.Done[api.OutcomeAnswer], error) {
	var zero api.Done[api.OutcomeAnswer]
	if err := checkOutcome(&req); err != nil {
		return zero, err
	}
	reported, res, err := call[store.Reported](ctx, n, c, w, store.KindOutcome, func(v *store.View, ns *store.Namespace) (any, error) {
		return n.buildOutcome(v, ns, c, receipt, req)
	})
	if err != nil {
		return zero, err
	}
	n.metrics.outcomes.Inc()
	out := api.OutcomeAnswer{Citations: []api.Citation{}, Trust: []api.TrustChange{}, Index: res.Index}
	for _, x := range reported.Citations {
		out.Citations = append(out.Citations, api.Citation{Experience: x.Experience.String(), Citation: x.Citation.String()})
	}
	for _, x := range reported.Trust {
		out.Trust = append(out.Trust, api.TrustChange{Experience: x.Experience.String(), Before: score(x.Before), After: score(x.After)})
	}
	if req.Trajectory == nil {
		return done(out, res, http.StatusOK), nil
	}
	if err := n.attach(ctx, c, receipt, req, w, res.Replayed, &out); err != nil {
		return zero, fmt.Errorf("record the attached trajectory: %w", err)
	}
	res.Index = out.Index
	return done(out, res, http.StatusOK), nil
}

// attach records the trajectory of an outcome. After a failure that a past success can be held against, the answer has a
// hypothesis for a retry.
func (n *Node) attach(ctx context.Context, c api.Caller, receipt string, req api.OutcomeRequest, w api.Write, again bool, out *api.OutcomeAnswer) error {
	may, err := n.mayReflect(c, receipt, req, again)
	if err != nil {
		return err
	}
	advice, ok := api.Done[api.RetryAdvice]{}, false
	if may {
		if advice, ok, err = n.reflectOnOutcome(ctx, c, receipt, req, w); err != nil {
			return err
		}
	}
	if ok {
		out.Reflection = &api.Reflection{ID: advice.Value.ID, Hypothesis: advice.Value.Hypothesis}
		out.Trajectory, out.Index = advice.Value.Trajectory, max(out.Index, advice.Index)
		return nil
	}
	rec, err := n.attached(ctx, c, receipt, *req.Trajectory, w)
	if err != nil {
		return err
	}
	out.Trajectory, out.Index = rec.Value.ID, max(out.Index, rec.Index)
	return nil
}

// attached records the trajectory of an outcome. Its attempts carry the receipt, so that they are not counted as outcomes
// again; the key makes a repeat of the report find the same recording.
func (n *Node) attached(ctx context.Context, c api.Caller, receipt string, t api.RecordTrajectory, w api.Write) (api.Done[api.RecordedTrajectory], error) {
	return n.RecordTrajectory(ctx, c, under(receipt, t), 0, partOf(w, "trajectory"))
}

// under is a trajectory whose attempts carry a receipt.
func under(receipt string, t api.RecordTrajectory) api.RecordTrajectory {
	t.Attempts = slices.Clone(t.Attempts)
	for i := range t.Attempts {
		if t.Attempts[i].Receipt == "" {
			t.Attempts[i].Receipt = receipt
		}
	}
	return t
}

// partOf is the idempotency of a second command of one request.
func partOf(w api.Write, name string) api.Write {
	if w.IdempotencyKey != "" {
		w.IdempotencyKey += "\x00" + name
	}
	return w
}

func checkOutcome(req *api.OutcomeRequest) error {
	if req.Evidence == "" {
		req.Evidence = string(federation.EvidenceSelf)
	}
	err := firstError(
		checkChoice("body.evidence", req.Evidence, "verified", "judge", "self"),
		checkText("body.note", req.Note, maxNote, false),
	)
	switch {
	case err != nil:
		return err
	case req.Success == nil && req.Reward == nil:
		return api.Invalid("body.success", "success or reward is needed", nil)
	case req.Reward != nil && !inUnit(*req.Reward):
		return api.Invalid("body.reward", "must be 0..1", *req.Reward)
	case req.Used != nil && len(*req.Used) > 64:
		return api.Invalid("body.used", "must have at most 64 entries", len(*req.Used))
	}
	if req.Trajectory != nil {
		return checkTrajectory(*req.Trajectory, "body.trajectory.")
	}
	return nil
}

func (n *Node) buildOutcome(v *store.View, ns *store.Namespace, c api.Caller, token string, req api.OutcomeRequest) (store.Outcome, error) {
	receipt, err := n.openReceipt(v, ns, c, token)
	if err != nil {
		return store.Outcome{}, err
	}
	if expired(receipt) {
		return store.Outcome{}, api.Conflict("the receipt expired: an outcome is taken for 7 days")
	}
	body := store.Outcome{Receipt: *receipt, Evidence: federation.EvidenceKind(req.Evidence), Note: req.Note}
	if body.Actions, err = actionsOf(req.Trajectory); err != nil {
		return body, err
	}
	body.Reward, body.Success = rewardOf(req, thresholdOf(ns, receipt.TaskType))
	given := make([]refine.Given, 0, len(receipt.Items))
	for i, item := range receipt.Items {
		given = append(given, refine.Given{
			ID: item.ID.String(), Version: item.Version, Rank: i, Exploratory: item.Flags&store.FlagExploratory != 0,
		})
	}
	credits, unknown := refine.Credits(given, req.Used)
	if len(unknown) > 0 {
		return body, api.Invalid("body.used", "names an experience that was not in the recall", clip(unknown[0]))
	}
	for _, cr := range credits {
		id, err := ulid.ParseStrict(cr.ID)
		if err != nil {
			return body, fmt.Errorf("credit %s: %w", cr.ID, err)
		}
		body.Credits = append(body.Credits, store.Credit{
			ID: id, Version: cr.Version, Credit: cr.Credit, Unused: cr.Used == federation.UsedNo, Citation: ulid.Make(),
			Named: cr.Used == federation.UsedYes,
		})
	}
	return body, nil
}

func expired(r *store.Receipt) bool { return time.Now().UnixMilli()-r.At > store.ReceiptTTL }

// rewardOf completes the two from each other; where they contradict, the reward stands.
func rewardOf(req api.OutcomeRequest, threshold float64) (federation.Micro, bool) {
	if req.Reward != nil {
		value, success := acquire.Normalise(*req.Reward, [2]float64{0, 1}, threshold)
		return micro(value), success
	}
	if *req.Success {
		return federation.One, true
	}
	return 0, false
}
