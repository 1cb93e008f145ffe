package server

import (
	"math"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// raise raises the limits that hinder this process, see [inheritedLimit.hinders], as far as it may:
// without the capability for resources that is up to the hard ones. The worker gets them as they
// were. A caller that limits processor time means its programs: the time of a shim adds up for as
// long as its worker lives.
func (in *inherited) raise() {
	known := func(number int) bool {
		return slices.ContainsFunc(in.limits, func(l inheritedLimit) bool { return l.number == number })
	}
	for _, number := range hindering {
		was := inheritedLimit{number: number}
		if unix.Getrlimit(number, &was.Rlimit) != nil || was.Cur == unix.RLIM_INFINITY && was.Max == unix.RLIM_INFINITY {
			continue
		}
		// The number of processes is usually the same for all, and no reason to start a worker in two steps.
		if number == unix.RLIMIT_NPROC && was.Cur == was.Max {
			continue
		}
		err := unix.Setrlimit(number, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
		if err != nil && was.Cur != was.Max {
			err = unix.Setrlimit(number, &unix.Rlimit{Cur: was.Max, Max: was.Max})
		}
		if err == nil && !known(number) {
			in.limits = append(in.limits, was)
		}
	}
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &l) != nil || l.Max >= math.MaxInt64 { // infinity, on every system
		return
	}
	// The kernel sends SIGXCPU before the hard limit of processor time ends this process. The worker
	// has the soft limit of the caller.
	in.timeLimit = l.Max
	if !known(unix.RLIMIT_CPU) {
		in.limits = append(in.limits, inheritedLimit{number: unix.RLIMIT_CPU, Rlimit: unix.Rlimit{Cur: l.Max, Max: l.Max}})
	}
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: l.Max - min(spareTime, l.Max/2), Max: l.Max})
}

// spareTime is how much processor time, in seconds, is left to a shim for the end of its worker.
const spareTime = 2

// timeWarning says what follows from a hard limit of processor time; empty if there is none.
func (in *inherited) timeWarning() string {
	if in.timeLimit == 0 {
		return ""
	}
	return "the hard limit of CPU time of the caller (" + seconds(in.timeLimit) + ") also holds for the shim, which ends the worker before that"
}

func seconds(n uint64) string { return strconv.FormatUint(n, 10) + "s" }

// outOfTime ends the worker because the shim has nearly used up its own processor time: nothing can
// do its work after it, and an end without a shim leaves processes behind and has no exit code.
func (k *shim) outOfTime() {
	limit := k.inherited.timeLimit
	var used unix.Rusage
	if limit == 0 || unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return
	}
	spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	// Any process of the user can send the signal.
	if spent < time.Duration(limit-min(spareTime, limit/2))*time.Second*9/10 {
		return
	}
	k.beginOnce(swarm.CauseShutdown, "the shim has used up its CPU time, of which the caller's hard limit allows "+seconds(limit), unix.SIGTERM)
}

// mostOutput returns the limit of the log for a shim whose files may not have any size: without
// that, the newest output would be lost instead of the oldest.
func mostOutput(limit int64) int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &l) != nil || l.Cur >= math.MaxInt64/rundir.Segments {
		return limit
	}
	if limit <= 0 {
		limit = rundir.DefaultOutputLimit
	}
	return min(limit, int64(l.Cur)*rundir.Segments)
}
