// Package host is the core of swarm: it keeps the registry of workers, finds the
// backend that owns each of them, and routes what is asked for to it. All backends are
// plugins. It names one only where a record does not say which plugin made a workspace.
//
// # Use
//
// [Open] gives a [Host] for one state directory; a process opens one, asks, and
// closes it. Nothing runs in between: plugins are started when a call needs
// them, all that it needs at the same time, and end with [Host.Close]. The
// registry is opened by the first call that needs it, so that [Host.Doctor]
// works when it is damaged.
//
// Methods may be called at the same time. Callbacks are called one at a time,
// from the goroutine of the call that they were given to or from one that it
// waits for; they must not call the Host.
//
// # What is stored and what is asked
//
// The registry says what was started and how it ended. Whether a worker that is
// not known to have ended still lives is never stored: every read asks its
// backend. [Host.Workers], [Host.Wait], [Host.Logs] and [Host.Events] write
// nothing.
//
// # History
//
// Calls that change something also write down the ends that they come across, so
// does [Host.Watch] as they happen and [Host.Collect] once. Every worker has at
// most one final event, which any of them may write: all say the same, and the
// first one wins. A record that goes with its worker's end goes in the same change.
//
// # Locks
//
// Each worker has a lock file which is held for a transition: a spawn, a removal,
// a recovery. It is never held while a worker is given time to end.
//
// # Teams
//
// An agent is a worker of a team. Its row and the record of its worker change in the
// same transactions: it joins with the record, is active once the worker runs, and
// what its end means is recorded with that, by host/team's rules. [Host.Caller] says
// who calls; what ends or disturbs the workers of a team is refused to those who do
// not lead it, before anything is touched. [Host.Change] and [Host.View] are for what
// builds on this package.
//
// # Rooms
//
// The verbs are carried out in packages of their own, which do not know the Host; rooms.go
// says what each is told. host/worker has the words that all of them share, host/statedir the
// paths, locks and run directories, host/store the registry; host/caller finds out who
// calls, and host/backend talks to plugins. host/spawn starts workers, host/kill ends them,
// host/input gives them input, host/display reads what they show, and host/courier tells
// agents what is waiting for them. host/history writes down what happens, host/watch and
// host/liveness find out what nobody has reported, host/doctor finds what is damaged, and
// host/pluginadmin installs and lists plugins.
//
// The package imports neither config nor plugins.
package host
