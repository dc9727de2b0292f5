// Package machine drives the replicated state machine of a site in one process, without HTTP, Raft, index or encoder, on
// simulated time. It proposes the commands that a node would propose, and does the leader's jobs of sharing as a node does
// them: draw juries, ask for promotions, replace silent jurors. The rules themselves run in package store alone.
//
// A Site is for one goroutine.
package machine
