// Package trusteval measures the trust rule on simulated fleets: how much of what is good gets shared, how much of what is
// shared is good, and what an attacker gets in. It drives the state machine of a site itself, with the commands that nodes
// propose and stamped times; only the agents and the usefulness of their experiences are simulated.
//
// # World
//
// A run lasts 84 days. Honest principals have 1 to 3 agents each and share a number of tasks a day. A task has one of four
// types of base success .1, .3, .6 and .9, and one of ten situations. After 2 of 100 tasks, until day 56, the agent
// records an experience about the task's type: 15 % of them lower the chance of success by .2, 40 % do nothing, 22 % add .1
// and 23 % add .3, each in half of the situations of its type only. Effects of what an agent uses add up, and the chance of
// success stays within .02 and .98.
//
// A recall gives five places by the ranking of package recall among the experiences that hold in the task's situation:
// preconditions say where they do, and recall filters by them. Similarity is drawn for each task and experience, .5 to .9. An
// agent follows one of the ordinary places, whichever, and tries what is in the exploratory place. Half of the agents report verified outcomes, 30 %
// a judge's verdict that is wrong in 12 % of cases, 20 % their own opinion that calls 30 % of the failures a success. Half say
// what they used.
//
// # Attackers
//
// Attackers are admitted with the others and behave honestly until day 28, except for slanderers, who begin at once (a row
// of its own has them earn first). From then until day 56 they record harmful
// experiences (-.2 in every situation) at the usual rate and ask for their nomination. They report verified outcomes that suit
// them, whatever happened; see the kinds of attack. They take tasks at random, except for the aimed ring, which asks for what
// it wants to praise.
package trusteval
