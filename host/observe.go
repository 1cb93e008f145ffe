package host

import (
	"context"
	"errors"
	"slices"

	"github.com/swarmhost/swarm/host/registry"
)

// Workers returns the selected workers as they are now. A selection without
// names, All and Tag means all. An unknown name is an [ErrNotFound], and nothing
// else is returned then. Records that can't be read are left out and named in
// warnings. A backend that can't be asked makes its own workers
// [StatusUnknown].
func (h *Host) Workers(ctx context.Context, sel Selection) (ws []Worker, warnings []string, err error) {
	recs, warnings, err := h.roster.See(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	if sel.States {
		_ = h.display().Profiled(recs) // read now, while the plugin starts, and not after its answer
	}
	ws = h.roster.Observe(ctx, recs)
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

// ByAgent returns the selection with the worker of an agent in place of each name that
// no worker has and the agent does, see [store.Store.ByAgent].
func (h *Host) ByAgent(ctx context.Context, sel Selection) (Selection, error) {
	names, err := h.store.ByAgent(ctx, sel.Names)
	sel.Names = names
	return sel, err
}
