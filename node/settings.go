package node

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"cairn/federation"
	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/store"
)

// administers finds the namespace a caller may administer under this id; to others it does not exist.
func administers(c api.Caller, id string) (api.Caller, error) {
	if id != c.Namespace && !siteAdmin(c) {
		return c, api.NotFound("namespace")
	}
	if err := needAdmin(c); err != nil {
		return c, err
	}
	c.Namespace = id
	return c, nil
}

// Settings reads a namespace's settings.
func (n *Node) Settings(_ context.Context, c api.Caller, id string) (api.Settings, error) {
	c, err := administers(c, id)
	if err != nil {
		return api.Settings{}, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Settings{}, err
	}
	defer v.Close()
	return renderSettings(ns.Settings), nil
}

// UpdateSettings replaces those settings that the request names.
func (n *Node) UpdateSettings(ctx context.Context, c api.Caller, id string, req api.Settings, w api.Write) (api.Done[api.Settings], error) {
	c, err := administers(c, id)
	if err != nil {
		return api.Done[api.Settings]{}, err
	}
	if err := checkSettings(req); err != nil {
		return api.Done[api.Settings]{}, err
	}
	out, res, err := call[store.Settings](ctx, n, c, w, store.KindSettings, func(_ *store.View, ns *store.Namespace) (any, error) {
		return mergeSettings(ns.Settings, req), nil
	})
	return done(renderSettings(out), res, http.StatusOK), err
}

func checkSettings(s api.Settings) error {
	switch {
	case !federation.Share(s.Share).Valid():
		return api.Invalid("body.share", "must be auto, candidate or never", s.Share)
	case !slices.Contains([]string{"", "rpe", "off", "random"}, s.Gate):
		return api.Invalid("body.gate", "must be rpe, off or random", s.Gate)
	case !slices.Contains([]string{"", "default", "strict"}, s.TrustProfile):
		return api.Invalid("body.trust_profile", "must be default or strict", s.TrustProfile)
	case !slices.Contains([]string{"", "auto", "manual"}, s.Approval):
		return api.Invalid("body.approval", "must be auto or manual", s.Approval)
	case !federation.Probation(s.Probation).Valid():
		return api.Invalid("body.probation", "must be ledger, strict or off", s.Probation)
	case s.Epsilon != nil && !inUnit(*s.Epsilon):
		return api.Invalid("body.epsilon", "must be 0..1", *s.Epsilon)
	case s.QuotaPerDay < 0:
		return api.Invalid("body.quota_per_day", "must not be negative", s.QuotaPerDay)
	case s.QuotaPerOwner < 0:
		return api.Invalid("body.quota_per_principal", "must not be negative", s.QuotaPerOwner)
	case len(s.TaskTypes) > 256:
		return api.Invalid("body.task_types", "must have at most 256 entries", len(s.TaskTypes))
	}
	for name, t := range s.TaskTypes {
		if t.SuccessThreshold != nil && !inUnit(*t.SuccessThreshold) || t.ExpectedReward != nil && !inUnit(*t.ExpectedReward) {
			return api.Invalid("body.task_types."+clip(name), "values must be 0..1", nil)
		}
		if err := checkWeights("body.task_types."+clip(name)+".reward_weights", t.RewardWeights); err != nil {
			return err
		}
		if err := checkSubPool("body.task_types."+clip(name), t); err != nil {
			return err
		}
	}
	return nil
}

// checkSubPool looks at what settings say of how lessons of a task type are made and admitted.
func checkSubPool(at string, t api.TaskType) error {
	switch {
	case !slices.Contains([]string{"", acquire.ProfileDefault, acquire.ProfileStrict}, t.JudgeProfile):
		return api.Invalid(at+".judge_profile", "must be default or strict", clip(t.JudgeProfile))
	case t.JudgeThreshold != nil && (!inUnit(*t.JudgeThreshold) || micro(*t.JudgeThreshold) == 0):
		return api.Invalid(at+".judge_threshold", "must be above 0, up to 1", *t.JudgeThreshold)
	case len(t.Lenses) > len(lenses):
		return api.Invalid(at+".lenses", "must have at most 4 entries", len(t.Lenses))
	}
	for i, l := range t.Lenses {
		if !slices.Contains(lenses, l) {
			return api.Invalid(fmt.Sprintf("%s.lenses[%d]", at, i), "must be success_pattern, contrast, failure or tool_use", clip(l))
		}
	}
	return nil
}

