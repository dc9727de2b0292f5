// Package llm asks language models behind an OpenAI-compatible endpoint for what rules can do only roughly: lessons from
// attempts, verdicts on them, an order for recalled experiences, steps made from them, and a reward for an attempt without
// one. Every answer is a proposal: it is parsed, checked against what was sent, and refused when it cannot be read; an
// unreadable verdict is an error and never a pass. Calls are bounded by time, by a budget per namespace and agent, and are
// cached by the content of the question. Nothing here is required: without a model, without budget or without an endpoint
// every function returns an error at once and the caller goes on by rule.
package llm
