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
