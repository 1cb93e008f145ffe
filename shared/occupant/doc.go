// Package occupant finds the processes that live in a directory: a workspace is kept while there
// are any.
//
// It is imported by workspace plugins.
package occupant
