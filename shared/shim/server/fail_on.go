//go:build shimfail

package server

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A test makes hangFile to let the shim hang at the point "writing", as a disk may, for as
// long as the file exists. The shim makes hangingFile when it hangs.
const hangFile, hangingFile = "hang", "hanging"

// failpoint kills the shim, without a chance to clean up, at the point that a test names in
// the environment.
func failpoint(name string) {
	for name == "writing" {
		if _, err := os.Lstat(hangFile); err != nil {
			break
		}
		_ = os.WriteFile(hangingFile, nil, 0o600)
		time.Sleep(10 * time.Millisecond)
	}
	if os.Getenv("SWARM_SHIM_FAIL") == name {
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
}
