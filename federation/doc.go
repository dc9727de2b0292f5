// Package federation is the vocabulary of Cairn and the pure rules behind it: how an outcome becomes evidence,
// how evidence of other principals becomes trust, who may judge, when an experience is nominated, promoted or
// demoted, what the gate keeps, how strength fades, what refinement archives, and which near-duplicates must
// never be merged.
//
// Everything here is a function of its arguments. There is no I/O, clock, goroutine, randomness or dependence
// on map order, and no exp, log or pow, so all of it may run inside the replicated state machine and gives the
// same bits on every node. Functions read their arguments only and are safe for concurrent use; methods with a
// pointer receiver change that value and need the caller's lock. Nothing panics on any input.
//
// Quantities are [Micro]: int64 millionths. Sums are kept and subtracted as integers. Formulas are float64 with
// + - * / and sqrt, each product converted to float64 before it is added so that no compiler fuses the two, and
// a result is stored as floor(x*1e6 + .5). Decisions are made on stored values. Times are Unix milliseconds of
// the log entry, never of the local clock. DESIGN.md beside this file lists the formulas and why they are so.
package federation
