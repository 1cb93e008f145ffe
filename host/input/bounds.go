package input

import (
	"context"
	"errors"
	"sync"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Pause stops all processes of the selected workers, or lets them continue, all at the same
// time. With All or Tag it passes over workers that do not run and those whose backend
// can't pause. A caller that may kill a team's worker may pause it.
func (s *Sender) Pause(ctx context.Context, sel worker.Selection, paused bool) ([]Outcome, error) {
	verb := "cannot pause"
	if !paused {
		verb = "cannot resume"
	}
	return s.bound(ctx, sel, verb, func(ctx context.Context, rec registry.Record) (registry.Record, error) {
		return rec, s.interact(ctx, rec, swarm.CapPause, func(ctx context.Context, p *backend.Peer) error {
			return p.Backend.SetPaused(ctx, rec.Handle, paused)
		})
	}, func(w *worker.Worker) { w.Paused = paused })
}

// SetLimits changes the limits of the selected workers, all at the same time: change works
// on those of each. A worker is respawned with the new ones, too. With All or Tag it passes
// over workers that do not run and those whose backend can't. A caller that may kill a team's
// worker may limit it.
func (s *Sender) SetLimits(ctx context.Context, sel worker.Selection, change func(*swarm.Limits)) ([]Outcome, error) {
	return s.bound(ctx, sel, "cannot limit", func(ctx context.Context, rec registry.Record) (registry.Record, error) {
		l := rec.Limits
		change(&l)
		if err := l.Check(); err != nil {
			return rec, err
		}
		err := s.interact(ctx, rec, swarm.CapSetLimits, func(ctx context.Context, p *backend.Peer) error {
			for _, c := range l.Needs() {
				if !p.Has(c) {
					return worker.Unsupported(rec.Backend, c, rec.Name)
				}
			}
			return p.Backend.SetLimits(ctx, rec.Handle, l)
		})
		if err != nil {
			return rec, err
		}
		rec.Limits = l
		return rec, s.Store.Edit(ctx, rec.ID, func(r *registry.Record) { r.Limits = l })
	}, nil)
}

func (s *Sender) bound(ctx context.Context, sel worker.Selection, cannot string,
	do func(context.Context, registry.Record) (registry.Record, error), done func(*worker.Worker),
) ([]Outcome, error) {
	recs, _, err := s.Roster.Pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return nil, err
	}
	named := len(sel.Names) > 0
	all := make([]Outcome, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		wg.Go(func() {
			rec, err := s.live(ctx, r)
			if err == nil {
				rec, err = do(ctx, rec)
			}
			all[i] = Outcome{Worker: worker.Of(rec), Err: worker.WithName(err, cannot, rec.Name)}
			if err == nil {
				all[i].Worker.Status = worker.StatusRunning
				if done != nil {
					done(&all[i].Worker)
				}
			}
		})
	}
	wg.Wait()
	var outcomes []Outcome
	for _, out := range all {
		if named || !errors.Is(out.Err, worker.ErrEnded) && !errors.Is(out.Err, swarm.ErrUnsupported) {
			outcomes = append(outcomes, out)
		}
	}
	return outcomes, nil
}
