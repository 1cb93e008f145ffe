package proc

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// LookupEnv returns a variable of the environment that a process was started with, and
// whether it is there. It is not there if the process is gone or belongs to another user.
// An error means that the answer is unknown.
func LookupEnv(pid int, name string) (value string, ok bool, err error) {
	fd, err := open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false, unreadable(err)
	}
	defer unix.Close(fd)
	l := lookup{name: name}
	var buf [4096]byte
	for {
		n, err := read(fd, buf[:])
		if err != nil || n == 0 {
			return string(l.value), l.found, unreadable(err)
		}
		if l.feed(buf[:n]) {
			return string(l.value), true, nil
		}
	}
}

// unreadable drops the errors that are an answer.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
