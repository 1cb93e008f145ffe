package tmux

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Announce says which fields of a spec are carried out beyond what every backend
// has to. The input of a terminal is open whether or not a spec asks for it.
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapRestart, swarm.CapOwner}
}

// Input has the shim type into the worker's terminal. It needs nothing of tmux,
// whose window may be in copy mode, or gone.
func (b *Backend) Input(ctx context.Context, raw swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.InputResult{}, err
	}
	return shim.Input(ctx, h.Dir, h.ID, in)
}

// Signal sends the worker a signal.
func (b *Backend) Signal(ctx context.Context, raw swarm.Handle, o swarm.SignalOptions) error {
	h, err := decode(raw)
	if err != nil {
		return err
	}
	return shim.Signal(ctx, h.Dir, h.ID, o)
}

// Watch tells of changes of the worker until it has ended.
func (b *Backend) Watch(ctx context.Context, raw swarm.Handle, each func(swarm.Status) error) error {
	h, err := decode(raw)
	if err != nil {
		return err
	}
	return shim.Watch(ctx, h.Dir, h.ID, func(s swarm.Status) error {
		s.Where = h.where(h.Session, h.Name)
		return each(s)
	})
}

// Complete records that the worker is done. Its window goes with its end.
func (b *Backend) Complete(ctx context.Context, raw swarm.Handle, summary string, o swarm.KillOptions) error {
	h, err := decode(raw)
	if err != nil {
		return err
	}
	if o.Signal == "" {
		o.Signal = hangup
	}
	return shim.Complete(ctx, h.Dir, h.ID, summary, o)
}
