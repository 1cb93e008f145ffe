package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

// settleLimit is how long to wait for the spawn of a worker to be over.
const settleLimit = 30 * time.Second

// Settled returns a worker as it is once the spawn of it, if one is under way in
// another process, is over. A worker whose spawn failed is an [ErrNotFound], as
// one that never was.
func (h *Host) Settled(ctx context.Context, name string) (Worker, error) {
	recs, _, err := h.chooseNamed(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = h.settled(ctx, rec); err != nil {
			return Worker{}, err
		}
	}
	return h.observe(ctx, []registry.Record{rec})[0], nil
}

// settled returns the record of a worker that was starting once its spawn is
// over, and settles a spawn that was interrupted.
func (h *Host) settled(ctx context.Context, rec registry.Record) (registry.Record, error) {
	limited, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	unlock, err := h.dir.Lock(limited, rec.ID)
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: its spawn is still under way", swarm.ErrUnavailable)
		}
		return rec, err
	}
	defer unlock()
	reg, err := h.store.Writing(ctx)
	if err != nil {
		return rec, err
	}
	now, err := store.Restored(ctx, reg, rec)
	if err != nil || now.State != registry.Starting {
		return now, err
	}
	e, err := h.plugins.Entry(rec.Backend, rec.Plugin)
	if err == nil {
		err = h.plugins.AskBackend(limited, e, true, func(p *backend.Peer) error { return h.settle(limited, reg, p, rec.ID) })
	}
	if err != nil {
		return rec, fmt.Errorf("its spawn was interrupted: %w", err)
	}
	return store.Restored(ctx, reg, rec)
}
