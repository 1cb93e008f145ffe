package swarm

import (
	"slices"
	"strconv"
	"strings"
)

// signals are the names that a kill may use, the same on every system; the
// numbers are those that POSIX fixes.
var signals = []struct {
	name   string
	number string
}{
	{"SIGHUP", "1"},
	{"SIGINT", "2"},
	{"SIGQUIT", "3"},
	{"SIGABRT", "6"},
	{"SIGKILL", "9"},
	{"SIGALRM", "14"},
	{"SIGTERM", "15"},
	{"SIGUSR1", ""},
	{"SIGUSR2", ""},
	{"SIGCONT", ""},
	{"SIGSTOP", ""},
	{"SIGTSTP", ""},
	{"SIGTTIN", ""},
	{"SIGTTOU", ""},
	{"SIGWINCH", ""},
	{"SIGPIPE", ""},
	{"SIGCHLD", ""},
	{"SIGTRAP", ""},
	{"SIGBUS", ""},
	{"SIGFPE", ""},
	{"SIGILL", ""},
	{"SIGSEGV", ""},
	{"SIGSYS", ""},
	{"SIGURG", ""},
	{"SIGVTALRM", ""},
	{"SIGPROF", ""},
	{"SIGXCPU", ""},
	{"SIGXFSZ", ""},
	{"SIGIO", ""},
}

// ParseSignal returns the full name of a signal given as "SIGTERM", "TERM", in
// any case, or as one of the numbers that POSIX fixes, such as "15". Anything
// else is [ErrInvalidSpec].
func ParseSignal(s string) (string, error) {
	name := strings.ToUpper(s)
	for _, sig := range signals {
		if name == sig.name || "SIG"+name == sig.name || s != "" && s == sig.number {
			return sig.name, nil
		}
	}
	return "", &specError{"unknown signal " + strconv.Quote(s) + " (try SIGTERM, SIGINT, SIGHUP or SIGKILL)"}
}

// Signals returns the names that [ParseSignal] knows, sorted.
func Signals() []string {
	names := make([]string, len(signals))
	for i, s := range signals {
		names[i] = s.name
	}
	slices.Sort(names)
	return names
}
