package embed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// EmbedBatch embeds texts with up to Options.Workers at once, leaving room for Embed; short texts go through the layers
// together. Vectors are those of Embed, bit for bit. A blank text gives the zero Vector and no error. The first other error
// ends the batch.
func (e *Encoder) EmbedBatch(ctx context.Context, texts []string) ([]Vector, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]Vector, len(texts))
	groups := make(chan []int)
	var workers sync.WaitGroup
	for range min(e.workers, len(texts)) {
		workers.Go(func() {
			for group := range groups {
				if err := e.encodeGroup(ctx, texts, group, out); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, group := range grouped(texts) {
		if ctx.Err() != nil {
			break
		}
		groups <- group
	}
	close(groups)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("embed batch: %w", err)
	}
	return out, nil
}

// grouped puts neighbouring texts of one encoder together, about passTokens tokens (four bytes a token) or more a group.
// Blank texts are left out.
func grouped(texts []string) [][]int {
	var groups [][]int
	open := map[string][]int{}
	bytes := map[string]int{}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		id := Choose(text)
		open[id] = append(open[id], i)
		bytes[id] += len(text)
		if bytes[id] >= 4*passTokens {
			groups = append(groups, open[id])
			open[id], bytes[id] = nil, 0
		}
	}
	for _, p := range profiles {
		if len(open[p.ID]) > 0 {
			groups = append(groups, open[p.ID])
		}
	}
	return groups
}

// encodeGroup embeds the texts of one group, all of one encoder, and writes their vectors to out.
func (e *Encoder) encodeGroup(ctx context.Context, texts []string, group []int, out []Vector) error {
	id := Choose(texts[group[0]])
	m, err := modelOf(id)
	if err != nil {
		return err
	}
	if err := e.slots.acquire(ctx, true); err != nil {
		return err
	}
	defer e.slots.release(true)
	var seqs [][]int32
	var ends []int // of the sequences of each text to be computed
	var missing []int
	for _, i := range group {
		if values, ok := e.cache.get(keyOf(id, texts[i])); ok {
			out[i] = Vector{id, values}
			continue
		}
		s, err := m.sequences(texts[i])
		if errors.Is(err, ErrBlank) {
			continue
		}
		if err != nil {
			return fmt.Errorf("text %d: %w", i, err)
		}
		seqs = append(seqs, s...)
		ends, missing = append(ends, len(seqs)), append(missing, i)
	}
	vectors, err := m.vectors(ctx, seqs)
	if err != nil {
		return err
	}
	start := 0
	for j, i := range missing {
		values := mean(vectors[start:ends[j]])
		start = ends[j]
		e.cache.put(keyOf(id, texts[i]), values)
		out[i] = Vector{id, values}
	}
	return nil
}
