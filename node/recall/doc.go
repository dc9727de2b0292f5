// Package recall orders what a search found and renders it for an agent: bounded priors of strength and trust, a
// diverse choice with a cap for each principal, one place for what has still to be tried, a token budget, and the text
// that quotes the experiences as data. Its functions are pure: randomness arrives as the caller's draw, time as ages.
//
// [Hot] and [Router] remember: which experiences are recalled most, and which tasks belong to which type. Both are made
// from the state by whoever follows it and are gone with the process.
package recall
