package host

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
)

// Collect does once what [Host.Watch] does as it goes, see [watch.Watcher.Collect].
func (h *Host) Collect(ctx context.Context) (watch.Collected, error) { return h.watcher().Collect(ctx) }

// Watch records the ends of workers as they happen, see [watch.Watcher.Watch].
func (h *Host) Watch(ctx context.Context, req watch.Request) error {
	return h.watcher().Watch(ctx, req)
}

func (h *Host) watcher() *watch.Watcher {
	return watch.New(watch.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Logger: h.log,
		Settle:     h.settled,
		Kill:       h.killDisowned,
		SweepTeams: func(ctx context.Context) ([]string, error) { return h.SweepTeam(ctx, "") },
		TeamsLive:  h.liveness().Any,
		Wake:       func(ctx context.Context) { h.Wake(ctx, "") },
		Profiled:   h.display().Profiled,
		TellStates: h.display().Tell,
	})
}

// killDisowned kills a worker whose owner has ended. A worker that is gone is not an error.
func (h *Host) killDisowned(ctx context.Context, r registry.Record) (killed bool, err error) {
	outs, err := h.Kill(ctx, Selection{Names: []string{r.ID}}, KillRequest{Allowed: true})
	for _, out := range outs {
		if err = out.Err; err == nil && !out.Result.AlreadyEnded {
			killed = true
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return killed, err
}
