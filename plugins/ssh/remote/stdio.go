package remote

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// TakeStdio returns the standard input and output as one connection. Neither is the
// standard input or output of this process any more: what it writes there is lost.
func TakeStdio() (net.Conn, error) {
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	out, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	for _, fd := range []int{in, out} {
		// A read that blocks could not be ended by closing the connection.
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	for _, fd := range []int{0, 1} {
		if err := dup(int(null.Fd()), fd); err != nil {
			return nil, err
		}
	}
	return NewConn(os.NewFile(uintptr(in), "stdin"), os.NewFile(uintptr(out), "stdout")), nil
}

type pipes struct {
	in, out *os.File
	once    sync.Once
}

// NewConn returns a connection that reads from in and writes to out, and closes both at its end.
func NewConn(in, out *os.File) net.Conn { return &pipes{in: in, out: out} }

func (p *pipes) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p *pipes) Close() (err error) {
	p.once.Do(func() { err = errors.Join(p.out.Close(), p.in.Close()) })
	return err
}

// LocalAddr and RemoteAddr are for logs only.
func (p *pipes) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "stdio", Net: "unix"} }
func (p *pipes) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "stdio", Net: "unix"} }

// Deadlines are kept where the pipes know them; gRPC needs none.
func (p *pipes) SetDeadline(t time.Time) error {
	return errors.Join(p.SetReadDeadline(t), p.SetWriteDeadline(t))
}

func (p *pipes) SetReadDeadline(t time.Time) error {
	_ = p.in.SetReadDeadline(t)
	return nil
}

func (p *pipes) SetWriteDeadline(t time.Time) error {
	_ = p.out.SetWriteDeadline(t)
	return nil
}
