package server

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// inherited is what the worker of a shim which another program has started inherits from its
// caller, as the launch file has it. Changes that this user may not make are left out, such as to raise a
// hard limit or to lower the nice value.
type inherited struct {
	limits []inheritedLimit
	// timeLimit is the hard limit of the shim's own processor time, in seconds; 0 if there is none.
	timeLimit uint64
}

type inheritedLimit struct {
	number int
	unix.Rlimit
}

// inherit takes over what also holds for the shim itself, as it does for one that the caller has
// started: the umask, the nice value, the score and hard limits. Soft limits are for the worker
// alone, and so are those limits under which the shim could not do its work.
func inherit(entries []string) inherited {
	var in inherited
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

// lend gives this process the soft limits of the worker that do not hinder it, until the returned function is called: a
// worker that is started in between inherits them.
func (in inherited) lend() (takeBack func()) {
	var before []inheritedLimit
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
			before = append(before, inheritedLimit{number: l.number, Rlimit: now})
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
func (l inheritedLimit) hinders() bool { return slices.Contains(hindering, l.number) }

// lowerHard sets the hard limit of this process, or raises it if the user may do that.
func (l inheritedLimit) lowerHard() {
	var now unix.Rlimit
	if l.hinders() || unix.Getrlimit(l.number, &now) != nil || now.Max == l.Max {
		return
	}
	_ = unix.Setrlimit(l.number, &unix.Rlimit{Cur: min(now.Cur, l.Max), Max: l.Max})
}

// apart returns, as one word, the limits that hinder the shim and that are not its own: a worker with
// them is started in two steps. Empty: there are none.
func (in inherited) apart() string {
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

// setApart sets for this process what apart returned, as far as the user may.
func setApart(word string) error {
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
func parseLimit(text, separator string) (l inheritedLimit, ok bool) {
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
