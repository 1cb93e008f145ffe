package fdpass

import (
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func pair(t *testing.T) (a, b int) {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Close(ends[0])
		_ = unix.Close(ends[1])
	})
	return ends[0], ends[1]
}

// TestPassed sends three ends of pipes, and writes to what arrives.
func TestPassed(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd := int(w.Fd())
	if err := Send(a, 'x', &Files{fd, fd, fd}); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	buf := []byte("..")
	got, err := Receive(b, buf)
	if err != nil || string(buf) != "x." {
		t.Fatalf("%q, %v", buf, err)
	}
	for _, fd := range got {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("another program would inherit it: %d, %v", flags, err)
		}
		if _, err := unix.Write(fd, []byte("y")); err != nil {
			t.Error(err)
		}
	}
	got.Close()
	if text, err := io.ReadAll(r); string(text) != "yyy" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
}

// TestOtherNumbers sends none, and more than three.
func TestOtherNumbers(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	buf := make([]byte, 1)
	if _, err := Receive(b, buf); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("nothing to read: %v", err)
	}
	for _, fds := range [][]int{{}, {a}, {a, a, a, a}} {
		if err := unix.Sendmsg(a, buf, unix.UnixRights(fds...), nil, 0); err != nil {
			t.Fatal(err)
		}
		if f, err := Receive(b, buf); !errors.Is(err, ErrNone) || f != nil {
			t.Errorf("%d descriptors: %v, %v", len(fds), f, err)
		}
	}
	_ = unix.Shutdown(a, unix.SHUT_WR)
	if _, err := Receive(b, buf); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	(*Files)(nil).Close()
}
