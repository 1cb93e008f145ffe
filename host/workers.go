package host

import (
	"context"
	"errors"
	"slices"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// Workers returns the selected workers as they are now. A selection without
// names, All and Tag means all. An unknown name is an [ErrNotFound], and nothing
// else is returned then. Records that can't be read are left out and named in
// warnings. A backend that can't be asked makes its own workers
// [StatusUnknown].
func (h *Host) Workers(ctx context.Context, sel worker.Selection) (ws []worker.Worker, warnings []string, err error) {
	recs, warnings, err := h.roster.See(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	if sel.States {
		_ = h.Display().Profiled(recs) // read now, while the plugin starts, and not after its answer
	}
	ws = h.roster.Observe(ctx, recs)
	if sel.States {
		h.Display().Look(ctx, recs, ws)
	}
	if errors.Is(ctx.Err(), context.Canceled) { // the interruption says nothing about the workers
		return nil, warnings, ctx.Err()
	}
	for i, w := range ws {
		// Its record goes with its end, which is not recorded yet.
		if recs[i].IsEphemeral() && w.Gone() && len(sel.Names) > 0 {
			return nil, warnings, &store.NotFoundError{Name: w.Name}
		}
	}
	ws = slices.DeleteFunc(ws, func(w worker.Worker) bool { return w.Retain == registry.RetainNone && w.Gone() })
	return ws, warnings, nil
}

// Settled returns a worker as it is once the spawn of it, if one is under way in
// another process, has ended. A worker whose spawn failed is an [ErrNotFound], as
// one that never was.
func (h *Host) Settled(ctx context.Context, name string) (worker.Worker, error) {
	recs, _, err := h.roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return worker.Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = h.settler.Settled(ctx, rec); err != nil {
			return worker.Worker{}, err
		}
	}
	return h.roster.Observe(ctx, []registry.Record{rec})[0], nil
}

// Declared returns the workers that the config file of a project declared when they were
// spawned, as they are recorded: no backend is asked how they are.
func (h *Host) Declared(ctx context.Context, project string) ([]worker.Worker, error) {
	recs, _, err := h.roster.See(ctx, worker.Selection{All: true})
	if err != nil {
		return nil, err
	}
	var ws []worker.Worker
	for _, r := range recs {
		if r.Project == project {
			ws = append(ws, worker.Of(r))
		}
	}
	return ws, nil
}

// Questions returns the open questions of agents, the oldest first, see
// [question.Reader.Open]. The selection is as for [Host.Workers].
func (h *Host) Questions(ctx context.Context, sel worker.Selection) (open []question.Question, warnings []string, err error) {
	recs, warnings, err := h.roster.See(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	recs = h.Display().Profiled(recs)
	ws := h.roster.Observe(ctx, recs)
	h.Display().Look(ctx, recs, ws)
	reader := question.Reader{Store: h.store, Input: h.Input(), LeaderAnswers: h.opts.LeaderAnswers}
	open, err = reader.Open(ctx, recs, ws)
	return open, warnings, err
}

// RunsHere reports whether a backend runs its workers on this machine.
func (h *Host) RunsHere(ctx context.Context, name string) (here bool, err error) {
	e, err := h.catalog.Find(name)
	if err != nil {
		return false, err
	}
	err = h.plugins.AskBackend(ctx, e, true, func(p *backend.Peer) error {
		here = p.Local
		return nil
	})
	return here, err
}
