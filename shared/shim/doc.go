// Package shim is the client of swarm-shim: it starts a shim for a worker and talks to it,
// through the run directory that the two share.
//
// A backend turns a spec into a launch with [LaunchOf], and starts the shim with [Start],
// or lets another program start it after [Prepare]. From then on it identifies the worker
// by its run directory and its id, which are the [Worker] in its handle: [Status] and
// [Find] return the state, [Wait] and [Watch] wait for changes, [Output] reads the log,
// [Input], [Signal] and [Complete] send requests to the shim, and [Kill] makes it end the
// worker. A backend that embeds [Kept] has most of that as methods.
//
// Plugins of local backends import it. The shim itself, package server, does
// not, and neither does the host, which knows workers only through their
// plugins.
//
// # Facts
//
// This package holds no state. Every answer is derived from the facts of that moment: the
// shim's record status.json, the process that this record names, and the shim's control
// socket. A live shim answers for its worker. A shim that left has recorded the end of the
// worker. A shim that was killed has not, and then the worker is lost: its remaining
// processes are searched for among all processes and have to be proven the worker's.
//
// A directory that holds another id than the one given is [swarm.ErrStaleHandle].
//
// All functions may be called at the same time, by any number of processes.
package shim
