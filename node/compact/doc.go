// Package compact turns several successes of one kind into one strategy that says what they have in common (section 1.8 of
// the rules of memory). It is pure: the same sources in the same order give the same strategies.
package compact
