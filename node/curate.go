package node

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

const (
	familyShown = 1000 // descendants and receipts that a curation lists
	decisionTag = "cairn.decision.v1\n"
)

var _ api.Curation = (*Node)(nil)

// mayCurate: curators and admins; an author may revoke what it recorded.
func mayCurate(c api.Caller, e *store.Experience, action string) error {
	if c.Has(api.RoleCurator, api.RoleAdmin) || action == store.ActionRevoke && e.Agent == c.Agent {
		return nil
	}
	return api.Denied("needs the role curator or admin")
}

// Curate holds, releases or revokes an experience with what was derived from it, or says what that would change.
func (n *Node) Curate(ctx context.Context, c api.Caller, id, action string, req api.CurateRequest, w api.Write) (api.Done[api.Curated], error) {
	var zero api.Done[api.Curated]
	if err := checkText("body.reason", req.Reason, maxNote, false); err != nil {
		return zero, err
	}
	if req.DryRun {
		out, err := withExperience(n, c, id, func(v *store.View, ns *store.Namespace, e *store.Experience) (api.Curated, error) {
			if !privileged(c) {
				if err := mayCurate(c, e, action); err != nil {
					return api.Curated{}, err
				}
			}
			if err := possible(e, action); err != nil {
				return api.Curated{}, err
			}
			return n.family(v, ns, e, action)
		})
		out.DryRun = true
		return api.Done[api.Curated]{Value: out, Index: out.Index, Status: http.StatusOK}, err
	}
	var plan api.Curated
	made, res, err := call[store.Curated](ctx, n, c, w, store.KindCurate, func(v *store.View, ns *store.Namespace) (any, error) {
		e, err := n.visible(v, ns, c, id)
		if err != nil {
			return nil, err
		}
		if err := mayCurate(c, e, action); err != nil {
			return nil, err
		}
		if plan, err = n.family(v, ns, e, action); err != nil {
			return nil, err
		}
		return store.Curate{
			Target: store.Target{ID: e.ID, Owner: e.Owner, Version: e.Version}, Action: action, Reason: req.Reason, By: c.Agent,
		}, nil
	})
	if err != nil {
		return zero, err
	}
	plan.Experience, plan.Index = made.Target.ID.String(), res.Index
	if plan.Closes == nil { // a replay: the first answer's plan was not kept, the ids were
		plan.Closes, plan.Notifies = idStrings(made.Changed[min(1, len(made.Changed)):]), []string{}
	}
	plan.Status = n.statusOf(c, made.Target)
	return done(plan, res, http.StatusOK), nil
}

// possible says what the state machine would answer, so that a dry run does not promise what the call then refuses.
func possible(e *store.Experience, action string) error {
	switch {
	case action == store.ActionHold && !e.Live(), action == store.ActionRevoke && e.Status == federation.StatusRevoked,
		action == store.ActionRelease && e.Status != federation.StatusHeld && e.Status != federation.StatusQuarantined:
		return api.Conflict("%s is not possible: the experience is %s", action, e.Status)
	}
	return nil
}

func (n *Node) statusOf(c api.Caller, t store.Target) string {
	v, ns, err := n.openFor(c)
	if err != nil {
		return ""
	}
	defer v.Close()
	e, err := v.ExperienceOf(ns.Number, t.Owner, t.ID)
	if err != nil || e == nil {
		return "released"
	}
	return string(e.Status)
}

// family lists what follows an action on an experience and who was given any of it.
func (n *Node) family(v *store.View, ns *store.Namespace, root *store.Experience, action string) (api.Curated, error) {
	out := api.Curated{Experience: root.ID.String(), Status: string(root.Status), Closes: []string{}, Notifies: []string{}, Index: v.Index()}
	ids := []store.ID{root.ID}
	for i := 0; i < len(ids) && len(ids) < familyShown; i++ {
		children, err := v.Children(ns, ids[i])
		if err != nil {
			return out, err
		}
		for _, child := range children {
			e, err := v.Experience(ns, child)
			if err != nil {
				return out, err
			}
			if e == nil || slices.Contains(ids, child) {
				continue
			}
			ids = append(ids, child)
			if follows(e, root.ID, action) {
				out.Closes = append(out.Closes, child.String())
			}
		}
	}
	agents := map[uint32]bool{}
	for _, id := range ids {
		seen := 0
		err := v.GivenOf(ns, id, nil, func(_ []byte, _ store.ID, agent uint32) bool {
			agents[agent] = true
			seen++
			return seen < 50*familyShown
		})
		if err != nil {
			return out, err
		}
	}
	err := v.Agents(ns, nil, func(_ []byte, a *store.Agent) bool {
		if agents[a.Number] {
			out.Notifies = append(out.Notifies, a.ID)
		}
		return true
	})
	return out, err
}

