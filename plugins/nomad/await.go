package nomad

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// awaitEnd waits for the end of a worker, for so long at most, and returns its
// status then.
func (b *Backend) awaitEnd(ctx context.Context, r ref, limit time.Duration) (swarm.Status, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var index uint64
	var last swarm.Status
	for {
		s, err := b.look(limited, r.place, r.Job, index)
		if err != nil {
			if ctx.Err() == nil && limited.Err() != nil {
				if last.State == swarm.StateUnknown {
					return b.status(ctx, r)
				}
				return last, nil
			}
			return swarm.Status{}, err
		}
		index = s.index
		if last = b.statusIn(ctx, s, r); last.State != swarm.StateRunning {
			return last, nil
		}
	}
}
