package acquire

import (
	"cmp"
	"slices"
	"strings"
)

// trail is what one attempt did, as far as it acted.
type trail struct {
	attempt Attempt
	calls   []call // every acting step
	plan    []call // what of it an agent has to repeat
}

func newTrail(a Attempt, calls []call) trail {
	return trail{attempt: a, calls: calls, plan: needed(calls, a)}
}

func (t trail) text() string { return render(t.plan) }

func render(calls []call) string {
	parts := make([]string, len(calls))
	for i, c := range calls {
		parts[i] = c.String()
	}
	return strings.Join(parts, " -> ")
}

// needed drops from an attempt what an agent that follows it does not have to repeat: calls that failed, calls made again
// unchanged at once, and what came after the step that reached the attempt's reward. A call that failed in passing (rate
// limit, busy, timeout) and was then repeated unchanged stays, since the same will happen again.
func needed(calls []call, a Attempt) []call {
	var out []call
	for i, c := range calls {
		if c.failed && !repeatedLater(calls, i) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].String() == c.String() && !out[n-1].failed {
			continue
		}
		out = append(out, c)
		if a.Success && reached(c, a) {
			return append(out, closing(calls[i+1:])...)
		}
	}
	return out
}

// repeatedLater reports a passing failure whose very call succeeds later.
func repeatedLater(calls []call, i int) bool {
	if !isPassing(calls[i].observation) {
		return false
	}
	text := calls[i].String()
	return slices.ContainsFunc(calls[i+1:], func(c call) bool { return !c.failed && c.String() == text })
}

// reached reports that the environment gave the attempt's whole score at this step.
func reached(c call, a Attempt) bool {
	return c.reward != nil && a.Score > 0 && *c.reward >= a.Score-1e-9 && *c.reward >= .999
}

var closingTools = map[string]bool{"submit": true, "finish": true, "done": true, "answer": true, "complete_task": true}

func closing(rest []call) []call {
	for _, c := range rest {
		if closingTools[strings.ToLower(c.tool)] && !c.failed {
			return []call{c}
		}
	}
	return nil
}

// best orders successes by how good a plan they make: fewest steps, then the higher score, then the shorter text, then
// the lower attempt number.
func best(a, b trail) int {
	return cmp.Or(cmp.Compare(len(a.plan), len(b.plan)), cmp.Compare(b.attempt.Score, a.attempt.Score),
		cmp.Compare(len(a.text()), len(b.text())), cmp.Compare(a.attempt.Number, b.attempt.Number))
}

// common is a longest common subsequence of two plans by tool and argument names, as indices into a.
func common(a, b []call) []int { return Subsequence(signatures(a), signatures(b)) }

func signatures(plan []call) []string {
	out := make([]string, len(plan))
	for i, c := range plan {
		out[i] = c.signature()
	}
	return out
}

// Subsequence is a longest common subsequence of two lists, as indices into a, in order.
func Subsequence(a, b []string) []int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	var out []int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, i)
			i, j = i+1, j+1
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// shows reports whether the trail contains the plan: every step of it, in order, with the same rendered values.
func (t trail) shows(plan []call) bool {
	i := 0
	for _, c := range t.calls {
		if i < len(plan) && c.String() == plan[i].String() {
			i++
		}
	}
	return i == len(plan)
}