func follows(e *store.Experience, root store.ID, action string) bool {
	switch action {
	case store.ActionHold:
		return e.Live()
	case store.ActionRelease:
		return e.Status == federation.StatusHeld && e.HeldBy == root
	}
	return e.Status != federation.StatusRevoked
}

// followUp works off what a curation left: descendants, and marks for those who were given what is revoked.
func (n *Node) followUp(ctx context.Context, job store.Job) error {
	body := store.FollowUp{Job: ref(job), Target: store.Target{ID: job.Subject, Owner: job.Owner}, Action: job.Extra}
	for {
		res, err := n.conclude(ctx, job, store.KindFollowUp, body)
		if err != nil {
			return err
		}
		var out store.FollowedUp
		if err := store.DecodeBody(res.Body, &out); err != nil || !out.More {
			return err
		}
		body.After = out.After
	}
}

// DecidePromotion answers a decision that waits for a curator.
func (n *Node) DecidePromotion(ctx context.Context, c api.Caller, id string, approve bool, req api.DecideRequest, w api.Write) (api.Done[api.Promotion], error) {
	var zero api.Done[api.Promotion]
	if !c.Has(api.RoleCurator, api.RoleAdmin) {
		return zero, api.Denied("needs the role curator or admin")
	}
	did, err := parseID("path.id", id)
	if err == nil {
		err = checkText("body.reason", req.Reason, maxNote, false)
	}
	if err != nil {
		return zero, err
	}
	d, res, err := call[store.Decision](ctx, n, c, w, store.KindDecidePromotion, func(*store.View, *store.Namespace) (any, error) {
		return store.DecidePromotion{ID: did, Approve: approve, Reason: req.Reason, By: c.Agent}, nil
	})
	if err != nil {
		return zero, err
	}
	return done(renderDecision(c, &d, true), res, http.StatusOK), nil
}

// SignedPromotion exports a decision under this node's key.
func (n *Node) SignedPromotion(ctx context.Context, c api.Caller, id string) (api.SignedPromotion, error) {
	p, err := n.Promotion(ctx, c, id)
	if err != nil {
		return api.SignedPromotion{}, err
	}
	key, err := n.signingKey()
	if err != nil {
		return api.SignedPromotion{}, err
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return api.SignedPromotion{}, fmt.Errorf("sign promotion: %w", err)
	}
	encode := base64.StdEncoding.EncodeToString
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return api.SignedPromotion{}, errors.New("sign promotion: the node's key is not an ed25519 key")
	}
	return api.SignedPromotion{
		Payload: string(payload), Algorithm: "ed25519", Node: n.NodeID(), PublicKey: encode(public),
		Signature: encode(ed25519.Sign(key, append([]byte(decisionTag), payload...))),
	}, nil
}

