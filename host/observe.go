package host

import (
	"context"
	"errors"
	"slices"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// Workers returns the selected workers as they are now. A selection without
// names, All and Tag means all. An unknown name is an [ErrNotFound], and nothing
// else is returned then. Records that can't be read are left out and named in
// warnings. A backend that can't be asked makes its own workers
// [StatusUnknown].
func (h *Host) Workers(ctx context.Context, sel Selection) (ws []Worker, warnings []string, err error) {
	recs, warnings, err := h.choose(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	if sel.States {
		_ = h.display().Profiled(recs) // read now, while the plugin starts, and not after its answer
	}
	ws = h.observe(ctx, recs)
	if sel.States {
		h.display().Look(ctx, recs, ws)
	}
	if errors.Is(ctx.Err(), context.Canceled) { // the interruption says nothing about the workers
		return nil, warnings, ctx.Err()
	}
	for i, w := range ws {
		// Its record goes with its end, which nobody has written yet.
		if recs[i].IsEphemeral() && w.Gone() && len(sel.Names) > 0 {
			return nil, warnings, &NotFoundError{Name: w.Name}
		}
	}
	ws = slices.DeleteFunc(ws, func(w Worker) bool { return w.Retain == registry.RetainNone && w.Gone() })
	return ws, warnings, nil
}

func (h *Host) observe(ctx context.Context, recs []registry.Record) []Worker {
	ws := make([]Worker, len(recs))
	for i, r := range recs {
		ws[i] = worker.Of(r)
		if r.State == registry.Starting {
			ws[i].Status = StatusStarting
			if !h.dir.Locked(r.ID) {
				ws[i].Reason = history.ReasonInterrupted
			}
		}
	}
	backend.Each(h.plugins.Groups(recs, registry.Record.IsRunning), func(g *backend.Group) {
		for i, s := range h.plugins.Statuses(ctx, g) {
			ws[g.At[i]].Apply(s)
			ws[g.At[i]].Can = g.Can
		}
	})
	return ws
}
