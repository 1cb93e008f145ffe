package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Signal sends a signal that is not meant to end the worker, see [swarm.Signaller]. Between
// two starts there is no process that could get it: [swarm.ErrUnavailable].
func Signal(ctx context.Context, dir, id string, o swarm.SignalOptions) error {
	signal, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return err
	}
	_, err = request(ctx, dir, rundir.Request{
		Verb:     rundir.VerbSignal,
		ID:       id,
		Signal:   signal,
		MainOnly: o.Mode == swarm.KillMain,
	}, nil)
	return err
}

// request asks the shim of a worker for something that only a running one can do,
// and returns the one answer. data follows the request.
func request(ctx context.Context, dir string, r rundir.Request, data []byte) (rundir.Answer, error) {
	a, err := exchange(ctx, dir, r, data)
	if err == nil && a.Kind != rundir.AnswerEnded {
		return a, nil
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, swarm.ErrStaleHandle)) {
		return a, err
	}
	s, statusErr := Status(dir, r.ID)
	if err == nil || statusErr == nil && s.State != swarm.StateRunning {
		return a, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	if errors.Is(err, errNoAnswer) {
		err = fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	return a, err
}

func exchange(ctx context.Context, dir string, r rundir.Request, data []byte) (rundir.Answer, error) {
	// A stopped shim accepts no clients from its queue.
	defer keepAwake(dir, r.ID)()
	c, err := openCall(ctx, dir, r)
	if err != nil {
		return rundir.Answer{}, err
	}
	defer c.close()
	// A shim that does not read all of it answers with the reason.
	_, _ = c.conn.Write(data)
	return c.answer(ctx)
}

// Input gives input to the worker, see [swarm.Inputter]. The error is
// [swarm.ErrUnavailable] if the worker can't take input just now: it is between two starts,
// or has not read an earlier input.
func Input(ctx context.Context, dir, id string, in swarm.Input) (swarm.InputResult, error) {
	r := rundir.Request{Verb: rundir.VerbInput, ID: id}
	if err := in.Check(); err != nil {
		return swarm.InputResult{}, err
	}
	switch in.Kind {
	case swarm.InputText:
		r.Kind, r.Enter, r.Size, r.PasteOnly = rundir.InputText, in.Enter, len(in.Data), in.PasteOnly
		if in.Enter {
			// Rounded up: it is the least.
			r.AfterMS = int((in.EnterAfter + time.Millisecond - 1) / time.Millisecond)
		}
	case swarm.InputKeys:
		r.Kind, r.Size = rundir.InputKeys, len(in.Data)
	case swarm.InputInterrupt:
		r.Kind = rundir.InputInterrupt
	case swarm.InputEOF:
		r.Kind = rundir.InputEOF
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: unknown kind of input %d", swarm.ErrInvalidSpec, in.Kind)
	}
	a, err := request(ctx, dir, r, in.Data[:r.Size])
	return swarm.InputResult{Pending: a.Kind == rundir.AnswerPending}, err
}

// SetLimits makes l the limits of a running worker, see [swarm.Limiter]. A worker that was
// started without a limit of a kind can't be given one: what its processes hold already
// would not count.
func SetLimits(ctx context.Context, dir, id string, l swarm.Limits) error {
	if err := l.Check(); err != nil {
		return err
	}
	_, err := request(ctx, dir, rundir.Request{Verb: rundir.VerbLimits, ID: id, Limits: l}, nil)
	return err
}

// SetPaused stops all processes of a running worker, or lets them continue, see
// [swarm.Pauser]. They are frozen by the worker's control group, if it has one, else each
// gets SIGSTOP.
func SetPaused(ctx context.Context, dir, id string, paused bool) error {
	_, err := request(ctx, dir, rundir.Request{Verb: rundir.VerbPause, ID: id, Paused: paused}, nil)
	return err
}

// Exec returns the program that has the shim of a running worker run a command, see [swarm.Execer]:
// swarm-shim, which o.Shim names. The command is started by the shim, or by the first process in the sandbox
// of the worker.
func Exec(dir, id string, o swarm.ExecOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	switch s, err := Status(dir, id); {
	case err != nil:
		return swarm.Program{}, err
	case s.State != swarm.StateRunning:
		return swarm.Program{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	case s.Paused:
		return swarm.Program{}, fmt.Errorf("%w: the worker is paused; resume it first", swarm.ErrUnavailable)
	}
	args, err := rundir.ExecArgs(dir, id, rundir.Exec{Dir: o.Dir, Command: o.Command, Env: o.Env, Terminal: o.TTY})
	if err != nil {
		return swarm.Program{}, fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
	}
	return swarm.Program{Command: append([]string{o.Shim}, args...)}, nil
}

// Copy returns the program that copies files out of a worker of this machine or into it, running or ended, see
// [swarm.Copier]: swarm-shim, which o.Shim names.
func Copy(dir, id string, o swarm.CopyOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	if _, err := Status(dir, id); err != nil {
		return swarm.Program{}, err
	}
	return swarm.Program{Command: append([]string{o.Shim}, archive.Args(o.Into, o.Path, o.Dir, o.Confined)...)}, nil
}
