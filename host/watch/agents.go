package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/warn"
)

// agents records the states of the agents of all teams. It works concurrently with the loop,
// since it asks backends and may end the server of a team.
func (w *watchRun) agents(ctx context.Context) {
	if w.sweeping {
		return
	}
	w.sweeping = true
	w.aside(ctx, func() func() {
		warnings, err := w.Sweeper.Sweep(ctx, "")
		w.Notifier.Wake(ctx, "") // notifiers wait for some time only
		return func() {
			w.sweeping, w.sweep = false, time.Time{}
			if err != nil && ctx.Err() == nil {
				warnings = append(warnings, fmt.Sprintf("cannot supervise agents: %v", err))
			}
			w.warn(aboutAgents, warnings...)
			w.expectAgents(ctx)
		}
	})
}

// expectAgents schedules the next sweep if there are agents: no event reports their
// silence.
func (w *watchRun) expectAgents(ctx context.Context) {
	some, err := w.Liveness.Any(ctx)
	if some || err != nil {
		w.sweep = time.Now().Add(sweepEvery)
	}
}

func (w *watchRun) looks(ctx context.Context) {
	if w.looking {
		return
	}
	w.looking = true
	reg := w.reg
	w.aside(ctx, func() func() {
		recs, _, err := reg.Read(ctx, registry.Query{State: registry.Running})
		if err == nil {
			recs = w.Display.Profiled(recs)
			if len(recs) > 0 {
				err = w.reportStates(ctx, reg, recs)
			}
		}
		return func() {
			w.looking, w.look = false, time.Time{}
			if ctx.Err() == nil {
				warn.If(w.Logger, err, "the states of agents can't be recorded")
			}
			if len(recs) > 0 {
				w.look = time.Now().Add(lookEvery)
			}
		}
	})
}
