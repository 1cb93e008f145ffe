package nomad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// inputEndLimit is how long an input waits for the end of a worker that seems to end.
const inputEndLimit = 3 * time.Second

// Announce says that workers can have a standard input, and limits of memory and CPUs.
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapLimitMemory, swarm.CapLimitCPUs}
}

// Input gives a worker input: a signal to interrupt it, and all else through a
// program that Nomad runs beside it.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	r, err := decode(h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	var what string
	switch in.Kind {
	case swarm.InputInterrupt:
		return swarm.InputResult{}, b.Signal(ctx, h, swarm.SignalOptions{Signal: "SIGINT", Mode: swarm.KillTree})
	case swarm.InputText:
		if err := in.Check(); err != nil {
			return swarm.InputResult{}, err
		}
		if in.Enter {
			in.Data = append(bytes.Clone(in.Data), '\n')
		}
		what = strconv.Itoa(len(in.Data))
	case swarm.InputEOF:
		in.Data, what = nil, eof
	case swarm.InputKeys: // see below: the end of a worker is reported first
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: an input of an unknown kind", swarm.ErrInvalidSpec)
	}
	s, err := b.look(ctx, r.place, r.Job, 0)
	if err != nil {
		return swarm.InputResult{}, err
	}
	st := b.statusIn(ctx, s, r)
	switch a := s.allocs[r.ID]; {
	case isOver(st):
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	case in.Kind == swarm.InputKeys:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker is on no terminal: no key can be pressed", swarm.ErrInvalidSpec)
	case !r.Stdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has no standard input (spawn it with --stdin)", swarm.ErrInvalidSpec)
	case a == nil || a.ClientStatus != api.AllocClientStatusRunning:
		return swarm.InputResult{}, fmt.Errorf("%w: %s", swarm.ErrUnavailable, st.Reason)
	default:
		return b.give(ctx, r, a, what, in.Data)
	}
}

func (b *Backend) give(ctx context.Context, r ref, a *api.AllocationListStub, what string, data []byte) (swarm.InputResult, error) {
	var said bytes.Buffer
	code, err := b.client.Allocations().Exec(ctx, &api.Allocation{ID: a.ID}, taskName, false,
		[]string{"sh", "-c", give, "swarm-input", what}, bytes.NewReader(data), io.Discard, &said, nil, b.query(ctx, r.place))
	if err != nil {
		if st, serr := b.status(ctx, r); serr == nil && isOver(st) {
			err = fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
		} else if err = b.tell(ctx, "give input", err); errors.Is(err, swarm.ErrPermission) {
			err = fmt.Errorf("%w (a policy has to allow alloc-exec, and for raw_exec alloc-node-exec)", err)
		}
		return swarm.InputResult{}, err
	}
	return outcome(what, code, firstLine(said.String()), func() bool {
		st, err := b.awaitEnd(ctx, r, inputEndLimit)
		return err == nil && isOver(st)
	})
}

// outcome is what an exit code of the program that gives an input says about it. It
// asks over, which waits a moment for the worker's end, if Nomad ended that program or
// lost sight of it, as it does when the worker ends.
func outcome(what string, code int, said string, over func() bool) (swarm.InputResult, error) {
	switch code {
	case 0:
		return swarm.InputResult{}, nil
	case exitKilled, exitUnknown:
		switch ended := over(); {
		case what == eof && ended:
			// The end of its input has ended the worker.
			return swarm.InputResult{}, nil
		case what == eof:
			return swarm.InputResult{Pending: true}, nil
		case ended:
			return swarm.InputResult{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
		default:
			return swarm.InputResult{}, fmt.Errorf("%w: Nomad ended the program that gives the input: it is not known whether the worker got it", swarm.ErrUnavailable)
		}
	case exitPending:
		return swarm.InputResult{Pending: true}, nil
	case exitNoStdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has not opened its standard input yet", swarm.ErrUnavailable)
	case exitClosed:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker's standard input is closed", swarm.ErrInvalidSpec)
	case exitCutOff:
		return swarm.InputResult{}, fmt.Errorf("%w: the connection to the node was cut off, nothing was given", swarm.ErrUnavailable)
	default:
		return swarm.InputResult{}, fmt.Errorf("give input: exit %d: %s", code, said)
	}
}
