package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"cairn/cmd/cairn-bench/jsonl"
	"cairn/cmd/cairn-bench/retrievaleval"
	"cairn/index"
	"cairn/index/embed"
)

type evalCmd struct {
	Retrieval  retrievalCmd  `cmd:"" help:"Does search find what belongs to a question?"`
	Experience experienceCmd `cmd:"" help:"Do attempts become experiences that are worth something, and are they found?"`
	Trust      trustCmd      `cmd:"" help:"What does the trust rule let in, in simulated fleets with and without attackers?"`
	Screen     screenCmd     `cmd:"" help:"What does the screener find, how far does poison get, what does a citation cost?"`
	Replay     replayCmd     `cmd:"" help:"Does shared memory help, on recorded attempts?"`
}

type devbench struct {
	memories []struct {
		ID      string   `json:"id"`
		Content string   `json:"content"`
		Tags    []string `json:"tags"`
	}
	questions []struct {
		Question string   `json:"question"`
		Expected []string `json:"expected_tags"`
	}
}

func loadDevbench(dir string) (*devbench, error) {
	var d devbench
	if err := jsonl.Read(filepath.Join(dir, "devbench-memories.jsonl"), &d.memories); err != nil {
		return nil, err
	}
	return &d, jsonl.Read(filepath.Join(dir, "devbench-queries.jsonl"), &d.questions)
}

// addMean adds the mean over questions as the one value of the run; without questions there is no row.
func (r *report) addMean(name string, values []float64) error {
	if len(values) == 0 {
		r.note("%s left out: no question for it", name)
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return r.add(name, []float64{sum / float64(len(values))})
}

// arms are the ways to search that are compared.
var arms = []string{"fused", "vectors", "keywords"}

func (d *devbench) measure(ctx context.Context, r *report, e retrievaleval.Embedder) error {
	pool := index.NewPool()
	for _, m := range d.memories {
		v, err := vectorOf(ctx, e, m.Content)
		if err != nil {
			return fmt.Errorf("embed %s: %w", m.ID, err)
		}
		if err := pool.Put(index.Doc{ID: m.ID, Fields: []index.Field{{Name: "content", Text: m.Content}}, Vectors: []embed.Vector{v}}); err != nil {
			return fmt.Errorf("index %s: %w", m.ID, err)
		}
	}
	recall := map[string][]float64{}
	var ranks, empty []float64
	for _, q := range d.questions {
		v, err := vectorOf(ctx, e, q.Question)
		if err != nil {
			return fmt.Errorf("embed question: %w", err)
		}
		relevant := d.relevant(q.Expected)
		if len(relevant) == 0 {
			hits, err := pool.Search(ctx, index.Query{Text: q.Question, Vector: v})
			if err != nil {
				return fmt.Errorf("search under the floor: %w", err)
			}
			empty = append(empty, share(len(hits) == 0))
			continue
		}
		for _, arm := range arms {
			ranked, err := search(ctx, pool, arm, q.Question, v)
			if err != nil {
				return err
			}
			recall[arm] = append(recall[arm], recallAt(ranked, relevant, 5))
			if arm == "fused" {
				ranks = append(ranks, reciprocalRank(ranked, relevant))
			}
		}
	}
	var errs []error
	for _, arm := range arms {
		errs = append(errs, r.addMean("devbench_"+arm+"_r5", recall[arm]))
	}
	return errors.Join(append(errs, r.addMean("devbench_fused_mrr", ranks), r.addMean("devbench_negative_empty", empty))...)
}

func vectorOf(ctx context.Context, e retrievaleval.Embedder, text string) (embed.Vector, error) {
	out, err := e.EmbedBatch(ctx, []string{text})
	if err != nil {
		return embed.Vector{}, err
	}
	return out[0], nil
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (d *devbench) relevant(tags []string) map[string]bool {
	out := map[string]bool{}
	for _, m := range d.memories {
		for _, t := range m.Tags {
			if slices.Contains(tags, t) {
				out[m.ID] = true
			}
		}
	}
	return out
}

// search ranks ten memories without a floor, so that only the order is measured.
func search(ctx context.Context, pool *index.Pool, arm, text string, v embed.Vector) ([]string, error) {
	q := index.Query{Text: text, Vector: v, Limit: 10, IgnoreFloor: true}
	switch arm {
	case "vectors":
		q.Text = ""
	case "keywords":
		q.Vector = embed.Vector{}
	}
	hits, err := pool.Search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search by %s: %w", arm, err)
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, nil
}

// recallAt is the share of the relevant ids among the first k.
func recallAt(ranked []string, relevant map[string]bool, k int) float64 {
	if len(relevant) == 0 {
		return 0
	}
	found := 0
	for _, id := range ranked[:min(k, len(ranked))] {
		if relevant[id] {
			found++
		}
	}
	return float64(found) / float64(len(relevant))
}

func reciprocalRank(ranked []string, relevant map[string]bool) float64 {
	for i, id := range ranked {
		if relevant[id] {
			return 1 / float64(i+1)
		}
	}
	return 0
}
