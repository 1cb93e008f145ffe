package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Attach returns the program that connects a person's terminal with a running worker. It
// replaces the caller, which closes the host before. A person at a terminal can end the
// programs there: for a team's worker that needs the leader's right.
func (h *Host) Attach(ctx context.Context, name string) (swarm.Attachment, error) {
	recs, _, err := h.choose(ctx, Selection{Names: []string{name}})
	if err != nil {
		return swarm.Attachment{}, err
	}
	if err := h.mayEnd(ctx, recs...); err != nil {
		return swarm.Attachment{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		return swarm.Attachment{}, fmt.Errorf("cannot attach to '%s': it is still starting", rec.Name)
	}
	var a swarm.Attachment
	if rec, err = h.living(ctx, rec); err == nil {
		err = h.interact(ctx, rec, swarm.CapAttach, func(ctx context.Context, p *backend.Peer) error {
			var err error
			a, err = p.Backend.Attach(ctx, rec.Handle, swarm.AttachOptions{Env: h.opts.Env})
			return err
		})
	}
	if errors.Is(err, ErrEnded) && rec.IsRunning() && h.observe(ctx, []registry.Record{rec})[0].Status == StatusRunning {
		err = &noWindowError{name: rec.Name} // not the worker has ended, its window has
	}
	return a, naming(err, "cannot attach to", rec.Name)
}

// noWindowError names a worker that runs and has nothing that could be shown.
type noWindowError struct{ name string }

func (e *noWindowError) Error() string { return "it is running (no window)" }

// Hint returns the next step.
func (e *noWindowError) Hint() string {
	return fmt.Sprintf("its window was closed, or the tmux server ended: follow what it writes with 'swarm logs %[1]s --follow', "+
		"or start it again in a new window with 'swarm respawn %[1]s'", e.name)
}
