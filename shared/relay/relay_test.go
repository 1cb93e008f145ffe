package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMain is also the program that connects its standard streams with a port.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(PortMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// listen returns a listener on a loopback address and its port.
func listen(t *testing.T, address string) (*net.TCPListener, int) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Skipf("this machine has no %s: %v", address, err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*net.TCPListener), l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of TCP
}

// program returns the program for a port, its standard streams and what it writes to its standard error.
func program(t *testing.T, port int) (cmd *exec.Cmd, in io.WriteCloser, out io.ReadCloser, errs *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), self, Args(port)...)
	errs = &bytes.Buffer{}
	cmd.Stderr = errs
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return cmd, in, out, errs
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestHalves ends each direction first, once: the other one stays open.
func TestHalves(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1", "::1"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			l, port := listen(t, address)
			cmd, in, out, errs := program(t, port)
			conn := must[*net.TCPConn](t)(l.AcceptTCP())
			must[int](t)(io.WriteString(in, "a\x00b\r\n"))
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			if got := must[[]byte](t)(io.ReadAll(conn)); string(got) != "a\x00b\r\n" {
				t.Errorf("the port got %q", got)
			}
			must[int](t)(io.WriteString(conn, "answer"))
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if got := must[[]byte](t)(io.ReadAll(out)); string(got) != "answer" {
				t.Errorf("the program wrote %q", got)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, errs)
			}

			cmd, in, out, errs = program(t, port)
			conn = must[*net.TCPConn](t)(l.AcceptTCP())
			must[int](t)(io.WriteString(conn, "greeting"))
			if err := conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if got := must[[]byte](t)(io.ReadAll(out)); string(got) != "greeting" {
				t.Errorf("the program wrote %q", got)
			}
			must[int](t)(io.WriteString(in, "later"))
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			if got := must[[]byte](t)(io.ReadAll(conn)); string(got) != "later" {
				t.Errorf("the port got %q", got)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, errs)
			}
		})
	}
}

func TestNoListener(t *testing.T) {
	t.Parallel()
	l, port := listen(t, "127.0.0.1")
	_ = l.Close()
	cmd, _, out, errs := program(t, port)
	got := must[[]byte](t)(io.ReadAll(out))
	want := "no program listens on port " + strconv.Itoa(port) + ": connection refused\n"
	if err := cmd.Wait(); err == nil || len(got) > 0 || errs.String() != want {
		t.Errorf("%v, it wrote %q and %q", err, got, errs)
	}
	if _, err := Dial(t.Context(), port); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
}

// TestNoReader closes the end of the pipe at which the program writes: it ends, although it waits for both directions.
func TestNoReader(t *testing.T) {
	t.Parallel()
	l, port := listen(t, "127.0.0.1")
	cmd, in, out, errs := program(t, port)
	defer func() { _ = in.Close() }()
	conn := must[*net.TCPConn](t)(l.AcceptTCP())
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%v: %q", err, errs)
	}
}

// TestBroken resets the connection.
func TestBroken(t *testing.T) {
	t.Parallel()
	l, port := listen(t, "127.0.0.1")
	cmd, in, _, errs := program(t, port)
	defer func() { _ = in.Close() }()
	conn := must[*net.TCPConn](t)(l.AcceptTCP())
	if err := errors.Join(conn.SetLinger(0), conn.Close()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(errs.String(), "connection reset") {
		t.Errorf("%v: %q", err, errs)
	}
}
