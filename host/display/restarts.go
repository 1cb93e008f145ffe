package display

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// afterOutput is how long a restart is reported after its worker's end: the last output
// comes another way, and should be there first.
const afterOutput = 100 * time.Millisecond

// watchRestarts calls each with a line such as "exited 3, restarting in 1s (1 of 5)" whenever
// a worker that its policy restarts waits for its next start, until ctx ends or the worker
// has. A backend that does not report changes reports none of these either.
func (d *Reader) watchRestarts(ctx context.Context, rec registry.Record, each func(text string)) {
	if rec.Handle.IsZero() {
		return
	}
	reported := -1
	_ = d.Plugins.AskOwner(ctx, &rec, true, func(p *backend.Peer) error {
		if !p.Has(swarm.CapWatch) {
			return nil
		}
		return p.Backend.WatchBatch(ctx, []swarm.Handle{rec.Handle}, func(_ int, s swarm.Status, err error) {
			text := RestartText(s, rec.Restart, time.Now())
			if err != nil || text == "" || s.Restarts == reported {
				return
			}
			reported = s.Restarts
			select {
			case <-ctx.Done():
			case <-time.After(afterOutput):
				each(text)
			}
		})
	})
}

// RestartText says how a worker ended that waits for its next start, and which start of how
// many within the window of its policy that is; empty if it does not wait.
func RestartText(s swarm.Status, policy swarm.Restart, now time.Time) string {
	pause, why, ok := strings.Cut(strings.TrimSuffix(s.Reason, ")"), " (")
	if !ok || s.State != swarm.StateRunning || !strings.HasPrefix(pause, "restarting in ") {
		return ""
	}
	if code, ok := strings.CutPrefix(why, "exit status "); ok {
		why = "exited " + code
	} else if signal, ok := strings.CutPrefix(why, "signal "); ok {
		why = "killed " + signal
	}
	text := why + ", " + pause
	policy = policy.OrDefault()
	recent := 0
	for _, r := range s.LastRestarts {
		if now.Sub(r.Time) <= policy.Window {
			recent++
		}
	}
	if recent == swarm.MaxRestarts && s.Restarts > recent {
		return text // there may have been more
	}
	return fmt.Sprintf("%s (%d of %d)", text, recent+1, policy.Budget)
}
