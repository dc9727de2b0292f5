package node

import (
	"context"
	"fmt"
	"slices"

	"cairn/federation"
	"cairn/node/compact"
	"cairn/node/screen"
	"cairn/node/store"
)

// shareStrategy looks in one sub-pool of the meta-pool for items of several principals that are of one kind, and proposes
// a strategy of one group of them as a candidate.
func (n *Node) shareStrategy(ctx context.Context, job store.Job) error {
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	defer v.Close()
	list, err := n.successes(v, ns, job)
	if err != nil {
		return err
	}
	clusters := compact.Clusters(len(list), func(i, j int) bool { return sameSort(list[i], list[j]) })
	clusters = slices.DeleteFunc(clusters, func(c []int) bool { return !severalAuthors(list, c) })
	for at, cluster := range clusters {
		body, err := n.sharedStrategy(ctx, v, ns, pick(list, cluster))
		if err != nil {
			return err
		}
		if body != nil {
			body.Job, body.More = ref(job), at+1 < len(clusters)
			_, err = n.conclude(ctx, job, store.KindSharedStrategy, *body)
			return err
		}
	}
	return n.finished(ctx, job)
}

func severalAuthors(list []success, cluster []int) bool {
	return slices.ContainsFunc(cluster, func(i int) bool { return list[i].exp.Principal != list[cluster[0]].exp.Principal })
}

func pick(list []success, cluster []int) []success {
	out := make([]success, len(cluster))
	for i, at := range cluster {
		out[i] = list[at]
	}
	return out
}

// sharedStrategy writes a strategy, screens it and draws its jury; nil when the sources have nothing to say in common.
func (n *Node) sharedStrategy(ctx context.Context, v *store.View, ns *store.Namespace, sources []success) (*store.SharedStrategy, error) {
	made, ok, err := n.strategy(ctx, ns, sources)
	if err != nil || !ok {
		return nil, err
	}
	e := made.Experience
	seen, err := n.cfg.Screener.Screen(ctx, e.Scenario, e.Content, e.Keywords)
	if err != nil {
		return nil, fmt.Errorf("screen: %w", err)
	}
	if seen.Action == screen.Redact {
		e.Scenario, e.Content, e.Keywords = seen.Scenario, seen.Content, seen.Keywords
		e.Hash = textHash(&e)
		made.Vectors = packVectors(n.vectors(ctx, &e))
	}
	for _, s := range sources {
		e.Authors = append(e.Authors, s.exp.Principal)
	}
	_, eligible, err := v.Eligible(ns, &e)
	if err != nil {
		return nil, err
	}
	jurors, err := draw(eligible, federation.JurySize(len(eligible)))
	return &store.SharedStrategy{
		Copy: e, Vectors: made.Vectors, Sources: made.Sources, Screening: screening(seen.Action), Jurors: jurors,
	}, err
}
