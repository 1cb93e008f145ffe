package roster

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// Observe returns the workers of the records as they are now, in the same order. It asks each
// backend once; a backend that can't be asked makes its own workers [worker.StatusUnknown].
func (r *Roster) Observe(ctx context.Context, recs []registry.Record) []worker.Worker {
	ws := make([]worker.Worker, len(recs))
	for i, rec := range recs {
		ws[i] = worker.Of(rec)
		if rec.State == registry.Starting {
			ws[i].Status = worker.StatusStarting
			if !r.opts.Dir.Locked(rec.ID) {
				ws[i].Reason = history.ReasonInterrupted
			}
		}
	}
	backend.Each(r.opts.Plugins.Groups(recs, registry.Record.IsRunning), func(g *backend.Group) {
		for i, s := range r.opts.Plugins.Statuses(ctx, g) {
			ws[g.At[i]].Apply(s)
			ws[g.At[i]].Can = g.Can
		}
	})
	return ws
}

// Remember fills in the exit of a worker from the history: the process that recorded it
// may have removed everything else since.
func (r *Roster) Remember(ctx context.Context, w *worker.Worker) {
	if w.Status == worker.StatusStopped && w.Exit != nil {
		return
	}
	reg, err := r.opts.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return
	}
	if e, err := reg.End(ctx, w.ID); err == nil && e.Exit != nil {
		w.Status, w.PID, w.Reason, w.Exit, w.Ended, w.Survivors = worker.StatusStopped, 0, "", e.Exit, e.Exit.Time, nil
	}
}
