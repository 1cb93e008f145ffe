package nomad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/feeder"
	"github.com/swarmhost/swarm/shared/swarm"
)

// inputEndLimit is how long an input waits for the end of a worker that seems to end.
const inputEndLimit = 3 * time.Second

// exitUnknown is what Nomad says of a program whose end it missed: its executor leaves with
// the worker.
const exitUnknown = -2

// Announce says that workers can have a standard input, and limits of memory and CPUs.
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapLimitMemory, swarm.CapLimitCPUs}
}

// Input gives a worker input: a signal to interrupt it, and all else through a
// program that Nomad runs next to it.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	size := -1
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
		size = len(in.Data)
	case swarm.InputEOF:
		in.Data = nil
	case swarm.InputKeys: // see below: the end of a worker is reported first
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: an input of an unknown kind", swarm.ErrInvalidSpec)
	}
	r, s, st, err := b.now(ctx, h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	switch a := s.allocs[r.ID]; {
	case isFinal(st):
		return swarm.InputResult{}, feeder.ErrEnded()
	case in.Kind == swarm.InputKeys:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker is on no terminal: no key can be pressed", swarm.ErrInvalidSpec)
	case !r.Stdin:
		return swarm.InputResult{}, fmt.Errorf("%w: the worker has no standard input (spawn it with --stdin)", swarm.ErrInvalidSpec)
	case a == nil || a.ClientStatus != api.AllocClientStatusRunning:
		return swarm.InputResult{}, fmt.Errorf("%w: %s", swarm.ErrUnavailable, st.Reason)
	default:
		return b.give(ctx, r, a, size, in.Data)
	}
}

func (b *Backend) give(ctx context.Context, r ref, a *api.AllocationListStub, size int, data []byte) (swarm.InputResult, error) {
	var said bytes.Buffer
	code, err := b.client.Allocations().Exec(ctx, &api.Allocation{ID: a.ID}, taskName, false,
		stdin.Give(size), bytes.NewReader(data), io.Discard, &said, nil, b.query(ctx, r.place))
	if err != nil {
		if st, serr := b.status(ctx, r); serr == nil && isFinal(st) {
			err = feeder.ErrEnded()
		} else if err = b.explain(ctx, "give input", err); errors.Is(err, swarm.ErrPermission) {
			err = fmt.Errorf("%w (a policy has to allow alloc-exec, and for raw_exec alloc-node-exec)", err)
		}
		return swarm.InputResult{}, err
	}
	if code == exitUnknown {
		code = feeder.Unknown
	}
	return feeder.Outcome(size, code, firstLine(said.String()), func() bool {
		st, err := b.awaitEnd(ctx, r, inputEndLimit)
		return err == nil && isFinal(st)
	})
}
