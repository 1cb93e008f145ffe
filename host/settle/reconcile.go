package settle

import (
	"context"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/warn"
)

// reconcileLimit is how long a call may spend on what others left behind.
const reconcileLimit = 10 * time.Second

// Reconcile records the journal entries of shims since the last changing call, and tidies
// up. Its cost does not depend on the number of workers. It runs concurrently with the main work,
// which it neither delays nor makes fail. busy are the workers that the call itself is
// about.
//
// A killed shim makes no entry, and neither does a worker without a shim: package watch
// finds their ends, and so do calls on them.
func (s *Settler) Reconcile(ctx context.Context, reg *registry.Registry, busy func(id string) bool) {
	ctx, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	warn.If(s.Logger, s.History.Drain(ctx, reg, busy), "the events of workers can't be recorded")
	s.tidy(ctx, reg, busy)
}

// tidy removes expired workers and the run directories of removed ones, and records the
// ends of agents whose workers are gone. busy is as in [Settler.Reconcile].
func (s *Settler) tidy(ctx context.Context, reg *registry.Registry, busy func(id string) bool) {
	_, _, err := s.History.Expire(ctx, reg, time.Now())
	warn.If(s.Logger, err, "expired workers can't be removed")
	_, err = s.History.DropRunDirs(ctx, reg)
	warn.If(s.Logger, err, "run directories can't be removed")
	stranded, err := reg.AnyStranded(ctx)
	if stranded {
		err = s.Liveness.EndGone(ctx, busy)
	}
	warn.If(s.Logger, err, "the ends of agents can't be recorded")
}

// WithoutEnded writes the ends of the ephemeral workers among recs that have ended and
// whose end is not recorded yet, and leaves them out: they are gone. If the workers were
// named, the first of those is a [store.NotFoundError].
func (s *Settler) WithoutEnded(ctx context.Context, recs []registry.Record, named bool) ([]registry.Record, error) {
	gs := s.Plugins.Groups(recs, func(r registry.Record) bool {
		return r.State == registry.Running && r.IsEphemeral() && s.History.Stale(&r)
	})
	if len(gs) == 0 {
		return recs, nil
	}
	reg, err := s.Store.ToWrite(ctx)
	if err != nil {
		warn.If(s.Logger, err, "the ends of workers can't be recorded")
		return recs, nil // the caller does not need it
	}
	var gone []registry.Record
	for _, g := range gs {
		published, err := s.History.CatchUp(ctx, reg, g)
		warn.If(s.Logger, err, "the ends of workers can't be recorded", "backend", g.Name)
		for _, t := range published {
			// A worker that has completed may still run, and can be killed.
			if t.Removed && t.Record.State == registry.Stopped {
				gone = append(gone, t.Record)
			}
		}
	}
	if len(gone) > 0 && named {
		return nil, &store.NotFoundError{Name: gone[0].Name}
	}
	s.tidy(ctx, reg, func(id string) bool { return registry.IndexOf(recs, id) >= 0 })
	return slices.DeleteFunc(recs, func(r registry.Record) bool { return registry.IndexOf(gone, r.ID) >= 0 }), nil
}
