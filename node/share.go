package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/node/screen"
	"cairn/node/store"
)

// nominate screens and redacts an experience, draws its jury and proposes the frozen copy.
func (n *Node) nominate(ctx context.Context, job store.Job) error {
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	body, err := n.buildNomination(ctx, v, ns, job)
	v.Close()
	if err != nil {
		return err
	}
	if body == nil {
		return n.finished(ctx, job)
	}
	_, err = n.conclude(ctx, job, store.KindNominate, *body)
	return err
}

func (n *Node) buildNomination(ctx context.Context, v *store.View, ns *store.Namespace, job store.Job) (*store.Nominate, error) {
	original, err := v.ExperienceOf(ns.Number, job.Owner, job.Subject)
	if err != nil || original == nil {
		return nil, err
	}
	unit, eligible, err := v.Eligible(ns, original)
	if err != nil {
		return nil, err
	}
	jurors, err := draw(eligible, federation.JurySize(len(eligible)))
	if err != nil {
		return nil, err
	}
	seen, err := n.cfg.Screener.Screen(ctx, original.Scenario, original.Content, original.Keywords)
	if err != nil {
		return nil, fmt.Errorf("screen: %w", err)
	}
	body := &store.Nominate{
		Job: ref(job), Original: store.Target{ID: original.ID, Owner: original.Owner, Version: original.Version},
		Copy: store.Experience{
			ID: ulid.Make(), Scenario: seen.Scenario, Content: seen.Content, Keywords: seen.Keywords,
			TaskType: original.TaskType, Preconditions: original.Preconditions,
		},
		Screening: screeningOf(job, seen.Action), Unit: unit, Jurors: jurors, Findings: findingRules(seen.Findings),
	}
	body.Copy.Hash = textHash(&body.Copy)
	if body.Vectors, err = n.copyVectors(ctx, v, ns, original, body); err != nil {
		return nil, err
	}
	return body, nil
}

// copyVectors takes the original's vectors where the text is the same, else embeds the redacted text.
func (n *Node) copyVectors(ctx context.Context, v *store.View, ns *store.Namespace, original *store.Experience, body *store.Nominate) (store.Vectors, error) {
	if body.Copy.Scenario == original.Scenario && body.Copy.Content == original.Content {
		vectors, err := v.VectorsOf(ns.Number, original.Owner, original.ID)
		if err != nil || len(vectors.Vectors) > 0 {
			return vectors, err
		}
	}
	return packVectors(n.vectors(ctx, &body.Copy)), nil
}

// screeningOf takes a curator's word over the screener's; what is to be redacted still is.
func screeningOf(job store.Job, a screen.Action) federation.Screening {
	if job.Extra == store.ExtraCleared && a == screen.Quarantine {
		return federation.ScreeningPass
	}
	return screening(a)
}

func screening(a screen.Action) federation.Screening {
	switch a {
	case screen.Pass:
		return federation.ScreeningPass
	case screen.Redact:
		return federation.ScreeningRedact
	}
	return federation.ScreeningQuarantine
}

func findingRules(list []screen.Finding) []string {
	var out []string
	for _, f := range list {
		if !slices.Contains(out, f.Rule) && len(out) < 16 {
			out = append(out, f.Rule)
		}
	}
	return out
}

// draw picks size of the eligible at random, in order of name. The draw decides who may judge, so it is not predictable.
func draw(eligible []string, size int) ([]string, error) {
	pool := slices.Clone(eligible)
	for i := range min(size, len(pool)) {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(pool)-i)))
		if err != nil {
			return nil, fmt.Errorf("draw jury: %w", err)
		}
		j := i + int(k.Int64())
		pool[i], pool[j] = pool[j], pool[i]
	}
	pool = pool[:min(size, len(pool))]
	slices.Sort(pool)
	return pool, nil
}

// promote looks for an item of the meta-pool to fuse with and proposes the promotion; apply decides.
func (n *Node) promote(ctx context.Context, job store.Job) error {
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	e, err := v.ExperienceOf(ns.Number, store.SharedOwner, job.Subject)
	if err != nil || e == nil {
		v.Close()
		if err == nil {
			err = n.finished(ctx, job)
		}
		return err
	}
	stored, err := v.VectorsOf(ns.Number, store.SharedOwner, e.ID)
	v.Close()
	if err != nil {
		return err
	}
	body := store.Promote{
		Job: ref(job), Target: store.Target{ID: e.ID, Owner: store.SharedOwner, Version: e.Version}, Decision: ulid.Make(),
	}
	var vectors = unpackAll(stored)
	if _, into := n.duplicate(poolKey{ns.Number, store.SharedOwner}, e, vectors); into != nil {
		body.Fuse, body.FuseVer = into.ID, into.Version
	}
	_, err = n.conclude(ctx, job, store.KindPromote, body)
	return err
}

// replaceJuror draws who follows a juror that was struck.
func (n *Node) replaceJuror(ctx context.Context, job store.Job) error {
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	e, err := v.ExperienceOf(ns.Number, store.SharedOwner, job.Subject)
	var free []string
	if err == nil && e != nil {
		var jury *store.Jury
		if jury, err = v.Jury(ns, e.ID); err == nil && jury != nil {
			free, err = v.FreeJurors(ns, e, jury)
		}
	}
	v.Close()
	if err != nil {
		return err
	}
	chosen, err := draw(free, 1)
	if err != nil {
		return err
	}
	body := store.ReplaceJuror{Job: ref(job), ID: job.Subject, Struck: job.Extra}
	if len(chosen) > 0 {
		body.New = chosen[0]
	}
	_, err = n.conclude(ctx, job, store.KindReplaceJuror, body)
	return err
}
