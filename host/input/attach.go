package input

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Attach returns the program that connects a person's terminal with a running worker. It
// replaces the caller, which closes the host before. A person at the terminal can end the
// programs there, so only its leader may attach to a team's worker.
func (s *Sender) Attach(ctx context.Context, name string) (swarm.Attachment, error) {
	recs, _, err := s.opts.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return swarm.Attachment{}, err
	}
	if err := s.opts.MayEnd(ctx, recs...); err != nil {
		return swarm.Attachment{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		return swarm.Attachment{}, fmt.Errorf("cannot attach to '%s': it is still starting", rec.Name)
	}
	var a swarm.Attachment
	if rec, err = s.living(ctx, rec); err == nil {
		err = s.interact(ctx, inputLimit, rec, swarm.CapAttach, func(ctx context.Context, p *backend.Peer) error {
			var err error
			a, err = p.Backend.Attach(ctx, rec.Handle, swarm.AttachOptions{Env: s.opts.Env})
			return err
		})
	}
	if errors.Is(err, worker.ErrEnded) && rec.IsRunning() && s.opts.Observe(ctx, []registry.Record{rec})[0].Status == worker.StatusRunning {
		// The worker has not ended, its window has.
		err = worker.Hinted("it is running (no window)", fmt.Sprintf("its window was closed, or the tmux server ended: "+
			"follow what it writes with 'swarm logs %[1]s --follow', or start it again in a new window with 'swarm respawn %[1]s'", rec.Name))
	}
	return a, worker.Naming(err, "cannot attach to", rec.Name)
}
