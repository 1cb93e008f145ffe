package nomad

import (
	"context"
	"errors"
	"net/url"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// CheckSpawn implements [swarm.SpawnChecker]. Nomad plans the job, and carries out nothing.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	j, r, err := b.config.newJob(b.at, c.Spec)
	if err != nil {
		return err
	}
	old, replaced := ref{}, false
	if h, err := decode(c.Replaces); err == nil {
		old, replaced = h, true
	}
	known, err := b.info(ctx, r.place, r.Job)
	switch {
	case errors.Is(err, swarm.ErrNotFound):
	case err != nil:
		return err
	default:
		theirs, _, ours := refOf(r.place, *known.ID, known.Meta)
		if !ours {
			return b.foreign(r)
		}
		if *known.Status != jobDead && (!replaced || theirs.ID != old.ID || theirs.place != old.place) {
			return b.taken(r)
		}
	}
	if replaced && (old.place != r.place || old.Job != r.Job) {
		return nil // the plan would not know what the old worker leaves free
	}
	var plan api.JobPlanResponse
	req := struct{ Job job }{j}
	if _, err := b.client.Raw().Write("/v1/job/"+url.PathEscape(r.Job)+"/plan", req, &plan, b.write(ctx, r.place)); err != nil {
		return b.tell(ctx, "plan the job", err)
	}
	if m := plan.FailedTGAllocs[r.ID]; m != nil {
		return noNode(m)
	}
	return nil
}
