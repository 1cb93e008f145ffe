// Package input gives running workers text, keys, signals, answers to the dialogs of
// agents, a terminal to attach to, a pause or other limits. It keeps the inputs to one
// worker apart, and refuses callers without the right to disturb a worker. Package
// host/deliver types texts; this package selects the worker and checks the rights.
package input
