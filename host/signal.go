package host

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/shared/swarm"
)

// SignalRequest says which signal to send to whom.
type SignalRequest struct {
	// Signal is a name valid by [swarm.ParseSignal].
	Signal string
	// Mode says which processes get it; nil: those that the worker's kill policy
	// names.
	Mode *swarm.KillMode
}

// Signal sends a running worker a signal that is not meant to end it, and returns at once.
// If it ends the worker nevertheless, that is an exit of its own. Whoever may kill a team's
// worker may signal it.
func (h *Host) Signal(ctx context.Context, name string, req SignalRequest) (Worker, error) {
	signal, err := swarm.ParseSignal(req.Signal)
	if err != nil {
		return Worker{}, err
	}
	recs, _, err := h.chooseNamed(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	if err := h.mayEnd(ctx, recs...); err != nil {
		return Worker{}, err
	}
	rec, err := h.living(ctx, recs[0])
	o := swarm.SignalOptions{Signal: signal, Mode: rec.Kill.Mode}
	if req.Mode != nil {
		o.Mode = *req.Mode
	}
	if err == nil {
		err = h.interact(ctx, rec, swarm.CapSignal, func(ctx context.Context, p *backend.Peer) error {
			return p.Backend.Signal(ctx, rec.Handle, o)
		})
	}
	return worker(rec), naming(err, "cannot signal", rec.Name)
}
