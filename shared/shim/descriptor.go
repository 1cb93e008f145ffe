package shim

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

// CloseOnExec sees to it that no process which this one starts inherits more
// descriptors than it is given. Those that Go opens are safe; those that this
// process was started with are not, and a worker that held one of them would
// keep its other end waiting for as long as it lives.
//
// [Start] calls it; a backend that has somebody else start the shim calls it
// before it starts that one.
var CloseOnExec = sync.OnceValue(func() error {
	// Both Linux and darwin list this process's descriptors here.
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			// One that was closed meanwhile was not inherited.
			syscall.CloseOnExec(fd)
		}
	}
	return nil
})
