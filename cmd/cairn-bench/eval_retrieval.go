package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"cairn/cmd/cairn-bench/retrievaleval"
	"cairn/cmd/cairn-bench/vectorfile"
	"cairn/index/embed"
)

type retrievalCmd struct {
	Vectors  string `help:"File that keeps the vectors of texts, so that a second run need not make them." placeholder:"FILE" xor:"vectors"`
	Embedder string `help:"Take the vectors of another model from a file made before, as file:PATH; the embedded encoders without it. Only here: a server does not take it." placeholder:"file:PATH" xor:"vectors"`
}

// Validate checks the embedder.
func (c retrievalCmd) Validate() error {
	if c.Embedder != "" && !strings.HasPrefix(c.Embedder, vectorfile.Scheme) {
		return fmt.Errorf("--embedder %s: only %sPATH is known", c.Embedder, vectorfile.Scheme)
	}
	return nil
}

// retrievalRows are the rows of `cairn-bench eval retrieval`.
var retrievalRows = func() []rowSpec {
	var out []rowSpec
	for _, x := range retrievaleval.Rows() {
		s := announced(x.Name, x.Op, x.Bar, x.What)
		s.Unit = "share"
		out = append(out, s)
	}
	return append(out,
		figure("devbench_fused_r5", "share", "of the memories that belong to a question, how many are among the first five; vectors and keywords together"),
		figure("devbench_vectors_r5", "share", "the same, vectors alone"),
		figure("devbench_keywords_r5", "share", "the same, keywords alone"),
		figure("devbench_fused_mrr", "share", "mean of 1/rank of the first memory that belongs to a question"),
		figure("devbench_negative_empty", "share", "of the questions to which nothing belongs, how many get nothing under the floor"),
	)
}()

// Run measures retrieval on the data sets of --data.
func (c retrievalCmd) Run(a *app) (err error) {
	r := newReport("eval retrieval", a.options, retrievalRows)
	if a.options.Data == "" {
		r.note("all rows left out: no data files (--data)")
		return r.finish(a)
	}
	vectors, err := c.embedder()
	if err != nil {
		return err
	}
	rows, notes, err := retrievaleval.Run(a.ctx, retrievaleval.Options{
		Data: a.options.Data, Seed: a.options.Seed, Embedder: vectors,
		Progress: func(text string) { fmt.Fprintln(a.stderr, "cairn-bench: eval retrieval:", text) },
	})
	defer func() { err = errors.Join(err, vectors.Flush()) }()
	if err != nil {
		return err
	}
	var errs []error
	for _, x := range rows {
		errs = append(errs, r.add(x.Name, []float64{x.Value}))
	}
	set, err := loadDevbench(a.options.Data)
	switch {
	case errors.Is(err, os.ErrNotExist):
		r.note("devbench rows left out: no devbench-memories.jsonl and devbench-queries.jsonl")
	case err != nil:
		return err
	default:
		errs = append(errs, set.measure(a.ctx, r, vectors))
		r.note("devbench: %d memories, %d questions", len(set.memories), len(set.questions))
	}
	r.note("figures do not vary between runs, so low and high equal the value")
	return r.finishNoted(a, notes, errors.Join(errs...))
}

// embedder gives the vectors of the run.
func (c retrievalCmd) embedder() (*vectorfile.Embedder, error) {
	if c.Embedder != "" {
		return vectorfile.OpenAlone(strings.TrimPrefix(c.Embedder, vectorfile.Scheme))
	}
	enc, err := embed.New(embed.Options{})
	if err != nil {
		return nil, err
	}
	return vectorfile.Open(c.Vectors, enc)
}
