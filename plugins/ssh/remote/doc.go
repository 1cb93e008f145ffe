// Package remote is the far side of the backend ssh: the part of it that runs on the
// machines of the workers, as the program swarm-remote, for as long as a connection lasts.
//
// It serves the contract of [github.com/swarmhost/swarm/shared/swarm] over its standard
// input and output, and carries it out by the backends for workers of one machine. It adds
// what a host gives those backends: a run directory for each worker, the environment, and
// the path of swarm-shim. It keeps nothing in memory that has to outlive it.
//
// cmd/swarm-remote and plugins/ssh import it.
package remote
