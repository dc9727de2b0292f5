// Package node is one Cairn server without its faces: it wires the replicated state, the Raft group, the index and the
// rules of memory, runs the background loops, and offers the service that package web calls (node/api.Service).
//
// Everything slow or random happens here, before a command is proposed: validation, embedding, look-ups in the index, the
// draw of juries. The state machine decides again on what it finds.
//
// Loops, each started by Open and awaited by Close: the follower keeps the search index behind the state, the receipt
// batcher commits recalls, workers run durable jobs on the leader, and the leader proposes a tick a minute. No lock is
// held while proposing or embedding.
package node
