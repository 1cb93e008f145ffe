//go:build shimfail

package server

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hangFile and hangingFile are how a test has the shim hang at the point "writing", as
// a disk may: for as long as there is the one file, which it says by the other.
const hangFile, hangingFile = "hang", "hanging"

// failpoint kills the shim, as nothing can be prepared for, at the point that a
// test names in the environment.
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
