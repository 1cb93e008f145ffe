package server

import (
	"slices"

	"golang.org/x/sys/unix"
)

// raise raises the limits that hinder this process, see [inheritedLimit.hinders], as far as it may:
// without the capability for resources that is up to the hard ones. The worker gets them as they
// were. A caller that limits processor time means its programs: the time of a shim adds up for as
// long as its worker lives. SIGXCPU and SIGXFSZ are caught; nothing helps against a hard limit
// that can't be raised.
func (in *inherited) raise() {
	for _, number := range []int{unix.RLIMIT_CPU, unix.RLIMIT_FSIZE, unix.RLIMIT_DATA, unix.RLIMIT_AS} {
		was := inheritedLimit{number: number}
		if unix.Getrlimit(number, &was.Rlimit) != nil || was.Cur == unix.RLIM_INFINITY && was.Max == unix.RLIM_INFINITY {
			continue
		}
		err := unix.Setrlimit(number, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
		if err != nil && was.Cur != was.Max {
			err = unix.Setrlimit(number, &unix.Rlimit{Cur: was.Max, Max: was.Max})
		}
		known := slices.ContainsFunc(in.limits, func(l inheritedLimit) bool { return l.number == number })
		if err == nil && !known {
			in.limits = append(in.limits, was)
		}
	}
}
