// Package notify delivers events of workers to an ntfy server, to a webhook as Slack has it, and to
// the desktop. It implements [swarm.Notifier]; swarm-plugin-notify serves it. Nothing else imports
// it.
//
// # Several targets
//
// An event is accepted when each target has taken or refused it. If one can't be reached, the answer
// is later, and the targets that took the event are remembered for the next attempt, in memory: a
// plugin that is started again delivers to them once more. An event that all targets refuse is
// dropped.
//
// # What an answer of a server means
//
// 2xx: accepted. A timeout, no connection, 408, 429, 5xx: later, at the time of Retry-After if there
// is one. Another 4xx: never. A redirect is not followed, since the settings name the address that a
// token is for; it is later, because a network that wants a login first redirects everything.
package notify
