package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/feeder"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// enterAfter is the pause before Enter on a terminal unless the caller says another one.
const enterAfter = 150 * time.Millisecond

// Input gives a worker input: through the feeder next to it, or through its terminal.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	switch in.Kind {
	case swarm.InputText, swarm.InputInterrupt, swarm.InputEOF, swarm.InputKeys:
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: an input of an unknown kind", swarm.ErrInvalidSpec)
	}
	if err := in.Check(); err != nil {
		return swarm.InputResult{}, err
	}
	s, err := e.inspect(ctx, r)
	switch {
	case err != nil:
		return swarm.InputResult{}, err
	case s.created:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has not started yet", swarm.ErrUnavailable)
	case !s.running:
		return swarm.InputResult{}, feeder.ErrEnded()
	case r.TTY:
		return swarm.InputResult{}, e.typeIn(ctx, r, in)
	case in.Kind == swarm.InputInterrupt:
		return swarm.InputResult{}, e.signal(ctx, r, s, "SIGINT", swarm.KillTree)
	case in.Kind == swarm.InputKeys:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker is on no terminal: no key can be pressed (spawn it with --tmux)", swarm.ErrInvalidSpec)
	case !r.Stdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has no standard input (spawn it with --stdin)", swarm.ErrInvalidSpec)
	case in.Kind == swarm.InputEOF:
		return e.feed(ctx, r, -1, nil)
	default:
		data := in.Data
		if in.Enter {
			data = append(bytes.Clone(data), '\n')
		}
		return e.feed(ctx, r, len(data), data)
	}
}

// feed has the feeder give an input of so many bytes, -1: the end of input.
func (e *engine) feed(ctx context.Context, r ref, size int, data []byte) (swarm.InputResult, error) {
	over := func() bool {
		st, err := e.awaitEnd(ctx, r, time.Second)
		return err == nil && isFinal(st)
	}
	code, said, err := e.exec(ctx, r, stdin.Give(size), data)
	switch {
	case err == nil:
		return feeder.Outcome(size, max(code, feeder.Unknown), firstLine(said), over)
	case !over():
		return swarm.InputResult{}, err
	case size < 0: // the end of its input has ended the worker
		return swarm.InputResult{}, nil
	default:
		return swarm.InputResult{}, feeder.ErrEnded()
	}
}

// exec runs a command in a container that runs, and returns its exit code and output.
func (e *engine) exec(ctx context.Context, r ref, command []string, data []byte) (code int, said string, err error) {
	made, err := e.ExecCreate(ctx, r.Container, client.ExecCreateOptions{
		AttachStdin: true, AttachStdout: true, AttachStderr: true, Cmd: command,
	})
	if err != nil {
		if errdefs.IsConflict(err) || isGone(err) {
			return 0, "", feeder.ErrEnded()
		}
		return 0, "", e.explain(ctx, "run a program in the worker's container", err)
	}
	conn, err := e.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return 0, "", e.explain(ctx, "run a program in the worker's container", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, conn.Close)
	defer stop()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if _, err := conn.Conn.Write(data); err == nil {
			_ = conn.CloseWrite()
		}
	}()
	var out bytes.Buffer
	err = readFrames(conn.Reader, func(piece swarm.Output) error {
		out.Write(piece.Data)
		return nil
	})
	conn.Close()
	<-sent
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, "", e.explain(ctx, "run a program in the worker's container", err)
	}
	for {
		got, err := e.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
		if err != nil {
			return 0, "", e.explain(ctx, "run a program in the worker's container", err)
		}
		if !got.Running {
			return got.ExitCode, out.String(), nil
		}
		if err := sleep.For(ctx, findPoll); err != nil {
			return 0, "", err
		}
	}
}

// stdin is the feeder of a worker with a standard input that is on no terminal. Its files
// are in the memory of the container.
const stdin feeder.Feeder = "/dev/shm/swarm-stdin"

// A wrapper is known by its $0.
const wrapper = "swarm-worker"

// fed is a shell command that starts the feeder and becomes the worker.
var fed = `refuse() { echo "swarm: $1" >&2; exit 127; }
command -v -- "$1" >/dev/null 2>&1 || refuse "there is no command '$1'"
` + stdin.Start() + feeder.Exec

func withStdin(command []string) []string {
	return append([]string{"sh", "-c", fed, wrapper}, command...)
}

func hasStdin(command []string) bool {
	return len(command) > 4 && slices.Equal(command[:2], []string{"sh", "-c"}) && command[3] == wrapper
}
