package nomad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Announce says that workers can have a standard input.
func (b *Backend) Announce() []swarm.Capability { return []swarm.Capability{swarm.CapStdin} }

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
	if what == eof && code == exitKilled {
		// The end of its input may end the worker, and Nomad ends what runs beside it.
		code = 0
	}
	switch code {
	case 0:
		return swarm.InputResult{}, nil
	case exitPending:
		return swarm.InputResult{Pending: true}, nil
	case exitNoStdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has not opened its standard input yet", swarm.ErrUnavailable)
	case exitClosed:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker's standard input is closed", swarm.ErrInvalidSpec)
	case exitCutOff:
		return swarm.InputResult{}, fmt.Errorf("%w: the connection to the node was cut off, nothing was given", swarm.ErrUnavailable)
	default:
		return swarm.InputResult{}, fmt.Errorf("give input: exit %d: %s", code, firstLine(said.String()))
	}
}
