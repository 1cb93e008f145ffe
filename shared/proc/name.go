package proc

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName returns the name of a signal, such as "SIGTERM", and "SIG35" or the
// like for one that has none.
func SignalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(sig))
}

// SignalNumber returns the signal of that full name, 0 if this system has none.
func SignalNumber(name string) syscall.Signal { return unix.SignalNum(name) }

// ExitCode returns the exit code of a process as a shell reports it: its own, or 128 plus
// the number of the signal with that full name which ended it.
func ExitCode(code int, signal string) int {
	if signal == "" {
		return code
	}
	return 128 + int(SignalNumber(signal))
}
