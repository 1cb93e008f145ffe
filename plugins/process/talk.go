package process

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Announce says which fields of a spec are carried out beyond what every backend
// has to.
func (b *Backend) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapRestart, swarm.CapOwner}
}

// Input gives the worker input through the pipe that its shim keeps, if it was
// spawned with one. An interrupt is SIGINT to the group of its main process.
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
	return shim.Watch(ctx, h.Dir, h.ID, each)
}

// Complete records that the worker is done.
func (b *Backend) Complete(ctx context.Context, raw swarm.Handle, summary string, o swarm.KillOptions) error {
	h, err := decode(raw)
	if err != nil {
		return err
	}
	return shim.Complete(ctx, h.Dir, h.ID, summary, o)
}
