package shim

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

// CloseOnExec makes sure that processes which this one starts inherit only the descriptors
// that they are given. Those that Go opens are safe; those that this process was started
// with are not, and a worker that held one of them would keep its other end waiting until
// the worker ends.
//
// [Start] calls it; a backend whose shim is started by another program calls it before it
// starts that program.
var CloseOnExec = sync.OnceValue(func() error {
	// Both Linux and darwin list this process's descriptors here.
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			// The descriptor was closed meanwhile, so it is not inherited.
			syscall.CloseOnExec(fd)
		}
	}
	return nil
})
