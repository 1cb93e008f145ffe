//go:build !linux

package container

import "time"

// bootTime is not known here.
func bootTime() time.Time { return time.Time{} }
