package client

import "golang.org/x/sys/unix"

func fileLimitOf(pid int, l *unix.Rlimit) error { return unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, l) }
