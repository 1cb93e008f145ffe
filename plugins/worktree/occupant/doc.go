// Package occupant finds the processes that live in a directory: a worktree is kept while there
// are any.
//
// It is imported by package [github.com/swarmhost/swarm/plugins/worktree] alone.
package occupant
