// Package dash is the model of a dashboard: the workers of a host, kept current, in the
// order in which they need a person; what one of them shows; and what can be done with
// them, each with the command line that does the same.
//
// It knows nothing of terminals and browsers, so that both show the same. All facts come
// from the public functions of a [host.Host], and nothing is computed here that a verb
// computes elsewhere. A [Board] is driven by events: the watch of the host says which
// workers have changed, and only those are asked again. A [Follower] reads what one worker
// writes.
//
// Text that workers wrote leaves this package fit for a terminal, see [Follower.Lines].
package dash
