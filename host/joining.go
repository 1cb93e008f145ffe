package host

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// join makes known who the worker of a plan is to be, in the change that enters its
// record: an agent may call before its spawn is over.
func (p *plan) join(ctx context.Context, tx *registry.Tx) (err error) {
	rec, now := &p.rec, time.Now()
	if p.place != "" {
		if err := team.Moved(ctx, tx, p.place, rec.ID); err != nil {
			return err
		}
	}
	switch {
	case p.joining != nil:
		_, p.warning, err = team.Join(ctx, tx, *p.joining, rec.ID, rec.Name, caller.HashToken(p.token), now)
	case rec.Agent != "":
		err = team.Rejoin(ctx, tx, rec.Agent, rec.ID, rec.Name, caller.HashToken(p.token), now)
	case rec.Team != "":
		_, err = team.Get(ctx, tx, rec.Team)
	}
	return err
}
