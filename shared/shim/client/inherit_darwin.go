package client

import "golang.org/x/sys/unix"

// fileLimitOf fails: no call reads the limits of another process here.
func fileLimitOf(int, *unix.Rlimit) error { return unix.ENOTSUP }
