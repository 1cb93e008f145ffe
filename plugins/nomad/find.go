package nomad

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// findLimit is how long Find waits for a job: that of a Spawn whose plugin was
// killed may be on its way.
const findLimit = time.Second

// Find returns the worker that was spawned with that id, as long as Nomad has its
// job.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	limited, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	name := jobPrefix + l.Name
	var index uint64
	for {
		q := b.query(limited, b.at)
		q.Prefix, q.WaitIndex, q.WaitTime = name, index, findLimit
		jobs, meta, err := b.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, q)
		switch {
		case err != nil && limited.Err() != nil && ctx.Err() == nil:
			return swarm.Handle{}, fmt.Errorf("%w: nomad worker %s", swarm.ErrNotFound, l.ID)
		case err != nil:
			return swarm.Handle{}, b.tell(ctx, "look for the worker", err)
		}
		index = meta.LastIndex
		for _, j := range jobs {
			if r, _, ok := refOf(b.at, j.ID, j.Meta); ok && j.ID == name && r.ID == l.ID {
				return r.encode()
			}
		}
	}
}
