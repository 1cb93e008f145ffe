// Package occupant finds the processes that live in a directory: a worktree is kept while there
// are any.
//
// It is imported by the packages of plugins/worktree alone.
package occupant
