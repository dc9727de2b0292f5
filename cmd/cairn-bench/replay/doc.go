// Package replay measures on recorded attempts of real agents whether shared memory makes agents better, without a live
// agent or a model. All recorded attempts of a task are choices with a known outcome: an arm is a model with a strategy,
// and whatever a policy picks has the success that was recorded.
//
// # World
//
// Ten honest principals face every task three times in all, each time another principal, in random order. Before a step the
// principal weighs what it remembers and what it is shown: each experience claims that an arm worked or failed at a task,
// with weight 20 at the same task, 1 among the 20 nearest others and .5 else, times the weight that the sharing rule gives
// its author. It draws the worth of each arm from Beta(1 + 5 s, 1 + 5 (n - s)), n and s being the sums of weights and of
// weights of claimed success, and picks the best. After the step it records an experience and asks for its nomination, and
// reports the outcome as verified. A memory holds the arm and its first action only, never an observation or a reward.
//
// Attackers make up a share of all principals. They record claims about random tasks and arms with the outcome inverted.
//
// # What runs
//
// Experiences, nominations with drawn juries, outcomes with receipts and promotions run in the state machine of a site
// (package machine). Offline means that the whole visible pool counts, where a recall over HTTP shows a part; of unproven
// authors the three nearest claims are visible, as in a recall. The reader's ledger is that of the state; the action of a claim
// and of a step is the arm with its first action, because arms that begin alike end differently.
//
// The draws of a seed are the same under every condition, so that conditions are compared in pairs.
package replay
