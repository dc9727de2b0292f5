package node

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/store"
)

// reembedStep is how many experiences one command queues.
const reembedStep = 200

// Reembed queues the experiences whose vectors the present encoder did not make; a dry run only counts them. Searches go on:
// until its turn comes, an experience is found by the vector it has, as long as its encoder is at hand, else by keywords.
// It covers the caller's namespace, for an admin of the site all of them.
func (n *Node) Reembed(ctx context.Context, c api.Caller, dryRun bool) (api.Done[api.Reembedding], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[api.Reembedding]{}, err
	}
	out := api.Reembedding{Embedders: n.encoder.Embedders()}
	stale, err := n.stale(c, &out)
	if err != nil || dryRun {
		return api.Done[api.Reembedding]{Value: out, Status: http.StatusOK}, err
	}
	var index uint64
	for ns, targets := range stale {
		for step := range slices.Chunk(targets, reembedStep) {
			res, err := n.propose(ctx, c, api.Write{}, store.KindReembed, ns, store.Reembed{Targets: step})
			if err != nil {
				return api.Done[api.Reembedding]{}, err
			}
			var queued store.Requeued
			if err := store.DecodeBody(res.Body, &queued); err != nil {
				return api.Done[api.Reembedding]{}, fmt.Errorf("queue embeddings: %w", err)
			}
			out.Queued += queued.Count
			index = max(index, res.Index)
		}
	}
	return api.Done[api.Reembedding]{Value: out, Index: index, Status: http.StatusAccepted}, nil
}

// stale lists by namespace what is to be embedded, and counts into out.
func (n *Node) stale(c api.Caller, out *api.Reembedding) (map[string][]store.Target, error) {
	v, ns, err := n.openFor(c)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	names := map[uint32]string{ns.Number: ns.ID}
	if siteAdmin(c) {
		err := v.Namespaces(nil, func(_ []byte, ns *store.Namespace) bool {
			names[ns.Number] = ns.ID
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	stale := map[string][]store.Target{}
	var failed error
	err = v.EachExperience(func(number uint32, e *store.Experience) bool {
		name, ok := names[number]
		if !ok || !e.Live() {
			return true
		}
		vectors, err := v.VectorsOf(number, e.Owner, e.ID)
		if err != nil {
			failed = err
			return false
		}
		out.Experiences++
		if vectors.Version != e.Version || !n.makes(vectors) {
			stale[name] = append(stale[name], store.Target{ID: e.ID, Owner: e.Owner})
			out.Stale++
		}
		return true
	})
	if err := firstError(err, failed); err != nil {
		return nil, fmt.Errorf("look for old vectors: %w", err)
	}
	err = v.Jobs(nil, func(_ []byte, j *store.Job) bool {
		for _, name := range names {
			if j.Kind == store.JobEmbed && j.Namespace == name {
				out.Waiting++
				if j.Status == store.JobDead {
					out.Failed++
				}
			}
		}
		return true
	})
	return stale, err
}

// makes reports whether the encoder makes vectors of these kinds.
func (n *Node) makes(v store.Vectors) bool {
	ids := n.encoder.Embedders()
	for _, x := range v.Vectors {
		if !slices.Contains(ids, x.Embedder) {
			return false
		}
	}
	return len(v.Vectors) > 0
}

// others gives the vectors of a question by encoders that the node no longer uses, for pools that still hold some of theirs.
// Only the embedded encoders are always at hand.
func (n *Node) others(ctx context.Context, key poolKey, text string) []embed.Vector {
	var out []embed.Vector
	for _, id := range n.index.pool(key).Embedders() {
		if slices.Contains(n.encoder.Embedders(), id) || !slices.Contains(n.embedded.Embedders(), id) {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, n.cfg.EmbedDeadline)
		v, err := n.embedded.EmbedAs(ctx, id, text)
		cancel()
		if err != nil {
			n.metrics.embedMisses.Inc()
			continue
		}
		out = append(out, v)
	}
	return out
}
