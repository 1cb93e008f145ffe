// Package fdpass passes the standard streams of a command over a unix socket, from the program that
// asks a shim to run the command to the process that starts it. Only package server and the packages
// below it import it.
package fdpass

import (
	"errors"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// Count is how many descriptors are passed at once: standard input, output and error.
const Count = 3

// Files are descriptors that this process neither reads nor writes: they share their modes with
// those of the sender.
type Files [Count]int

// Close closes them; nil has none.
func (f *Files) Close() {
	if f == nil {
		return
	}
	for _, fd := range f {
		_ = unix.Close(fd)
	}
}

// ErrNone is the error of a byte that came with another number of descriptors.
var ErrNone = errors.New("the standard streams of the command are missing")

// Send writes one byte with descriptors.
func Send(socket int, b byte, f *Files) error {
	return unix.Sendmsg(socket, []byte{b}, unix.UnixRights(f[:]...), nil, 0)
}

// Receive reads the first byte of b with the descriptors that come with it, without waiting for one.
func Receive(socket int, b []byte) (*Files, error) {
	// One more, so that a message with too many is noticed.
	oob := make([]byte, unix.CmsgSpace(4*(Count+1)))
	// No process is started before all of them are this process's alone.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	n, oobn, _, _, err := unix.Recvmsg(socket, b[:1], oob, unix.MSG_DONTWAIT)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, io.EOF
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	for _, m := range messages {
		if more, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, more...)
		}
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	if err != nil || len(fds) != Count {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return nil, ErrNone
	}
	return (*Files)(fds), nil
}
