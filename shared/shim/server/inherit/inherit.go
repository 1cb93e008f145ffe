// Package inherit gives a worker what it would inherit from the process that asked for it, although a
// shim, with limits of its own, is its parent.
package inherit

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// Inherited is what the worker of a shim which another program has started inherits from its
// caller, as the launch file has it. Changes that this user may not make are left out, such as to raise a
// hard limit or to lower the nice value.
type Inherited struct {
	limits []limit
	// Time is the hard limit of the shim's own processor time, in seconds; 0 if there is none.
	Time uint64
}

type limit struct {
	number int
	unix.Rlimit
}

// Take takes over what also holds for the shim itself, as it does for one that the caller has
// started: the umask, the nice value, the score and hard limits. Soft limits are for the worker
// alone, and so are those limits under which the shim could not do its work.
func Take(entries []string) Inherited {
	var in Inherited
	for _, entry := range entries {
		switch kind, rest, _ := strings.Cut(entry, " "); kind {
		case rundir.InheritUmask:
			if n, err := strconv.ParseUint(rest, 8, 16); err == nil {
				unix.Umask(int(n & 0o777))
			}
		case rundir.InheritNice:
			if n, err := strconv.Atoi(rest); err == nil {
				reNice(n)
			}
		case rundir.InheritScore:
			_ = os.WriteFile("/proc/self/oom_score_adj", []byte(rest), 0o600)
		case rundir.InheritLimit:
			if l, ok := parseLimit(rest, " "); ok && l.Cur <= l.Max {
				in.limits = append(in.limits, l)
				l.lowerHard()
			}
		}
	}
	return in
}

// Lend gives this process the soft limits of the worker that do not hinder it, until the returned function is called: a
// worker that is started in between inherits them.
func (in Inherited) Lend() (takeBack func()) {
	var before []limit
	for _, l := range in.limits {
		var now unix.Rlimit
		if l.hinders() || unix.Getrlimit(l.number, &now) != nil {
			continue
		}
		lent := unix.Rlimit{Cur: min(l.Cur, now.Max), Max: now.Max}
		if l.number != unix.RLIMIT_NOFILE && lent == now {
			continue
		}
		if unix.Setrlimit(l.number, &lent) == nil {
			before = append(before, limit{number: l.number, Rlimit: now})
		}
	}
	return func() {
		for _, l := range before {
			_ = unix.Setrlimit(l.number, &l.Rlimit)
		}
	}
}

// hindering are the limits under which the shim itself could fail: it must write logs of any size,
// live for any time, and start threads and processes.
var hindering = []int{unix.RLIMIT_CPU, unix.RLIMIT_FSIZE, unix.RLIMIT_DATA, unix.RLIMIT_AS, unix.RLIMIT_NPROC}

// hinders reports whether the limit is one of those.
func (l limit) hinders() bool { return slices.Contains(hindering, l.number) }

// lowerHard sets the hard limit of this process, or raises it if the user may do that.
func (l limit) lowerHard() {
	var now unix.Rlimit
	if l.hinders() || unix.Getrlimit(l.number, &now) != nil || now.Max == l.Max {
		return
	}
	_ = unix.Setrlimit(l.number, &unix.Rlimit{Cur: min(now.Cur, l.Max), Max: l.Max})
}

// Apart returns, as one word, the limits that hinder the shim and that are not its own: a worker with
// them is started in two steps. Empty: there are none.
func (in Inherited) Apart() string {
	var words []string
	for _, l := range in.limits {
		var now unix.Rlimit
		if l.hinders() && unix.Getrlimit(l.number, &now) == nil && l.Rlimit != now {
			words = append(words, strings.Join([]string{
				strconv.Itoa(l.number), strconv.FormatUint(l.Cur, 10), strconv.FormatUint(l.Max, 10),
			}, ":"))
		}
	}
	return strings.Join(words, ",")
}

// SetApart sets for this process what [Inherited.Apart] returned, as far as the user may.
func SetApart(word string) error {
	for one := range strings.SplitSeq(word, ",") {
		want, ok := parseLimit(one, ":")
		if !ok || unix.Setrlimit(want.number, &want.Rlimit) == nil {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(want.number, &now); err != nil {
			return err
		}
		if err := unix.Setrlimit(want.number, &unix.Rlimit{Cur: min(want.Cur, now.Max), Max: min(want.Max, now.Max)}); err != nil {
			return err
		}
	}
	return nil
}

// parseLimit reads the number of a limit, the soft limit and the hard one.
func parseLimit(text, separator string) (l limit, ok bool) {
	words := strings.Split(text, separator)
	if len(words) != 3 {
		return l, false
	}
	var err1, err2, err3 error
	l.number, err1 = strconv.Atoi(words[0])
	l.Cur, err2 = strconv.ParseUint(words[1], 10, 64)
	l.Max, err3 = strconv.ParseUint(words[2], 10, 64)
	return l, err1 == nil && err2 == nil && err3 == nil
}

// Raise raises the limits that hinder this process, see [limit.hinders], as far as it may:
// without the capability for resources that is up to the hard ones. The worker gets them as they
// were. A caller that limits processor time means its programs: the time of a shim adds up for as
// long as its worker lives.
func (in *Inherited) Raise() {
	known := func(number int) bool {
		return slices.ContainsFunc(in.limits, func(l limit) bool { return l.number == number })
	}
	for _, number := range hindering {
		was := limit{number: number}
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
	in.Time = l.Max
	if !known(unix.RLIMIT_CPU) {
		in.limits = append(in.limits, limit{number: unix.RLIMIT_CPU, Rlimit: unix.Rlimit{Cur: l.Max, Max: l.Max}})
	}
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: l.Max - min(SpareTime, l.Max/2), Max: l.Max})
}

// SpareTime is how much processor time, in seconds, is left to a shim for the end of its worker.
const SpareTime = 2

// Warning says what follows from a hard limit of processor time; empty if there is none.
func (in *Inherited) Warning() string {
	if in.Time == 0 {
		return ""
	}
	return "the hard limit of CPU time of the caller (" + strconv.FormatUint(in.Time, 10) + "s" + ") also holds for the shim, which ends the worker before that"
}
