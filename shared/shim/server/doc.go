// Package server is the shim: the parent of one worker, and what remains of
// swarm while nobody is asking. cmd/swarm-shim runs it, and nothing else imports
// it; whoever wants something of a shim asks through
// [github.com/swarmhost/swarm/shared/shim].
//
// Everything that can end a worker meets here, in the one goroutine that runs
// [shim.run]: requests to kill it, its word that it is done, its own exit, a
// closed terminal, the end of its owner, a signal to the shim. So does the start
// that may follow an end. That goroutine is also the only one that reaps and that
// signals. Hence a pid that it signals can't have been reaped, and the cause of an
// end is what came first and not what a reader guesses later. Other goroutines
// only carry bytes: worker to log, clients to the loop and their input to the
// worker, the status to the disk. So neither a disk that hangs nor a terminal that
// takes nothing keeps a kill from the worker.
//
// Every descendant of the worker stays below the shim, which is a child
// subreaper. The shim's children are therefore the tree to end, except for those
// that are shims themselves, with all below them.
//
// It links no fmt, net or encoding/json, and allocates little once the worker
// runs, because there is one shim for every worker.
package server
