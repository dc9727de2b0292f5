// Package acquire turns the attempts at one task into experiences, by rules alone: no model, no clock, no randomness.
//
// [Distil] looks at a group of attempts through four lenses. The success lens renders the shortest way that worked as a
// plan an agent can follow; the contrast lens finds what the successes did and the failures did not, by smoothed
// log-odds over features of the tool calls, and holds segments of a success against like segments of a failure; the
// failure lens finds the first wrong step; the tool-use lens finds prerequisites and ways out of an error. Values that
// come from the task become placeholders named after their argument, in the plan and in the scenario, so that the same
// plan found again for the same kind of task is the same text.
//
// [Judge] scores a draft on five dimensions and says whether it is worth keeping; [Normalise] puts rewards on one scale.
// All functions are deterministic and safe for concurrent use.
package acquire
