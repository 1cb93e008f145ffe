// Package sandbox turns the restrictions of a worker into the command line of bubblewrap,
// which makes the sandbox. [Look] examines the machine, [Plan.Args] only computes, and
// [Check] reports whether sandboxes can be made here, and if not, how to get them.
//
// Backends of workers on this machine import it; the shim runs what it returns.
package sandbox
