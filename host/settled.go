package host

import (
	"context"

	"github.com/swarmhost/swarm/host/registry"
)

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
