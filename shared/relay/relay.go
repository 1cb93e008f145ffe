package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a connection of which one direction can be ended alone.
type Conn interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Copy passes bytes from in to conn and from conn to out. The end of in ends what is sent through conn, and the end of
// what comes from conn closes out. Copy closes conn and returns once both directions have ended, or
// with the first error: a read from in may be in progress then.
func Copy(conn Conn, in io.Reader, out io.WriteCloser) error {
	defer func() { _ = conn.Close() }()
	ended := make(chan error, 2)
	go func() {
		_, err := io.Copy(conn, in)
		ended <- errors.Join(err, ignoreClosed(conn.CloseWrite()))
	}()
	go func() {
		_, err := io.Copy(out, conn)
		ended <- errors.Join(err, out.Close())
	}()
	if err := <-ended; err != nil {
		return err
	}
	return <-ended
}

// ignoreClosed returns nil if the other side of a connection has closed it before.
func ignoreClosed(err error) error {
	if errors.Is(err, syscall.ENOTCONN) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// dialLimit is how long a program on this machine may take to accept a connection.
const dialLimit = 10 * time.Second

// Dial connects with a port on the loopback addresses of the network that this process is in, of which IPv4 comes
// first.
func Dial(ctx context.Context, port int) (Conn, error) {
	dialer := net.Dialer{Timeout: dialLimit}
	var first error
	for _, loopback := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		conn, err := dialer.DialTCP(ctx, "tcp", netip.AddrPort{}, netip.AddrPortFrom(loopback, uint16(port)))
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	if errors.Is(first, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("no program listens on port %d: %w", port, syscall.ECONNREFUSED)
	}
	return nil, first
}

// Verb is the first argument of a program that calls [PortMain] with the others.
const Verb = "connect-port"

// Args returns the arguments of the program that connects with a port.
func Args(port int) []string { return []string{Verb, strconv.Itoa(port)} }

// PortMain is [Main] for a port of the network that this process is in, see [Dial] and [Args]. A further argument is
// written to the standard output in a line of its own, once the port is connected.
func PortMain(args []string) int {
	return Main(func(ctx context.Context) (Conn, error) {
		if len(args) != 1 && len(args) != 2 {
			return nil, errors.New("expected a port")
		}
		port, err := strconv.ParseUint(args[0], 10, 16)
		if err != nil {
			return nil, fmt.Errorf("expected a port: %w", err)
		}
		conn, err := Dial(ctx, int(port))
		if err == nil && len(args) == 2 {
			_, err = fmt.Printf("\n%s\n", args[1]) //nolint:forbidigo // for the program that reads it
		}
		return conn, err
	})
}

// Main connects the standard streams of this process with a connection, and returns the exit code of the process.
// The connection ends when no process reads the standard output any more, even if nothing is written.
func Main(dial func(context.Context) (Conn, error)) int {
	conn, err := dial(context.Background())
	if err == nil {
		var out *watched
		if out, err = watch(os.Stdout, conn); err == nil {
			err = Copy(conn, os.Stdin, out)
		}
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
	return 1
}

// watched is a pipe that closes a connection when its other end is closed.
type watched struct {
	*os.File
	left  *os.File      // its other end is polled together with the pipe
	ended chan struct{} // closed when nothing is polled any more
}

func watch(f *os.File, conn Conn) (*watched, error) {
	polled, left, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &watched{File: f, left: left, ended: make(chan struct{})}
	ends := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(polled.Fd())}}
	go func() {
		defer close(w.ended)
		defer polled.Close()
		for {
			_, err := unix.Poll(ends, -1)
			if ends[0].Revents != 0 {
				_ = conn.Close()
			}
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return w, nil
}

// Close ends the watch first: a pipe that is polled stays open.
func (w *watched) Close() error {
	_ = w.left.Close()
	<-w.ended
	return w.File.Close()
}
