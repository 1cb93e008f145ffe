package server

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// ready is the FIFO on which a process may wait for the start, -1 if none does.
type ready int

func openReady() ready {
	// Not blocking: without a reader, opening fails instead of waiting for one.
	fd, err := unix.Open(rundir.ReadyFIFO, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return ready(fd)
}

// say writes one line, in one piece. It ignores the absence of a reader.
func (r ready) say(text string) {
	if r < 0 {
		return
	}
	line := strings.ReplaceAll(text, "\n", " ")
	if len(line) > rundir.MaxLine-1 {
		line = line[:rundir.MaxLine-1]
	}
	_, _ = unix.Write(int(r), []byte(line+"\n"))
	_ = unix.Close(int(r))
}
