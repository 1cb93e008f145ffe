package container

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime returns when the machine was started; zero if that is not known.
func bootTime() time.Time {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(t.Nano()))
}
