package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *fakeBackend) Stats(_ context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(hs))
	for i, h := range hs {
		w, err := b.living(h)
		if results[i].Err = err; err == nil && b.onStats != nil {
			results[i].Stats = b.onStats(w)
		}
	}
	return results, nil
}

// CPUTimes leaves out what the host may not use then.
func (b *fakeBackend) CPUTimes(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results, err := b.Stats(ctx, hs)
	for i := range results {
		if s := &results[i].Stats; s.CPUTime != nil {
			*s = swarm.Stats{Time: s.Time, Usage: swarm.Usage{CPUTime: s.CPUTime}}
		}
	}
	return results, err
}
