// Package cgroup makes control groups of Linux, one for each worker with limits: they hold
// the worker's processes, limit what these use together, freeze them, and record whether the
// system killed one because memory ran out.
//
// A group is made in each hierarchy that it needs: in the single one of version 2 where this
// process may make groups there, else in those of version 1. It is a directory
// "swarm-<hash>/<id>" below the group of the calling process, or below the nearest group
// above it that may have groups with limits. So limits of the caller, such as those of a
// container, hold for the worker too. In the root of a container, the processes there are
// moved into a group of their own first.
//
// The shim links it, so it needs no fmt. It imports the contract alone.
package cgroup
