package fake

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

const defaultSignal = "SIGTERM"

// Kill implements [swarm.Backend].
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	w, err := b.worker(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	if o.Signal, err = swarm.ParseSignal(cmp.Or(o.Signal, defaultSignal)); err != nil {
		return swarm.KillResult{}, err
	}
	select {
	case <-w.done:
		return swarm.KillResult{Status: w.status(), AlreadyEnded: true}, nil
	default:
	}
	w.underWay(1)
	w.signal(o.Signal, swarm.CauseKilled)
	if o.Detach {
		// The engine continues by itself, independent of any context.
		go func() {
			defer w.underWay(-1)
			_, _ = w.finish(context.WithoutCancel(ctx), o)
		}()
		return swarm.KillResult{Status: w.status(), Signal: o.Signal}, nil
	}
	defer w.underWay(-1)
	return w.finish(ctx, o)
}

func (w *worker) underWay(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kills += n
}

// finish waits for the grace and forces the end of processes that are still alive.
func (w *worker) finish(ctx context.Context, o swarm.KillOptions) (swarm.KillResult, error) {
	r := swarm.KillResult{Signal: o.Signal}
	grace := time.NewTimer(o.Grace)
	defer grace.Stop()
	select {
	case <-w.done:
		r.Status = w.status()
		return r, nil
	case <-ctx.Done():
		return swarm.KillResult{}, ctx.Err()
	case <-grace.C:
	}
	if o.Force {
		r.Forced = w.end(swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled})
		r.Status = w.status()
		return r, nil
	}
	r.Status = w.status()
	if r.Status.State == swarm.StateExited {
		return r, nil
	}
	r.Survivors = []swarm.Process{{PID: w.pid, Name: w.spec.Command[0]}}
	return r, fmt.Errorf("worker '%s': %d (%s) %w", w.spec.Name, w.pid, w.spec.Command[0], swarm.ErrSurvivors)
}
