package record

import (
	"os"

	"golang.org/x/sys/unix"
)

// punch makes a hole of a part of a file, on other systems.
func punch(*os.File, int64, int64) error { return unix.ENOTSUP }
