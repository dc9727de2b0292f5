package node

import (
	"context"
	"fmt"

	"cairn/index"
	"cairn/index/embed"
	"cairn/node/recall"
)

// part is a line of a task that asks for several things, with its vector.
type part struct {
	text   string
	vector embed.Vector
}

// embedParts prepares the lines of such a task; without vectors the whole has to do.
func (r *recalling) embedParts(ctx context.Context, whole embed.Vector) {
	if whole.IsZero() {
		return
	}
	var parts []part
	for _, text := range recall.Parts(r.req.Task) {
		v, err := r.n.embed(ctx, text)
		if err != nil {
			return
		}
		parts = append(parts, part{text, v})
	}
	r.parts = parts
}

// searchParts searches for the whole task and for its lines. The filter counts what the pool holds, so only the first of
// the searches may count.
func (r *recalling) searchParts(ctx context.Context, pool *index.Pool, q index.Query) ([]index.Hit, error) {
	if len(r.parts) == 0 {
		return pool.Search(ctx, q)
	}
	limit := q.Limit
	q.IgnoreFloor, q.Limit = true, 2*limit
	whole, err := pool.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	total, passed := r.total, r.passed
	lists := make([][]index.Hit, 0, len(r.parts))
	for _, p := range r.parts {
		q.Text, q.Vector, q.Others = p.text, p.vector, nil
		hits, err := pool.Search(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("search for a part: %w", err)
		}
		lists = append(lists, hits)
	}
	r.total, r.passed = total, passed
	merged := recall.Merge(len(whole)+len(lists)*2*limit, whole, lists...)
	above := merged[:0]
	for _, h := range merged {
		if h.AboveFloor {
			above = append(above, h)
		}
	}
	return above[:min(len(above), limit)], nil
}