// signingKey is this node's own, made at first use and kept in the data folder.
func (n *Node) signingKey() (ed25519.PrivateKey, error) {
	n.keyMu.Lock()
	defer n.keyMu.Unlock()
	if n.nodeKey != nil {
		return n.nodeKey, nil
	}
	path := filepath.Join(n.cfg.Dir, "node.key")
	seed, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		seed = make([]byte, ed25519.SeedSize)
		if _, err := rand.Read(seed); err != nil {
			return nil, err
		}
		err = os.WriteFile(path, seed, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("node key: %w", err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, errors.New("node key: node.key is damaged; remove it and a new one is made")
	}
	n.nodeKey = ed25519.NewKeyFromSeed(seed)
	return n.nodeKey, nil
}

// PreviewSettings says what a change of settings would promote or demote on the present state.
func (n *Node) PreviewSettings(_ context.Context, c api.Caller, id string, req api.Settings) (api.SettingsPreview, error) {
	out := api.SettingsPreview{Promotes: []api.PreviewItem{}, Demotes: []api.PreviewItem{}}
	if !(privileged(c) && id == c.Namespace) { // reading: auditors and curators may, in their own namespace
		admin, err := administers(c, id)
		if err != nil {
			return out, err
		}
		c = admin
	}
	if err := checkSettings(req); err != nil {
		return out, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return out, err
	}
	defer v.Close()
	now, next := ns.Settings.Profile(), mergeSettings(ns.Settings, req).Profile()
	var failed error
	err = v.Pool(ns, store.SharedOwner, nil, func(_ []byte, e *store.Experience) bool {
		switch e.Status {
		case federation.StatusCandidate, federation.StatusPromoted, federation.StatusDormant:
		default:
			return true
		}
		out.Looked++
		failed = preview(v, ns, e, now, next, &out)
		return failed == nil
	})
	return out, errors.Join(err, failed)
}

func preview(v *store.View, ns *store.Namespace, e *store.Experience, now, next federation.Profile, out *api.SettingsPreview) error {
	jury, err := v.Jury(ns, e.ID)
	if err != nil || jury == nil {
		return err
	}
	list, _, err := v.Jurors(ns, e, jury)
	if err != nil {
		return err
	}
	promoted := e.PromotedAt != 0
	before, after := federation.Trust(list, jury.Size, now), federation.Trust(list, jury.Size, next)
	was, _ := federation.Decide(before, promoted, now)
	is, _ := federation.Decide(after, promoted, next)
	if was == is {
		return nil
	}
	item := api.PreviewItem{Experience: e.ID.String(), Trust: score(before.Trust), WouldBe: score(after.Trust), Verdict: string(is)}
	switch is {
	case federation.VerdictPromote:
		out.Promotes = append(out.Promotes, item)
	case federation.VerdictDemote:
		out.Demotes = append(out.Demotes, item)
	}
	return nil
}

// AuditSamples draws items of the meta-pool that no auditor judged, and shows what the verdicts so far say.
func (n *Node) AuditSamples(_ context.Context, c api.Caller, size int) (api.Samples, error) {
	out := api.Samples{Items: []api.Sample{}}
	if !privileged(c) {
		return out, api.Denied("needs the role admin, curator or auditor")
	}
	if size < 0 || size > maxLimit {
		return out, api.Invalid("query.n", "must be 0..500", size)
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return out, err
	}
	defer v.Close()
	judged := map[store.ID]*store.Sample{}
	bad := 0
	err = v.Samples(ns, func(s *store.Sample) bool {
		judged[s.Experience] = s
		out.Judged++
		if s.Verdict == "bad" {
			bad++
		}
		return true
	})
	if err != nil {
		return out, err
	}
	var fresh []*store.Experience
	err = v.Pool(ns, store.SharedOwner, nil, func(_ []byte, e *store.Experience) bool {
		if s := judged[e.ID]; s != nil {
			out.Items = append(out.Items, n.sample(v, c, e, s))
		} else if e.Status == federation.StatusPromoted {
			fresh = append(fresh, e)
		}
		return true
	})
	mrand.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
	for _, e := range fresh[:min(size, len(fresh))] {
		out.Items = append(out.Items, n.sample(v, c, e, nil))
	}
	out.Bad, out.Low, out.High = wilson(bad, out.Judged)
	return out, err
}

func (n *Node) sample(v *store.View, c api.Caller, e *store.Experience, s *store.Sample) api.Sample {
	out := api.Sample{ID: e.ID.String(), Experience: n.render(v, c, e)}
	if s != nil {
		out.Verdict, out.By, out.At = s.Verdict, s.By, api.Time(s.At)
	}
	return out
}

// wilson is the 95 % score interval of a share (Wilson 1927); all of [0,1] without observations.
func wilson(hits, n int) (share, low, high float64) {
	if n == 0 {
		return 0, 0, 1
	}
	const z = 1.959964
	p, m := float64(hits)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return p, max(0, mid-half), min(1, mid+half)
}

// JudgeSample keeps an auditor's verdict on an item of the meta-pool.
func (n *Node) JudgeSample(ctx context.Context, c api.Caller, id string, req api.SampleVerdict, w api.Write) (api.Done[api.Sample], error) {
	var zero api.Done[api.Sample]
	if !c.Has(api.RoleAdmin, api.RoleAuditor) {
		return zero, api.Denied("needs the role auditor or admin")
	}
	eid, err := parseID("path.id", id)
	if err == nil {
		err = checkChoice("body.verdict", req.Verdict, "good", "bad", "unsure")
	}
	if err != nil {
		return zero, err
	}
	s, res, err := call[store.Sample](ctx, n, c, w, store.KindSample, func(*store.View, *store.Namespace) (any, error) {
		return store.Sample{Experience: eid, Verdict: req.Verdict, By: c.Agent}, nil
	})
	if err != nil {
		return zero, err
	}
	out, err := withExperience(n, c, id, func(v *store.View, _ *store.Namespace, e *store.Experience) (api.Sample, error) {
		return n.sample(v, c, e, &s), nil
	})
	return done(out, res, http.StatusOK), err
}
