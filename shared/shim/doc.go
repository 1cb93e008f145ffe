// Package shim is for backends whose workers run on this machine: swarm-shim, a program of
// swarm, is the parent of one worker, keeps its output and its exit, and outlives the plugin.
//
// A backend starts a worker with [Start], and embeds [Kept], which implements all other calls:
// status, kill, output, input, signals and more. A handle holds a [Worker], by which [Kept]
// finds the shim. A backend does its own work in the spec that it passes to [Start], such as a
// wrapper around the command.
//
// Plugins import it. The host does not: it knows workers through their plugins.
//
// All functions and methods may be called at the same time, by any number of processes.
package shim
