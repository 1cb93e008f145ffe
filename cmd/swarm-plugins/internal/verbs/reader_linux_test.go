package verbs

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReader ends a reader of answers, of which Node.js has sockets and other languages pipes. Linux alone reports the end of
// a reader of a pipe.
func TestReader(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*os.File{{read, write}, {os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")}} {
		reader, writer := pair[0], pair[1]
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		awaitReader(writer, cancel)
		if ctx.Err() == nil {
			t.Errorf("%s: the call continues without a reader", writer.Name())
		}
		cancel()
		_ = writer.Close()
	}
}
