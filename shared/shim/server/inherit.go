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
		kind, rest, _ := strings.Cut(entry, " ")
		words := strings.Split(rest, " ")
		switch {
		case kind == rundir.InheritUmask:
			if n, err := strconv.ParseUint(rest, 8, 16); err == nil {
				unix.Umask(int(n & 0o777))
			}
		case kind == rundir.InheritNice:
			if n, err := strconv.Atoi(rest); err == nil {
				reNice(n)
			}
		case kind == rundir.InheritScore:
			_ = os.WriteFile("/proc/self/oom_score_adj", []byte(rest), 0o600)
		case kind == rundir.InheritLimit && len(words) == 3:
			number, err1 := strconv.Atoi(words[0])
			soft, err2 := strconv.ParseUint(words[1], 10, 64)
			hard, err3 := strconv.ParseUint(words[2], 10, 64)
			if err1 == nil && err2 == nil && err3 == nil && soft <= hard {
				l := inheritedLimit{number: number, Rlimit: unix.Rlimit{Cur: soft, Max: hard}}
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
		fields := strings.Split(one, ":")
		if len(fields) != 3 {
			continue
		}
		number, err1 := strconv.Atoi(fields[0])
		soft, err2 := strconv.ParseUint(fields[1], 10, 64)
		hard, err3 := strconv.ParseUint(fields[2], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		want := unix.Rlimit{Cur: soft, Max: hard}
		if err := unix.Setrlimit(number, &want); err == nil {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(number, &now); err != nil {
			return err
		}
		want = unix.Rlimit{Cur: min(soft, now.Max), Max: min(hard, now.Max)}
		if err := unix.Setrlimit(number, &want); err != nil {
			return err
		}
	}
	return nil
}
