package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Signal sends a running worker a signal that is not meant to end it, and returns
// at once. If it ends the worker nevertheless, that is an exit of its own.
func (h *Host) Signal(ctx context.Context, name string, o swarm.SignalOptions) (Worker, error) {
	signal, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return Worker{}, err
	}
	o.Signal = signal
	recs, _, err := h.chooseNamed(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	rec, err := h.living(ctx, recs[0])
	if err == nil {
		err = h.interact(ctx, rec, swarm.CapSignal, func(ctx context.Context, p *peer) error {
			return p.backend.Signal(ctx, rec.Handle, o)
		})
	}
	if err != nil && !errors.Is(err, ErrEnded) {
		err = fmt.Errorf("cannot signal '%s': %w", rec.Name, err)
	}
	return worker(rec), err
}
