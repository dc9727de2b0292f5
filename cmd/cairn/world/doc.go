// Package world is the small tool world of `cairn demo` and the scripted agents that work in it.
//
// The world is a set of simulators with state: an airline, a shop, a bank, a forecast service, a calendar, a help desk, a
// storage service and a customer desk. A task is one request in plain words with its values (names, dates, ids) drawn from
// a seeded generator, and the tools that may be called. Calls give observations, some of them errors, some of them
// misleading: they look like success and are not. When the plan has been carried out the simulator, not the agent, says
// what it was worth.
//
// An agent knows the names of its tools, the names of their arguments, the values that an argument may take, and what its
// memory tells it. It keeps nothing between tasks. A plan is read out of a recalled text and its placeholders are filled
// from the task; without one the agent puts its tools in a random order with random choices. Nothing is scripted to
// succeed: the package never looks at an author, and no agent can see the inside of a simulator.
//
// Memory is an interface, so the same agents and tasks run without memory, with a private one and with a shared one. The
// package imports nothing of the server.
package world
