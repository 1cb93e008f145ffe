package host

import (
	"os"
	"strconv"
)

// keeperDir returns the run directory of a keeper, which works in it, or any
// other directory for another process.
func keeperDir(pid int) string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return ""
	}
	return dir
}