var lenses = []string{acquire.LensSuccess, acquire.LensContrast, acquire.LensFailure, acquire.LensToolUse}

func inUnit(x float64) bool { return x >= 0 && x <= 1 }

func mergeSettings(s store.Settings, req api.Settings) store.Settings {
	if req.Share != "" {
		s.Share = federation.Share(req.Share)
	}
	if req.Gate != "" {
		s.Gate = req.Gate
	}
	if req.Approval != "" {
		s.Approval = req.Approval
	}
	if req.Probation != "" {
		s.Probation = federation.Probation(req.Probation)
	}
	if req.TrustProfile != "" {
		s.TrustProfile = req.TrustProfile
	}
	if req.Epsilon != nil {
		s.Epsilon = micro(*req.Epsilon)
		if s.Epsilon == 0 {
			s.Epsilon = -1
		}
	}
	if req.QuotaPerDay > 0 {
		s.PerDay = req.QuotaPerDay
	}
	if req.QuotaPerOwner > 0 {
		s.PerOwner = req.QuotaPerOwner
	}
	types := map[string]store.TaskType{}
	for k, t := range s.TaskTypes {
		types[k] = t
	}
	for k, t := range req.TaskTypes {
		types[k] = store.TaskType{
			SuccessThreshold: microOr(t.SuccessThreshold, -1), ExpectedReward: microOr(t.ExpectedReward, -1), Weights: weightsOf(t.RewardWeights),
			Judge: t.JudgeProfile, Admit: microOr(t.JudgeThreshold, 0), Lenses: t.Lenses,
		}
	}
	if len(types) > 0 {
		s.TaskTypes = types
	}
	return s
}

func renderSettings(s store.Settings) api.Settings {
	quota, eps := s.Quota(), epsilonOf(s)
	out := api.Settings{
		Share: string(federation.CombineShare(s.Share)), Gate: s.Gate, TrustProfile: s.TrustProfile, Epsilon: &eps,
		Approval: s.Approval, QuotaPerDay: quota.PerDay, QuotaPerOwner: quota.Items,
	}
	if out.Probation = string(s.Probation); out.Probation == "" {
		out.Probation = string(federation.ProbationLedger)
	}
	if out.Approval == "" {
		out.Approval = "auto"
	}
	if out.Gate == "" {
		out.Gate = "rpe"
	}
	if out.TrustProfile == "" {
		out.TrustProfile = "default"
	}
	for k, t := range s.TaskTypes {
		if out.TaskTypes == nil {
			out.TaskTypes = map[string]api.TaskType{}
		}
		out.TaskTypes[k] = api.TaskType{
			SuccessThreshold: scoreOr(t.SuccessThreshold), ExpectedReward: scoreOr(t.ExpectedReward), RewardWeights: scoresOf(t.Weights),
			JudgeProfile: t.Judge, Lenses: t.Lenses,
		}
		if t.Admit > 0 {
			of := out.TaskTypes[k]
			of.JudgeThreshold = scoreOr(t.Admit)
			out.TaskTypes[k] = of
		}
	}
	return out
}

func epsilonOf(s store.Settings) float64 {
	switch {
	case s.Epsilon < 0:
		return 0
	case s.Epsilon == 0:
		return .1
	}
	return score(s.Epsilon)
}

// score turns micro-units into a number.
func score(m federation.Micro) float64 { return float64(m) / 1e6 }

// micro turns a number into micro-units, rounded to nearest.
func micro(x float64) federation.Micro {
	if x < 0 {
		return -micro(-x)
	}
	return federation.Micro(x*1e6 + .5)
}

func microOr(x *float64, absent federation.Micro) federation.Micro {
	if x == nil {
		return absent
	}
	return micro(*x)
}

func scoreOr(m federation.Micro) *float64 {
	if m < 0 {
		return nil
	}
	x := score(m)
	return &x
}
