package backendtest

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// statsHook changes what is answered for all handles.
type statsHook func(results []swarm.StatsResult) ([]swarm.StatsResult, error)

func (b *broken) Stats(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	in := make([]swarm.Handle, len(hs))
	for i, h := range hs {
		in[i] = b.in(h)
	}
	results, err := b.Backend.Stats(ctx, in)
	if err == nil && b.hooks.stats != nil {
		return b.hooks.stats(results)
	}
	return results, err
}

// onStats changes each answer.
func onStats(f func(*swarm.StatsResult)) hooks {
	return hooks{stats: func(results []swarm.StatsResult) ([]swarm.StatsResult, error) {
		for i := range results {
			f(&results[i])
		}
		return results, nil
	}}
}

// statsWays are the ways to break the rules of measuring.
func statsWays() map[string]hooks {
	return map[string]hooks{
		"stats-of-a-running-worker": onStats(func(r *swarm.StatsResult) { r.Stats.Time = time.Time{} }),
		// The time of an exited child is forgotten.
		"stats-cpu-time": onStats(func(r *swarm.StatsResult) { r.Stats.CPUTime = new(time.Duration) }),
		"stats-memory": onStats(func(r *swarm.StatsResult) {
			if m := r.Stats.Memory; m != nil {
				r.Stats.Peak = new(*m / 2)
			}
		}),
		"stats-after-the-end": {stats: func(results []swarm.StatsResult) ([]swarm.StatsResult, error) {
			if len(results) == 1 && errors.Is(results[0].Err, swarm.ErrNotFound) {
				results[0].Err = nil
			}
			return results, nil
		}},
		"stats-bad-handle": {stats: func(results []swarm.StatsResult) ([]swarm.StatsResult, error) {
			if len(results) == 1 && errors.Is(results[0].Err, swarm.ErrInvalidHandle) {
				results[0].Err = swarm.ErrNotFound
			}
			return results, nil
		}},
		"stats-in-order": {stats: func(results []swarm.StatsResult) ([]swarm.StatsResult, error) {
			if len(results) > 1 {
				results[0], results[1] = results[1], results[0]
			}
			return results, nil
		}},
		"stats-of-none": {stats: func(results []swarm.StatsResult) ([]swarm.StatsResult, error) {
			if len(results) == 0 {
				return nil, errBroken
			}
			return results, nil
		}},
	}
}
