// Package proc reads processes and signals them without mistaking one for
// another.
//
// A pid is a number that the kernel reuses. So an [Identity] names a process, and
// [Identity.Signal] reaches that process or none. A process that has ended but was not
// reaped yet, a zombie, counts as gone in this package.
//
// The shim and its clients import it. Like rundir it links neither net, encoding/json
// nor fmt, because the shim stays in memory as long as its worker.
//
// On Linux everything comes from /proc and pidfds. Elsewhere there is a small
// race between the check of an identity and the signal, see [Verified].
package proc
