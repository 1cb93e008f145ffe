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
// backend. [Host.Workers], [Host.Wait], [display.Reader.Logs] and
// [history.History.Events] write nothing.
//
// # History
//
// Calls that change something also record the ends that they find.
// [watch.Watcher.Watch] records ends as they happen, [watch.Watcher.Collect] does so
// once. Every worker has at most one final event, which any of them may write: all
// write the same, and the first one wins. A record that goes with its worker's end
// goes in the same change.
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
// what its end means is recorded with that, by host/team's rules. [Host.Callers]
// identifies the caller; a call that ends or disturbs the workers of a team is refused
// to callers that do not lead it, before anything is touched.
//
// # Parts
//
// The verbs are methods of a host's parts, such as [Host.Kill]. Each part is a package of
// its own, which does not know the Host; parts.go gives each what it needs. host/roster
// selects and observes workers, and answers what every verb asks. host/worker has the
// words that all of them share, host/statedir the paths, locks and run directories,
// host/store the registry; host/caller identifies the caller, and host/backend talks to
// plugins. host/spawn starts workers, host/kill ends them, host/input sends them input,
// host/display reads what they show. host/history records events, host/settle finishes
// what other processes left unfinished, host/watch and host/sweep find the ends that
// nothing has reported.
//
// The package imports neither config nor plugins.
package host
