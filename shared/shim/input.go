package shim

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

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
