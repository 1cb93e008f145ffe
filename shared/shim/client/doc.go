// Package client starts shims and talks to them, through the run directory that both share.
//
// A shim is started from a launch, which [LaunchOf] makes of a spec: with [Start], or by
// another program after [Prepare]. From then on a worker is its run directory and its id:
// [Status] and [Find] return the state, [Watch] reports changes, [Output] reads the log,
// [Input], [Signal] and [Complete] send requests to the shim, and [Kill] makes it end the
// worker.
//
// Package [github.com/swarmhost/swarm/shared/shim] offers to authors of backends what they
// need of it. Our own plugins import it for the rest, and so does the host, which asks a
// shim itself where its plugin can't be asked. The shim, package server, does not.
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
package client
