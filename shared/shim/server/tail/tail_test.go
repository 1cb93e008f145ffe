package tail

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

func TestKeep(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	worker := os.NewFile(uintptr(pair[0]), "worker")
	path := filepath.Join(t.TempDir(), rundir.TailSocket)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- keep(pair[1], int(clients.Fd())) }()

	var written []byte
	for _, text := range [][]byte{nil, []byte("one\n"), []byte("$ "), bytes.Repeat([]byte("0123456789\n"), 100_000), []byte("$ ")} {
		if _, err := worker.Write(text); err != nil {
			t.Fatal(err)
		}
		written = append(written, text...)
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		_ = conn.Close()
		if err != nil || len(got) < 8 {
			t.Fatalf("it answers %q, %v", got, err)
		}
		if total := binary.BigEndian.Uint64(got); total != uint64(len(written)) {
			t.Errorf("the worker has written %d bytes, not %d", total, len(written))
		}
		if want := written[max(0, len(written)-rundir.MaxTail):]; !bytes.Equal(got[8:], want) {
			t.Errorf("it has %d other bytes than the last %d", len(got)-8, len(want))
		}
	}

	// A client that is gone before it was answered changes nothing.
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	_ = worker.Close()
	if err := <-over; err != nil {
		t.Errorf("keep: %v", err)
	}
	_ = listener.Close()
	_ = clients.Close()
}
