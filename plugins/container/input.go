package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

// enterAfter is the pause before Enter on a terminal unless the caller says another one.
const enterAfter = 150 * time.Millisecond

// Input gives a worker input: through the feeder beside it, or through its terminal.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	r, e, err := b.open(h)
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
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	case r.TTY:
		return swarm.InputResult{}, e.typeIn(ctx, r, in)
	case in.Kind == swarm.InputInterrupt:
		return swarm.InputResult{}, e.signal(ctx, r, s, "SIGINT", swarm.KillTree)
	case in.Kind == swarm.InputKeys:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker is on no terminal: no key can be pressed (spawn it with --stdin --option tty=true)", swarm.ErrInvalidSpec)
	case !r.Stdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has no standard input (spawn it with --stdin)", swarm.ErrInvalidSpec)
	case in.Kind == swarm.InputEOF:
		return e.feed(ctx, r, eof, nil)
	default:
		data := in.Data
		if in.Enter {
			data = append(bytes.Clone(data), '\n')
		}
		return e.feed(ctx, r, strconv.Itoa(len(data)), data)
	}
}

// feed runs [give] beside the worker.
func (e *engine) feed(ctx context.Context, r ref, what string, data []byte) (swarm.InputResult, error) {
	code, said, err := e.exec(ctx, r, []string{"sh", "-c", give, "swarm-input", what}, data)
	switch {
	case err != nil || code == signalBase+9 || code < 0:
		// It ends with the worker, which its input may have ended.
		if st, serr := e.awaitEnd(ctx, r, time.Second); serr == nil && isOver(st) {
			if what == eof {
				return swarm.InputResult{}, nil
			}
			return swarm.InputResult{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
		}
		if err == nil {
			err = fmt.Errorf("%w: the engine ended the program that gives the input: it is not known whether the worker got it", swarm.ErrUnavailable)
		}
		return swarm.InputResult{}, err
	case code == 0:
		return swarm.InputResult{}, nil
	case code == exitPending:
		return swarm.InputResult{Pending: true}, nil
	case code == exitNoStdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has not opened its standard input yet", swarm.ErrUnavailable)
	case code == exitClosed:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker's standard input is closed", swarm.ErrInvalidSpec)
	case code == exitCutOff:
		return swarm.InputResult{}, fmt.Errorf("%w: the connection to the container was cut off, nothing was given", swarm.ErrUnavailable)
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: give input: exit %d: %s", swarm.ErrUnavailable, code, firstLine(said))
	}
}

// exec runs a command in a container that runs, and returns its exit code and output.
func (e *engine) exec(ctx context.Context, r ref, command []string, data []byte) (code int, said string, err error) {
	made, err := e.ExecCreate(ctx, r.Container, client.ExecCreateOptions{
		AttachStdin: true, AttachStdout: true, AttachStderr: true, Cmd: command,
	})
	if err != nil {
		if errdefs.IsConflict(err) || errdefs.IsNotFound(err) {
			return 0, "", fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
		}
		return 0, "", e.tell(ctx, "run a program beside the worker", err)
	}
	conn, err := e.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return 0, "", e.tell(ctx, "run a program beside the worker", err)
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
		return 0, "", e.tell(ctx, "run a program beside the worker", err)
	}
	for {
		got, err := e.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
		if err != nil {
			return 0, "", e.tell(ctx, "run a program beside the worker", err)
		}
		if !got.Running {
			return got.ExitCode, out.String(), nil
		}
		timer := time.NewTimer(findPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, "", ctx.Err()
		}
	}
}
