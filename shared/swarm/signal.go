package swarm

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The real-time signals of Linux, as programs that use the GNU C library number them: the first
// one is SIGRTMIN, and the last one SIGRTMAX.
const (
	realTimeFirst = 34
	realTimeLast  = 64
)

// aliases are further names of signals.
var aliases = map[string]string{"SIGIOT": "SIGABRT", "SIGCLD": "SIGCHLD", "SIGPOLL": "SIGIO"}

// ParseSignal returns the full name of a signal. It is given as "SIGTERM" or "TERM", in any case;
// as a number, such as "15", which means the signal that has this number on this system; or as a
// real-time signal, such as "RTMIN+3" or "SIGRTMAX-1". The name of a real-time signal is
// "SIGRTMIN" or "SIGRTMIN+3", also if it was given as a number or from the other end. Anything
// else is [ErrInvalidSpec].
//
// A backend whose engine does not know a signal, such as a real-time one, refuses it with
// [ErrInvalidSpec], and never sends another one.
func ParseSignal(s string) (string, error) {
	name := "SIG" + strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if other, ok := aliases[name]; ok {
		name = other
	}
	if slices.Contains(signals, name) || slices.Contains(slices.Collect(maps.Values(numbers)), name) {
		return name, nil
	}
	n, err := strconv.Atoi(s)
	if err == nil && s == strconv.Itoa(n) {
		if name, ok := numbers[n]; ok {
			return name, nil
		}
	} else {
		n = realTime(name)
	}
	if n >= realTimeFirst && n <= realTimeLast {
		return realTimeName(n), nil
	}
	return "", &specError{"unknown signal " + strconv.Quote(s) + " (try SIGTERM, SIGINT, SIGHUP or SIGKILL)"}
}

// IsRealTime reports whether a name that [ParseSignal] returned is the name of a real-time signal,
// which many engines do not know.
func IsRealTime(name string) bool { return realTime(name) != 0 }

func realTimeName(n int) string {
	if n == realTimeFirst {
		return "SIGRTMIN"
	}
	return "SIGRTMIN+" + strconv.Itoa(n-realTimeFirst)
}

// realTime returns the number of a real-time signal, and 0 for another name.
func realTime(name string) int {
	const last = realTimeLast - realTimeFirst
	from, sign := realTimeFirst, "+"
	offset, ok := strings.CutPrefix(name, "SIGRTMIN")
	if !ok {
		from, sign = realTimeLast, "-"
		if offset, ok = strings.CutPrefix(name, "SIGRTMAX"); !ok {
			return 0
		}
	}
	if offset == "" {
		return from
	}
	digits, ok := strings.CutPrefix(offset, sign)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > last || digits != strconv.Itoa(n) {
		return 0
	}
	if sign == "-" {
		n = -n
	}
	return from + n
}
