// Package sandbox turns what a worker is to be kept from into the command line of
// bubblewrap, which makes the sandbox. [Look] finds out what there is on the machine,
// [Plan.Args] only computes, and [Check] says whether sandboxes can be made here, and how to
// get them.
//
// Backends of workers on this machine import it; the shim runs what it returns.
package sandbox
