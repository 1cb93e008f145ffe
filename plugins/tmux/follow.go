package tmux

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Wait returns when the worker no longer runs.
func (b *Backend) Wait(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.Status{}, err
	}
	s, err := shim.Wait(ctx, h.Dir, h.ID)
	s.Where = h.where(h.Session, h.Name)
	return s, err
}

// Watch reports the changes of the worker until it has ended.
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

// Complete records that the worker is done. Its remaining processes then get the
// signal of a closing terminal. Its window goes with its end.
func (b *Backend) Complete(ctx context.Context, raw swarm.Handle, summary string, o swarm.KillOptions) error {
	if o.Signal == "" {
		o.Signal = hangup
	}
	return b.Kept.Complete(ctx, raw, summary, o)
}
