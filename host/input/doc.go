// Package input gives input to running workers: text, keys, signals, answers to the dialogs
// of agents, and a terminal to attach to. It keeps the inputs to one worker apart, and
// refuses callers without the right to disturb a worker. Package host/deliver types texts;
// this package selects the worker and checks the rights.
package input
