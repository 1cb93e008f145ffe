//go:build shimfail

package keeper

import (
	"os"

	"golang.org/x/sys/unix"
)

// failpoint kills the shim, as nothing can be prepared for, at the point that a
// test names in the environment.
func failpoint(name string) {
	if os.Getenv("SWARM_SHIM_FAIL") == name {
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
}
