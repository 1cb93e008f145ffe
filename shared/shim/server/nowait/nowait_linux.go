package nowait

import (
	"errors"
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader reads a file whose descriptor is non-blocking. It is for one goroutine at a time. Another
// one may close the file or set its deadline.
type Reader struct{ call }

// Writer writes to such a file.
type Writer struct{ call }

// call is one call of the kernel on the descriptor of a file. It is kept for the next one, so that
// none needs memory.
type call struct {
	conn   syscall.RawConn
	try    func(fd uintptr) bool
	b      []byte
	n      int
	failed syscall.Errno
}

// NewReader returns a reader of a file.
func NewReader(f *os.File) *Reader {
	r := new(Reader)
	r.prepare(f, unix.SYS_READ)
	return r
}

// NewWriter returns a writer to a file.
func NewWriter(f *os.File) *Writer {
	w := new(Writer)
	w.prepare(f, unix.SYS_WRITE)
	return w
}

func (c *call) prepare(f *os.File, number uintptr) {
	c.conn, _ = f.SyscallConn() // it fails for no file that is open
	c.try = func(fd uintptr) bool {
		for {
			n, _, errno := unix.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(c.b))), uintptr(len(c.b)))
			c.n, c.failed = int(n), errno
			if errno != 0 {
				c.n = 0
			}
			if errno != unix.EINTR {
				return errno != unix.EAGAIN
			}
		}
	}
}

// do makes the call once the file is ready for it. The error is [os.ErrDeadlineExceeded] or
// [os.ErrClosed] if it was not made.
func (c *call) do(b []byte, await func(func(fd uintptr) bool) error) (int, error) {
	c.b = b
	err := await(c.try)
	c.b = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return 0, err
	case err != nil:
		return 0, os.ErrClosed
	case c.failed != 0:
		return 0, c.failed
	default:
		return c.n, nil
	}
}

// Read is as [os.File.Read].
func (r *Reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := r.do(b, r.conn.Read)
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

// Write is as [os.File.Write]: it writes all of b, or returns an error.
func (w *Writer) Write(b []byte) (int, error) {
	for done := 0; ; {
		n, err := w.do(b[done:], w.conn.Write)
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}
