package host

import (
	"context"
	"reflect"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// reconcile writes down what happened unseen to workers of a backend that the
// call starts anyway, and tidies up. It is done beside the main work, which it
// neither delays nor makes fail. busy says which workers the call itself is about.
func (h *Host) reconcile(ctx context.Context, reg *registry.Registry, e catalog.Entry, backend string, busy func(id string) bool) {
	ctx, cancel := context.WithTimeout(ctx, recoverLimit)
	defer cancel()
	recs, _, err := reg.Read(ctx, registry.Query{State: registry.Running, Backend: backend})
	if err != nil {
		h.log.Warn("what happened to workers can't be looked up", "backend", backend, "error", err)
		return
	}
	gs := h.groups(recs, func(r registry.Record) bool { return !busy(r.ID) && h.stirred(&r) })
	for _, g := range gs {
		// A plugin that is configured otherwise is another one.
		if g.err == nil && reflect.DeepEqual(g.entry, e) {
			_, err := h.catchUp(ctx, reg, g)
			h.warnIf(err, "what happened to workers can't be recorded", "backend", backend)
		}
	}
	h.tidy(ctx, reg, busy)
}

// catchUp asks a backend for its workers and records what is new.
func (h *Host) catchUp(ctx context.Context, reg *registry.Registry, g *group) ([]told, error) {
	var all []news
	for i, r := range h.statuses(ctx, g) {
		if r.Err == nil && isNews(&g.recs[i], r.Status) {
			all = append(all, h.newsOf(ctx, g.recs[i], r.Status))
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
	s, err := readStatus(h.runDir(rec.ID))
	return err != nil || s.State != rundir.StateRunning || s.Restarts > rec.Restarts ||
		s.Completion != nil && rec.Completion == nil || !s.Shim.Alive()
}

// tidy removes what is kept for a time only, and directories that could not go
// with their records, and sees to agents whose workers a crash has cost. busy is as
// in reconcile.
func (h *Host) tidy(ctx context.Context, reg *registry.Registry, busy func(id string) bool) {
	_, _, err := h.expire(ctx, reg, time.Now())
	h.warnIf(err, "workers whose time is over can't be removed")
	_, err = h.dropRunDirs(ctx, reg)
	h.warnIf(err, "run directories can't be removed")
	_, err = h.sweepAgents(ctx, "", func(id string, s team.Signs) bool { return s.Gone && !busy(id) })
	h.warnIf(err, "what became of agents can't be recorded")
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
