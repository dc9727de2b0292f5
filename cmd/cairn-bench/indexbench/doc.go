// Package indexbench measures the index beside other libraries: the same vectors, the same queries, one thread, recall
// against exact truth, rounds that alternate between the two sides. The peers run in processes of their own, which the script
// in cmd/cairn-bench/peers prepares.
package indexbench
