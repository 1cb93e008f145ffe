// Package shim is for those who have swarm-shim keep a worker: it starts a shim
// and talks to it, through the run directory that the two share.
//
// Plugins of local backends import it. The shim itself, package keeper, does
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
// A worker is named by its run directory and its id. A directory that holds
// another id is [swarm.ErrStaleHandle].
//
// All functions may be called at the same time, by any number of processes.
package shim
