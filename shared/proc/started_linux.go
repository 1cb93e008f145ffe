package proc

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// maxArgs is how many bytes of a command line [Args] reads.
const maxArgs = 64 << 10

// Args returns the arguments of a process, the program's name first: those that it was
// started with, or put in their place itself. It returns nil if they can't be read, and
// the first ones of a very long command line.
func Args(pid int) []string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := io.ReadAll(io.LimitReader(f, maxArgs))
	if len(line) == 0 {
		return nil
	}
	var args []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		args = append(args, string(arg))
	}
	return args
}

// lookupAll is readEnv, for which an environment that can't be read is an answer.
func lookupAll(pid int, each func([]byte) bool) error {
	err := readEnv(pid, each)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// readEnv reads the environment of a process in pieces, until each returns true.
func readEnv(pid int, each func([]byte) bool) error {
	for try := range execTries {
		read, err := readEnvOnce(pid, each)
		if read || err != nil || hasNoEnv(pid) {
			return err
		}
		if try > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return errors.New("process " + strconv.Itoa(pid) + " keeps becoming another program")
}

// execTries bounds how often an environment is read that the kernel has not yet written.
const execTries = 100

// readEnvOnce returns whether there was anything to read.
func readEnvOnce(pid int, each func([]byte) bool) (found bool, err error) {
	fd, err := open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	var buf [4096]byte
	for {
		n, err := read(fd, buf[:])
		if err != nil || n == 0 {
			return found, err
		}
		if found = true; each(buf[:n]) {
			return true, nil
		}
	}
}

// hasNoEnv reports whether a process whose environment reads as empty has none: it has ended,
// is the kernel's, or was started with none. While a process becomes another program, its
// environment reads as empty too. The kernel writes the bounds of the environment in several
// steps, and the end of the program's code after the last of them.
func hasNoEnv(pid int) bool {
	const state, size, endCode, envStart, envEnd = 3, 23, 27, 50, 51
	var buf [1024]byte
	n, err := readSome("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return true
	}
	fields := bytes.Fields(buf[bytes.LastIndexByte(buf[:n], ')')+1 : n])
	if len(fields) <= envEnd-state {
		return true
	}
	field := func(number int) string { return string(fields[number-state]) }
	return field(state) == "Z" || field(size) == "0" || field(endCode) != "0" && field(envStart) == field(envEnd)
}
