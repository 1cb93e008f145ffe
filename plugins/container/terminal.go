package container

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (e *engine) typeIn(ctx context.Context, r ref, in swarm.Input) error {
	var parts [][]byte
	switch in.Kind {
	case swarm.InputInterrupt:
		parts = [][]byte{{0x03}}
	case swarm.InputEOF:
		parts = [][]byte{{0x04}}
	case swarm.InputKeys:
		keys, err := pty.Sequences(string(in.Data))
		if err != nil {
			return fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
		}
		for _, key := range keys {
			parts = append(parts, []byte(key))
		}
	case swarm.InputText:
		if len(in.Data) > 0 {
			parts = append(parts, bytes.ReplaceAll(in.Data, []byte("\n"), []byte("\r")))
		}
		if in.Enter {
			parts = append(parts, []byte("\r"))
		}
	}
	// Inputs of several callers come one after the other.
	dir := filepath.Join(r.Dir, terminalDir)
	err := os.MkdirAll(dir, 0o700)
	var lock *os.File
	if err == nil {
		lock, err = safefile.LockDir(dir, safefile.Exclusive)
	}
	if err != nil {
		return fmt.Errorf("%w: lock the terminal: %w", swarm.ErrUnavailable, err)
	}
	defer func() { _ = lock.Close() }()
	conn, err := e.ContainerAttach(ctx, r.Container, client.ContainerAttachOptions{Stream: true, Stdin: true})
	if err != nil {
		return e.explain(ctx, "reach the terminal", err)
	}
	defer conn.Close()
	pause := keyPause
	if in.Kind == swarm.InputText {
		pause = cmp.Or(in.EnterAfter, enterAfter)
	}
	for i, part := range parts {
		if i > 0 {
			if err := sleep.For(ctx, pause); err != nil {
				return err
			}
		}
		if _, err := conn.Conn.Write(part); err != nil {
			return e.explain(ctx, "type", err)
		}
	}
	_ = conn.CloseWrite()
	// The engine closes the connection once it has passed all on.
	_ = conn.Conn.SetReadDeadline(time.Now().Add(closeLimit))
	_, _ = conn.Reader.WriteTo(io.Discard)
	return nil
}

// A terminal has this size until a client attaches to it. A window of tmux starts with the same.
const (
	rows    = 24
	columns = 80
)

// size gives the terminal of a worker that was just started a size: an engine gives it none.
// A worker that has ended needs none.
func (e *engine) size(ctx context.Context, r ref) {
	_, _ = e.ContainerResize(ctx, r.Container, client.ContainerResizeOptions{Height: rows, Width: columns})
}

// Resize sets the size of the terminal of the container.
func (b *Backend) Resize(ctx context.Context, h swarm.Handle, columns, rows int) error {
	if err := swarm.CheckSize(columns, rows); err != nil {
		return err
	}
	r, e, err := b.open(ctx, h)
	if err != nil {
		return err
	}
	s, err := e.inspect(ctx, r)
	switch {
	case err != nil:
		return err
	case !s.running:
		return errEnded()
	case !r.TTY:
		return fmt.Errorf("%w: the worker is on no terminal: spawn it with --option tty=true", swarm.ErrInvalidSpec)
	}
	_, err = e.ContainerResize(ctx, r.Container, client.ContainerResizeOptions{Height: uint(rows), Width: uint(columns)})
	return e.explain(ctx, "resize the terminal", err)
}

const (
	// keyPause is between two keys: the program shall read them one by one.
	keyPause = 30 * time.Millisecond
	// closeLimit is how long an engine may take to pass an input on.
	closeLimit = 500 * time.Millisecond
)

// terminalDir is a directory in the run directory, whose lock the caller has that types.
const terminalDir = "terminal"

// Attach returns the engine's own command for it, which leaves the worker alone when it
// ends: Ctrl-P Ctrl-Q detaches from a terminal.
func (b *Backend) Attach(ctx context.Context, h swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	s, err := e.inspect(ctx, r)
	if err != nil {
		return swarm.Attachment{}, err
	}
	if !s.running {
		return swarm.Attachment{}, errEnded()
	}
	for _, client := range [][]string{{"docker", "--host"}, {"podman", "--remote", "--url"}} {
		if path, err := exec.LookPath(client[0]); err == nil {
			command := append([]string{path}, client[1:]...)
			command = append(command, socketScheme+r.Socket, "attach", "--sig-proxy=false")
			a := swarm.Attachment{Leave: "C-p C-q leaves", ReadOnly: o.ReadOnly}
			if !r.TTY || o.ReadOnly {
				command = append(command, "--no-stdin")
				a.Leave = "C-c leaves"
			}
			a.Command = append(command, r.Container)
			return a, nil
		}
	}
	return swarm.Attachment{}, fmt.Errorf("%w: neither the command docker nor podman is installed, one of which attaches", swarm.ErrUnavailable)
}
