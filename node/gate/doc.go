// Package gate predicts the reward of an attempt before the gate compares it with the actual one. A Predictor keeps the
// newest outcomes of each agent with their task vectors and finds the most similar ones; Expected combines them with the
// running means, a rule of the task type or the caller's own expectation. Thresholds and routes are federation's.
package gate
