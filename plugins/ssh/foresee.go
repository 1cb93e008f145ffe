package ssh

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// CheckSpawn implements [swarm.SpawnChecker]: it asks the host of the new worker.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	config, spec, err := b.farSpec(c.Spec)
	if err != nil {
		return err
	}
	// Workers over there share no names.
	far := swarm.SpawnCheck{Spec: spec, NoWorkspace: c.NoWorkspace}
	l := b.link(config.Host)
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) { return none, s.backend.CheckSpawn(ctx, far) })
	return on(l, err)
}

// CheckCreate implements [swarm.WorkspaceChecker]: it asks the host of the new worktree.
func (b *Backend) CheckCreate(ctx context.Context, c swarm.WorkspaceCheck) error {
	config, err := b.config.with(c.Spec.Options)
	if err != nil {
		return err
	}
	c.Spec.Options = nil
	if c.Removed != nil && c.Removed.Host != config.Host {
		c.Removed = nil
	}
	l := b.link(config.Host)
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) { return none, s.workspace.CheckCreate(ctx, c) })
	return on(l, err)
}
