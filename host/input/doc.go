// Package input gives something to workers that run: text, keys, signals, answers to the
// dialogs of agents, and a terminal to attach to. It keeps the inputs to one worker apart,
// and gives nothing to a worker that must not be disturbed by this caller. host/deliver
// knows how a text is typed; this package knows to which worker, and whether it may be.
package input
