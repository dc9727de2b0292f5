// Package consensus replicates an ordered log of opaque commands to the nodes
// of one site and applies them to a state machine that the caller supplies.
//
// A Group is one node's part in the site's Raft group. It runs
// hashicorp/raft over an own log store on Pebble and an own peer port, and
// knows nothing about what a command means. What it promises:
//
//   - Propose returns a result only after a quorum has the command on disk and
//     this node has applied it. An error that wraps ErrOutcomeUnknown says that
//     the command may or may not be applied later; every other error says that
//     it never will be.
//   - Commands are applied once, in one order, on every node. The state machine
//     stores the index it has applied together with the effects, so a restart
//     replays only what is missing.
//   - ReadIndex gives an index at or above every write acknowledged before the
//     call, anywhere in the site; a state that has applied it is linearizable.
//   - The state is its own snapshot: compaction of the log makes the state
//     durable and keeps only metadata. Files are copied when a follower or a
//     backup asks for them.
//
// Any error of the log's disk ends the process: a node that cannot say what it
// has stored must not vote. See DESIGN.md for invariants and lock order.
package consensus
