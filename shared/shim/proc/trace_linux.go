package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Dir returns the working directory of a process, empty if it can't be read.
func Dir(pid int) string {
	dir, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return dir
}

// File returns a path by which a file in the working directory of a process is
// opened, in whatever mount namespace the process is; empty if there is none.
func File(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/cwd/" + name }

// HasNoEnv reports whether a process was started with an empty environment. It is
// false for a kernel thread, and for a process that can't be looked into.
func HasNoEnv(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	if _, err := os.Readlink(dir + "/exe"); err != nil {
		return false
	}
	var buf [1]byte
	n, err := readSome(dir+"/environ", buf[:])
	return err == nil && n == 0
}

// HoldsPipe reports whether a process has one of these pipes open, by their inode
// numbers. 0 is no pipe.
func HoldsPipe(pid int, inodes ...uint64) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(100)
		for _, name := range names {
			var st unix.Stat_t
			if unix.Stat(dir+"/"+name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
				continue
			}
			for _, inode := range inodes {
				if inode != 0 && st.Ino == inode {
					return true
				}
			}
		}
		if err != nil || len(names) == 0 {
			return false
		}
	}
}
