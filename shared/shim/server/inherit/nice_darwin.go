package inherit

import (
	"golang.org/x/sys/unix"
)

func reNice(nice int) { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice) }
