package nomad

import (
	"context"
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Signal signals the worker's main process: Nomad signals no other, whatever the
// mode.
func (b *Backend) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	r, err := decode(h)
	if err != nil {
		return err
	}
	name, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return err
	}
	s, err := b.look(ctx, r.place, r.Job, 0)
	if err != nil {
		return err
	}
	st := b.statusIn(ctx, s, r)
	switch a := s.allocs[r.ID]; {
	case isOver(st):
		return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	case a == nil || a.ClientStatus != api.AllocClientStatusRunning:
		return fmt.Errorf("%w: %s", swarm.ErrUnavailable, st.Reason)
	default:
		return b.signal(ctx, r, a.ID, name)
	}
}
