package swarm

import (
	"slices"
	"strconv"
	"strings"
)

// signals are the names that a kill may use, the same on every system, sorted.
var signals = []string{
	"SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO",
	"SIGKILL", "SIGPIPE", "SIGPROF", "SIGQUIT", "SIGSEGV", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
}

// numbers are the signal numbers that POSIX fixes.
var numbers = map[string]string{
	"1": "SIGHUP", "2": "SIGINT", "3": "SIGQUIT", "6": "SIGABRT", "9": "SIGKILL", "14": "SIGALRM", "15": "SIGTERM",
}

// ParseSignal returns the full name of a signal given as "SIGTERM", "TERM", in
// any case, or as one of the numbers that POSIX fixes, such as "15". Anything
// else is [ErrInvalidSpec].
func ParseSignal(s string) (string, error) {
	name, ok := numbers[s]
	if !ok {
		name = "SIG" + strings.TrimPrefix(strings.ToUpper(s), "SIG")
	}
	if !slices.Contains(signals, name) {
		return "", &specError{"unknown signal " + strconv.Quote(s) + " (try SIGTERM, SIGINT, SIGHUP or SIGKILL)"}
	}
	return name, nil
}

// Signals returns the names that [ParseSignal] knows, sorted.
func Signals() []string { return slices.Clone(signals) }
