package display

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Logs calls each for every piece of output of one worker, running or ended, and
// returns an error of each as it is.
func (d *Reader) Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	recs, _, err := d.find(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return err
	}
	rec := recs[0]
	if rec.Handle.IsZero() {
		return nil // it was never started
	}
	e, err := d.plugins.Entry(rec.Backend, rec.Plugin)
	if err != nil {
		return err
	}
	// Output that was shown can't be taken back: only a read that showed nothing yet
	// is tried again.
	var failed error
	begun := false
	err = d.plugins.AskBackend(ctx, e, true, func(p *backend.Peer) error {
		if begun {
			return failed
		}
		failed = p.Backend.Output(ctx, rec.Handle, o, func(out swarm.Output) error {
			begun = true
			return each(out)
		})
		return failed
	})
	switch {
	case errors.Is(err, swarm.ErrUnsupported):
		return fmt.Errorf("%w: backend '%s' keeps no output", swarm.ErrUnsupported, rec.Backend)
	case errors.Is(err, swarm.ErrNotFound):
		return fmt.Errorf("the output of '%s' is gone: %w", rec.Name, err)
	default:
		return err
	}
}
