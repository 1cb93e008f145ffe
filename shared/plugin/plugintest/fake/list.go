package fake

import (
	"context"
	"maps"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

// List implements [swarm.Lister].
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	b.engine.mu.Lock()
	workers := slices.Collect(maps.Values(b.engine.workers))
	b.engine.mu.Unlock()
	for _, w := range workers {
		if err := ctx.Err(); err != nil {
			return err
		}
		spec := w.spec
		spec.Env, spec.Owner, spec.Local = nil, nil, nil
		st := w.status()
		if err := each(swarm.Listed{Spec: spec, Handle: handle(spec.ID), Created: w.created, Status: st}); err != nil {
			return err
		}
	}
	return nil
}
