// Package pipeline measures how well attempts become experiences and experiences are found again: what distilled advice
// is worth to other attempts, whether an experience names tools its trajectory lacks, how tasks are routed, what counts as
// a duplicate, where a failed run went wrong, whether a replay or a fed-back recall makes anything new, what an empty
// answer is worth, and how fast all of it runs. Everything works by rules: no language model takes part.
package pipeline
