// Package server is the shim: the parent of one worker, and the only program of swarm that
// runs all the time. cmd/swarm-shim runs it, and nothing else imports it; clients of a shim
// use [github.com/swarmhost/swarm/shared/shim].
//
// Everything that can end a worker meets here, in the one goroutine that runs [shim.run]:
// requests to kill it, its completion, its own exit, a closed terminal, the end of its
// owner, a signal to the shim. So does the start that may follow an end. That goroutine is
// also the only one that reaps and that signals. Hence a pid that it signals can't have
// been reaped, and the cause of an end is the event that came first, not a later guess of a
// reader. Other goroutines only carry bytes: worker to log, clients to the loop and their
// input to the worker, the status to the disk. So neither a hanging disk nor a blocked
// terminal can delay a kill.
//
// The worker is in one of four phases: running, leaving, pausing, over; see worker.go. The
// loop moves it, and a move that the phase does not allow is refused.
//
// Every descendant of the worker stays below the shim, which is a child
// subreaper. The shim's children are therefore the tree to end, except for those
// that are shims themselves, with all below them.
//
// It links no fmt, net or encoding/json, and allocates little once the worker
// runs, because there is one shim for every worker.
package server
