package backendtest

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *broken) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	c.Replaces = b.in(c.Replaces)
	err := b.Backend.CheckSpawn(ctx, c)
	if b.hooks.foresee != nil {
		return b.hooks.foresee(b, c, err)
	}
	return err
}

// foreseeWays are the ways to break the rules of CheckSpawn.
func foreseeWays() map[string]hooks {
	return map[string]hooks{
		"check-spawn": {foresee: func(b *broken, c swarm.SpawnCheck, err error) error {
			if err == nil && c.Replaces.IsZero() {
				_, _ = b.Backend.Spawn(context.Background(), c.Spec)
			}
			return err
		}},
		"check-spawn-refuses": {foresee: func(*broken, swarm.SpawnCheck, error) error { return nil }},
		"check-spawn-replaces": {foresee: func(b *broken, c swarm.SpawnCheck, err error) error {
			if !c.Replaces.IsZero() {
				_, _ = b.Backend.Kill(context.Background(), c.Replaces, gentle())
			}
			return err
		}},
	}
}
