package ssh

import (
	"context"
	"errors"
	"sync"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Sweep removes what workers on terminals shared. If an ended worker has no run directory on this
// machine any more, Sweep also removes what such workers of this state directory have left on its
// host: their records are gone.
func (b *Backend) Sweep(ctx context.Context, ended, running []swarm.Handle) (warnings []string, err error) {
	type group struct {
		ended, running []swarm.Handle
		drops          bool
	}
	groups := make(map[*link]*group)
	for _, h := range ended {
		r, l, _, err := b.of(h)
		if err != nil {
			continue
		}
		far, drops, err := b.dropped(r)
		if err != nil {
			continue
		}
		if groups[l] == nil {
			groups[l] = new(group)
		}
		groups[l].ended, groups[l].drops = append(groups[l].ended, far), groups[l].drops || drops
	}
	for _, h := range running {
		if _, l, far, err := b.of(h); err == nil && groups[l] != nil {
			groups[l].running = append(groups[l].running, far)
		}
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for l, g := range groups {
		asking.Go(func() {
			lines, failed := again(ctx, l, func(s *session) ([]string, error) {
				ended := g.ended
				if g.drops {
					// A worker that can't be read now is left to the next sweep. Without a
					// connection this one fails below.
					_ = s.backend.List(ctx, func(listed swarm.Listed) error {
						ended = append(ended, b.left(l.client.host, listed)...)
						return nil
					})
				}
				return s.backend.Sweep(ctx, ended, g.running)
			})
			mu.Lock()
			defer mu.Unlock()
			warnings, err = append(warnings, lines...), errors.Join(err, on(l, failed))
		})
	}
	asking.Wait()
	return warnings, err
}

// dropped returns the handle of a worker for a Sweep over there, and whether that is to
// remove what it has left.
func (b *Backend) dropped(r ref) (far swarm.Handle, drops bool, err error) {
	id, err := r.Worker.ID()
	if err != nil {
		return swarm.Handle{}, false, err
	}
	r.Worker.Drop = b.control.forgotten(id)
	far, err = r.far()
	return far, r.Worker.Drop != "", err
}

// left returns the handle of a worker of this state directory that a host lists, if its record
// is gone.
func (b *Backend) left(host string, listed swarm.Listed) []swarm.Handle {
	w, err := remote.Decode(listed.Handle)
	if err != nil || listed.Status.State.Active() {
		return nil
	}
	far, drops, err := b.dropped(ref{Host: host, Worker: w})
	if err != nil || !drops || listed.Spec.Options[remote.OptionOwner] != b.control.forgotten(listed.Spec.ID) {
		return nil
	}
	return []swarm.Handle{far}
}
