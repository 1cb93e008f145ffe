package roster

import (
	"context"

	"github.com/swarmhost/swarm/host/worker"
)

// Names returns the names of the selected workers. It asks no backend.
func (r *Roster) Names(ctx context.Context, sel worker.Selection) ([]string, error) {
	recs, _, err := r.See(ctx, sel)
	names := make([]string, len(recs))
	for i, rec := range recs {
		names[i] = rec.Name
	}
	return names, err
}

// ByAgent returns the selection with the worker of an agent in place of each name that
// no worker has and the agent does, see [store.Store.ByAgent].
func (r *Roster) ByAgent(ctx context.Context, sel worker.Selection) (worker.Selection, error) {
	names, err := r.opts.Store.ByAgent(ctx, sel.Names)
	sel.Names = names
	return sel, err
}
