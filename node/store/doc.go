// Package store is the replicated state of a Cairn site: keys, records, commands and the state machine that applies them,
// with jobs, receipts, the change log and the feed log.
//
// The state machine is a pure function of the log. A command carries everything that is slow, random or dependent on an
// index look-up; apply validates it fully before it writes, compares the versions it was decided on with those that stand,
// and evaluates the pure rules of package federation again. Time is the leader's stamp, made monotonic. A command either
// writes all of its effects or none.
//
// Reads go through a View, a consistent snapshot. Views and the Store are safe for concurrent use; Apply has one caller.
package store
