// Package accept takes the connections of a listener, and outlives errors that pass.
package accept

import (
	"errors"
	"net"
	"slices"
	"syscall"
	"time"
)

const (
	// firstPause is the pause after an error; it doubles with each error that follows, up to
	// maxPause.
	firstPause = 5 * time.Millisecond
	maxPause   = time.Second
)

// permanent are the errors that a later attempt would meet again: the listener is closed, or
// the file is not a listener.
var permanent = []error{net.ErrClosed, syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK, syscall.EOPNOTSUPP, syscall.EFAULT}

// Next returns the next connection of l. An error that passes, such as too many open files or a
// lack of memory, does not end a server: Next waits and tries again, for as long as it
// takes, while the client stays in the queue. failed is called with the first error of each
// call; it may be nil. To end Next, close l: it returns an error then, within a second.
func Next(l net.Listener, failed func(error)) (net.Conn, error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		c, err := l.Accept()
		if err == nil {
			return c, nil
		}
		if !passes(err) {
			return nil, err
		}
		if failed != nil {
			failed(err)
			failed = nil
		}
		time.Sleep(pause)
	}
}

// passes reports whether a later attempt can succeed. Only errors of the operating system can.
func passes(err error) bool {
	_, isErrno := errors.AsType[syscall.Errno](err)
	return isErrno && !slices.ContainsFunc(permanent, func(p error) bool { return errors.Is(err, p) })
}
