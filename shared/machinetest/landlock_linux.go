package machinetest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// lacksLandlock asks the kernel for the version of Landlock.
func lacksLandlock() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("it needs Landlock: %w", errno)
	}
	return nil
}
