// Package shim is for those who have swarm-shim keep a worker: it starts a shim
// and talks to it, through the run directory that the two share.
//
// A backend gives a shim what [LaunchOf] makes of a spec, and has it started by
// [Start], or by somebody else after [Prepare]. From then on it names the worker by
// its run directory and its id, which are the [Worker] in its handle, and asks:
// [Status] and [Find] look, [Wait] and [Watch] wait, [Output] reads the log, [Input],
// [Signal] and [Complete] ask the shim for something, [Kill] has it end the worker. A
// backend that embeds [Kept] has most of that as methods.
//
// Plugins of local backends import it. The shim itself, package server, does
// not, and neither does the host, which knows workers only through their
// plugins.
//
// # Facts
//
// Nothing here remembers anything. Every answer is derived from what is there at
// that moment: the shim's record status.json, whether the process which that
// record names is alive, and the shim's control socket. A shim that is alive
// answers for its worker; one that left has written how the worker ended; one
// that was killed has not, and then the worker is lost: what it left behind is
// looked for among all processes and has to be proven the worker's.
//
// A directory that holds another id than the one given is [swarm.ErrStaleHandle].
//
// All functions may be called at the same time, by any number of processes.
package shim
