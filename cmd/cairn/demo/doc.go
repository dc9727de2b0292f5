// Package demo runs the scripted agents of package world against a site over HTTP, in three arms with the same tasks:
// without memory, with private memory, and with shared memory. It reports what the arms reached and what the shared
// namespace learnt, judged and shared on the way. It is an ordinary client: what it does, any program with a key can do.
package demo
