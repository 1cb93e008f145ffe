// Package tail keeps the last of what a worker writes to the terminal of a container engine,
// and sends it to every client of a socket. An engine that writes whole lines into its
// log has the line that is not complete yet in its memory alone.
//
// It is part of the program swarm-shim, which swarm-plugin-container starts for it. The
// formats are in [github.com/swarmhost/swarm/shared/shim/rundir].
package tail

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// The descriptors that the program is started with.
const (
	streamFD = 3 + iota
	clientsFD
)

// Main keeps the end of the stream that it inherited until the stream ends, and returns the
// exit code of the program.
func Main() int {
	// It waits nearly all the time, and each processor costs memory.
	runtime.GOMAXPROCS(1)
	if err := keep(streamFD, clientsFD); err != nil {
		os.Stderr.WriteString("swarm-shim: keep the end of a terminal: " + err.Error() + "\n")
		return 1
	}
	return 0
}

// keep reads a stream until it ends, and answers the clients of a socket.
func keep(stream, clients int) error {
	for _, fd := range []int{stream, clients} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	var e end
	buf := make([]byte, 32<<10)
	for {
		ready := []unix.PollFd{{Fd: int32(stream), Events: unix.POLLIN}, {Fd: int32(clients), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("poll", err)
		}
		// The stream is read first, so that an answer has all that was written.
		for ready[0].Revents != 0 {
			n, err := unix.Read(stream, buf)
			if n > 0 {
				e.add(buf[:n])
				continue
			}
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			return os.NewSyscallError("read", err) // nil at the end of the stream
		}
		if ready[1].Revents != 0 {
			answer(clients, &e)
		}
	}
}

// answer sends one client the current end of the stream. It fits into the buffer of a socket. A
// client that gets less notices it by the size.
func answer(clients int, e *end) {
	fd, _, err := unix.Accept(clients)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if unix.SetNonblock(fd, true) == nil {
		_, _ = unix.Write(fd, e.message())
	}
}

// end holds the last bytes of a stream.
type end struct {
	total uint64
	last  []byte
}

// add adds what the stream had next.
func (e *end) add(data []byte) {
	e.total += uint64(len(data))
	e.last = append(e.last, data...)
	// Only now and then, so that not every piece moves all bytes.
	if more := len(e.last) - rundir.MaxTail; more > rundir.MaxTail {
		e.last = e.last[:copy(e.last, e.last[more:])]
	}
}

// message returns the size of the stream so far, and its last bytes.
func (e *end) message() []byte {
	last := e.last[max(0, len(e.last)-rundir.MaxTail):]
	return append(binary.BigEndian.AppendUint64(nil, e.total), last...)
}
