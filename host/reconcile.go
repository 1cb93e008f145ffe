package host

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// catchUp asks a backend for workers of its and records what is new.
func (h *Host) catchUp(ctx context.Context, reg *registry.Registry, g *backend.Group) ([]told, error) {
	var all []news
	for i, r := range h.plugins.Statuses(ctx, g) {
		if r.Err == nil && isNews(&g.Recs[i], r.Status) {
			all = append(all, h.newsOf(ctx, g.Recs[i], r.Status))
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return h.publish(ctx, reg, all)
}

// stirred looks into the run directory of a worker that is recorded as running
// and reports whether its backend has to be asked: it may have ended, or
// something may have happened to it. Those that plainly run are most.
func (h *Host) stirred(rec *registry.Record) bool {
	s, err := statedir.ReadStatus(h.dir.RunDir(rec.ID))
	return err != nil || s.State != rundir.StateRunning || s.Restarts > rec.Restarts ||
		s.Completion != nil && rec.Completion == nil || !shim.IsKept(h.dir.RunDir(rec.ID), s)
}

func (h *Host) warnIf(err error, message string, pairs ...any) {
	if err != nil {
		h.log.Warn(message, append(pairs, "error", err)...)
	}
}

// newsOf gathers what is told of a worker.
func (h *Host) newsOf(ctx context.Context, rec registry.Record, s swarm.Status) news {
	n := news{rec: rec, status: s}
	if s.Exit != nil && s.Exit.Cause == swarm.CauseCrashLoop && rec.State == registry.Running {
		n.lines = h.lastLines(ctx, rec)
	}
	return n
}
