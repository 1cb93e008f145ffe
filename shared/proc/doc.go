// Package proc reads processes and signals them without mistaking one for
// another.
//
// A pid is only a number that is used again: a process is named by an
// [Identity], and whoever signals one by [Identity.Signal] reaches that process
// or nobody. A process that has ended and was not reaped yet, a zombie, is gone
// for this package.
//
// The shim and those who talk to it import it. Like rundir it links neither net,
// encoding/json nor fmt, because the shim stays in memory as long as its worker.
//
// On Linux everything comes from /proc and pidfds. Elsewhere there is a small
// race between the check of an identity and the signal, see [Verified].
package proc
