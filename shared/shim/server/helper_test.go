//go:build linux

package server_test

import (
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// envHelper makes the test program something else than a test.
const envHelper = "SWARM_SHIM_TEST_HELPER"

// help is what the test program does as a helper.
func help() int {
	switch os.Getenv(envHelper) {
	case "hostile-parent":
		return hostileParent()
	case "disk-full":
		if err := diskFull(os.Args[1], os.Args[2]); err != nil {
			os.Stderr.WriteString(err.Error())
			return 1
		}
		return 0
	default:
		return 99
	}
}

// hostileParent turns into a shim with all that a careless parent leaves behind:
// blocked and ignored signals.
func hostileParent() int {
	runtime.LockOSThread()
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE, unix.SIGUSR1,
		unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCHLD, unix.SIGWINCH, unix.SIGALRM)
	var mask unix.Sigset_t
	for i := range mask.Val {
		mask.Val[i] = ^uint64(0)
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &mask, nil); err != nil {
		return 98
	}
	if err := os.Unsetenv(envHelper); err != nil {
		return 96
	}
	if err := unix.Exec(os.Args[1], os.Args[1:], os.Environ()); err != nil {
		return 97
	}
	return 0
}
