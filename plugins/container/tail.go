package container

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Docker writes a line into its log once the line is complete, or has 16 KiB. Until then the
// bytes are in its memory, and it gives them to the clients that were attached when they came. So
// a program stays attached to each terminal of Docker from before the worker starts: the
// shim with [rundir.TailFlag]. It keeps the last bytes in its memory, and ends with the
// stream. Without it a reader has the log alone.

type attached struct {
	r    ref
	conn net.Conn
	err  error
}

// follow attaches to the terminal of a worker that was not started yet. The worker runs
// without it if that fails, and so do workers without a terminal and workers of Podman, whose
// log has all that was written.
func (e *engine) follow(ctx context.Context, r ref) *attached {
	a := &attached{r: r}
	if !r.TTY {
		return a
	}
	podman, _, err := e.version(ctx)
	if podman || err != nil {
		a.err = err
		return a
	}
	got, err := e.ContainerAttach(ctx, r.Container, client.ContainerAttachOptions{Stream: true, Stdout: true})
	if err != nil {
		a.err = e.explain(ctx, "attach to the terminal", err)
		return a
	}
	a.conn = got.Conn
	return a
}

func (a *attached) close() {
	if a.conn != nil {
		_ = a.conn.Close()
	}
}

// keep starts the program that keeps the end of the stream.
func (a *attached) keep(local *swarm.Local) error {
	if a.conn == nil {
		return a.err
	}
	conn, ok := a.conn.(interface{ File() (*os.File, error) })
	if !ok {
		return fmt.Errorf("%w: the connection to the engine can't be passed on", swarm.ErrUnsupported)
	}
	stream, err := conn.File()
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	dir := filepath.Join(a.r.Dir, terminalDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, rundir.TailSocket)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	clients, err := listenAt(dir, rundir.TailSocket)
	if err != nil {
		return err
	}
	defer func() { _ = clients.Close() }()
	cmd := exec.Command(local.Shim, rundir.TailFlag) //nolint:noctx // it outlives this process
	return startMarked(cmd, local, rundir.TailMark, stream, clients)
}

// tailLimit is how long the program may take to answer.
const tailLimit = time.Second

// tail returns the last bytes that a worker wrote to its terminal, and whether they are all
// that it ever wrote. It returns nothing if no program keeps them, or if the worker has ended,
// since the log has everything then.
func (r ref) tail(ctx context.Context) (last []byte, all bool) {
	var got []byte
	err := socketPath(filepath.Join(r.Dir, terminalDir), rundir.TailSocket, func(path string) error {
		conn, err := (&net.Dialer{Timeout: tailLimit}).DialContext(ctx, "unix", path)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetDeadline(time.Now().Add(tailLimit)); err != nil {
			return err
		}
		got, err = io.ReadAll(io.LimitReader(conn, rundir.MaxTail+8))
		return err
	})
	if err != nil || len(got) < 8 {
		return nil, false
	}
	total, last := binary.BigEndian.Uint64(got), got[8:]
	if uint64(len(last)) != min(total, rundir.MaxTail) {
		return nil, false
	}
	return last, uint64(len(last)) == total
}

// terminal returns what the worker has written so far: the log, and what is not in there yet.
// A log that is followed is returned as it is.
func (r ref) terminal(ctx context.Context, log io.Reader, o readOptions) io.Reader {
	if o.follow {
		return log
	}
	seen := &lastOf{from: log}
	return io.MultiReader(seen, &deferred{read: func() []byte {
		last, all := r.tail(ctx)
		return beyond(seen.last, last, all && o.since.IsZero())
	}})
}

// anchor is how many of the last bytes of a log are looked for in what was written last.
const anchor = 256

// lastOf reads, and holds the last bytes that it has read.
type lastOf struct {
	from io.Reader
	last []byte
}

func (l *lastOf) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	l.last = append(l.last, p[max(0, n-anchor):n]...)
	l.last = l.last[max(0, len(l.last)-anchor):]
	return n, err
}

type deferred struct {
	read func() []byte
	from *bytes.Reader
}

func (d *deferred) Read(p []byte) (int, error) {
	if d.from == nil {
		d.from = bytes.NewReader(d.read())
	}
	return d.from.Read(p)
}

// beyond returns what was written after the end of a log, which is in logged: its last bytes,
// or all of it if it is short. last is what was written last, which is everything if all says
// so. If the two do not meet, the log is ahead, or far behind, and is not continued.
func beyond(logged, last []byte, all bool) []byte {
	last = asLogged(last)
	if len(logged) == 0 && !all {
		// The log has nothing that is new enough.
		return last[bytes.LastIndexByte(last, '\n')+1:]
	}
	// The log may end within a character. Docker writes U+FFFD in place of its bytes.
	whole := bytes.TrimRight(logged, string(utf8.RuneError))
	broken := logged[len(whole):]
	at := bytes.LastIndex(last, whole)
	if all && len(logged) < anchor {
		at = 0
		if !bytes.HasPrefix(last, whole) {
			at = -1
		}
	}
	if at < 0 {
		return nil
	}
	return bytes.TrimPrefix(last[at+len(whole):], broken)
}

// asLogged returns text as Docker's log has it: with U+FFFD for each byte that is not UTF-8.
func asLogged(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	var logged []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		logged = utf8.AppendRune(logged, r)
		text = text[size:]
	}
	return logged
}
