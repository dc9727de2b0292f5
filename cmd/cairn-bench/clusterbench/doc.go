// Package clusterbench measures the consensus layer against etcd, raft-boltdb and the usual way of hashicorp/raft to take
// and restore snapshots.
//
// Sites of three are three processes on loopback with data folders on disk. A Cairn node is consensus.Group with the real
// transport and log and a key-value state machine on Pebble, because etcd is a key-value store; the REST surface is no part
// of it. Clients are a process of their own on both sides: any number of closed loops that share one connection to one node.
// Both sides sync before they acknowledge. Every measurement alternates between the systems, round by round, in one run.
package clusterbench
