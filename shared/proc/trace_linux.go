package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

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

// HasClearedEnv reports whether a process was started with an environment that is
// empty, or holds nothing but what shells put into an empty one and a PATH. It is false
// for a kernel thread, and for a process that can't be looked into.
func HasClearedEnv(pid int) bool {
	if _, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err != nil {
		return false
	}
	const limit = 16 << 10
	var env []byte
	err := readEnv(pid, func(chunk []byte) bool {
		env = append(env, chunk...)
		return len(env) >= limit
	})
	if err != nil || len(env) >= limit {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		name, _, _ := bytes.Cut(entry, []byte{'='})
		switch string(name) {
		case "", "PWD", "OLDPWD", "SHLVL", "_", "PATH":
		default:
			return false
		}
	}
	return true
}

// HoldsClosed reports whether a process has the terminal with this device number open while
// the other side of it is closed. If the other side is open, the number may belong to
// another terminal by now. It returns false for 0.
func HoldsClosed(pid int, terminal uint64) bool {
	return terminal != 0 && holds(pid, func(path string, st *unix.Stat_t) bool {
		if st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != terminal {
			return false
		}
		name, err := os.Readlink(path)
		return err == nil && strings.HasSuffix(name, " (deleted)")
	})
}

// HoldsPipe reports whether a process has one of these pipes open, by their inode numbers.
// An inode number of 0 matches nothing.
func HoldsPipe(pid int, inodes ...uint64) bool {
	return holds(pid, func(_ string, st *unix.Stat_t) bool {
		return st.Mode&unix.S_IFMT == unix.S_IFIFO && st.Ino != 0 && slices.Contains(inodes, st.Ino)
	})
}

// holds reports whether match is true for one of the open files of a process.
func holds(pid int, match func(path string, st *unix.Stat_t) bool) bool {
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
			if path := dir + "/" + name; unix.Stat(path, &st) == nil && match(path, &st) {
				return true
			}
		}
		if err != nil || len(names) == 0 {
			return false
		}
	}
}
