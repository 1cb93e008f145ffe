package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
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
