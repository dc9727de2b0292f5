// Package refine turns what an agent reports about a recall into credit for the single experiences, and holds the other
// small rules that keep a pool healthy. Its functions are pure and safe for concurrent use; the rules that run inside the
// replicated state machine (utility deletion, strength, confidence) are federation's.
package refine
