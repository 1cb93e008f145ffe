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

// BoundsOutcome says what came of a pause, of its end, or of new limits for one worker.
type BoundsOutcome struct {
	Worker worker.Worker
	// Err is nil if it was done. Its text names the worker, or the backend that can't.
	Err error
}

// Pause stops all processes of the selected workers, or lets them continue, all at the same
// time. With All or Tag it passes over workers that do not run and those whose backend
// can't pause. A caller that may kill a team's worker may pause it.
func (s *Sender) Pause(ctx context.Context, sel worker.Selection, paused bool) ([]BoundsOutcome, error) {
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
func (s *Sender) SetLimits(ctx context.Context, sel worker.Selection, change func(*swarm.Limits)) ([]BoundsOutcome, error) {
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
		return rec, s.record(ctx, rec.ID, l)
	}, nil)
}

func (s *Sender) bound(ctx context.Context, sel worker.Selection, cannot string,
	do func(context.Context, registry.Record) (registry.Record, error), done func(*worker.Worker),
) ([]BoundsOutcome, error) {
	recs, _, err := s.Roster.Pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return nil, err
	}
	named := len(sel.Names) > 0
	all := make([]BoundsOutcome, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		wg.Go(func() {
			rec, err := s.live(ctx, r)
			if err == nil {
				rec, err = do(ctx, rec)
			}
			all[i] = BoundsOutcome{Worker: worker.Of(rec), Err: worker.WithName(err, cannot, rec.Name)}
			if err == nil {
				all[i].Worker.Status = worker.StatusRunning
				if done != nil {
					done(&all[i].Worker)
				}
			}
		})
	}
	wg.Wait()
	var outcomes []BoundsOutcome
	for _, out := range all {
		if named || !errors.Is(out.Err, worker.ErrEnded) && !errors.Is(out.Err, swarm.ErrUnsupported) {
			outcomes = append(outcomes, out)
		}
	}
	return outcomes, nil
}

func (s *Sender) record(ctx context.Context, id string, l swarm.Limits) error {
	return s.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return tx.Update(ctx, id, func(r *registry.Record) error {
			r.Limits = l
			return nil
		})
	})
}
