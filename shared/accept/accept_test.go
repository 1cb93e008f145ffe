package accept_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/shared/accept"
)

// failer is a listener that fails a number of times.
type failer struct {
	net.Listener
	err   error
	times int
}

func (f *failer) Accept() (net.Conn, error) {
	if f.times == 0 {
		c, _ := net.Pipe()
		return c, nil
	}
	f.times--
	return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", f.err)}
}

// Errors that pass are outlived, however often they come, and reported once.
func TestNextOutlivesErrorsThatPass(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR, syscall.EPERM, syscall.EPROTO} {
		synctest.Test(t, func(t *testing.T) {
			begun, reported := time.Now(), 0
			c, got := accept.Next(&failer{err: err, times: 20}, func(err error) {
				reported++
				if err == nil {
					t.Error("reported nil")
				}
			})
			if got != nil || c == nil || reported != 1 {
				t.Errorf("%v: returned %v, reported %d times", err, got, reported)
			}
			if took := time.Since(begun); took < 5*time.Second || took > 20*time.Second {
				t.Errorf("%v: 20 attempts took %s", err, took)
			}
		})
	}
}

// A listener that was closed, or a file that is not a listener, ends the server.
func TestNextEnds(t *testing.T) {
	t.Parallel()
	for _, err := range []error{net.ErrClosed, syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK, io.EOF} {
		if _, got := accept.Next(&failer{err: err, times: 1}, nil); !errors.Is(got, err) {
			t.Errorf("%v: returned %v", err, got)
		}
	}
}
