package spawn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// foreseeLimit is how long the plugins may take to find out whether they can work.
const foreseeLimit = 30 * time.Second

// foresee returns the error with which the new worker would fail to start, as far as that can
// be found out while the old one still runs: whether the backend and its engine answer, whether the
// workspace could be made, and whether the backend could start the worker.
func (r *respawnRun) foresee(ctx context.Context) error {
	p := r.plan
	ctx, cancel := p.owner.Within(ctx, foreseeLimit)
	defer cancel()
	if p.owner.Report != nil && p.owner.Has(swarm.CapCheck) {
		if _, err := p.owner.Report(ctx); err != nil {
			return fmt.Errorf("backend '%s': %w", p.rec.Backend, err)
		}
	}
	if err := r.foreseeWorkspace(ctx); err != nil {
		return err
	}
	if err := p.exchanged(); err != nil {
		return err
	}
	// A backend whose workers have shims keeps their raw output.
	hasShims := p.owner.Local && p.owner.Has(swarm.CapTranscript)
	if !p.owner.Has(swarm.CapCheckSpawn) && !hasShims {
		return nil
	}
	spec, err := r.spec(p)
	if err != nil {
		return err
	}
	c := swarm.SpawnCheck{Spec: spec, NoWorkspace: p.makesWorkspace()}
	if r.old.Backend == p.rec.Backend {
		c.Replaces = r.old.Handle
	}
	if !p.owner.Has(swarm.CapCheckSpawn) {
		return client.CheckSpawn(c)
	}
	return late(ctx, p.rec.Backend, p.owner.Backend.CheckSpawn(ctx, c))
}

// foreseeWorkspace is foresee for the workspace that has to be made for the new worker.
func (r *respawnRun) foreseeWorkspace(ctx context.Context) error {
	p := r.plan
	if !p.makesWorkspace() || p.maker == nil {
		return nil
	}
	if p.maker != p.owner && p.maker.Report != nil && p.maker.Has(swarm.CapCheck) {
		if _, err := p.maker.Report(ctx); err != nil {
			return fmt.Errorf("plugin '%s': %w", p.rec.Ask.Plugin, err)
		}
	}
	if !p.maker.Has(swarm.CapCheckCreate) {
		return nil
	}
	c := swarm.WorkspaceCheck{Spec: backend.WorkspaceSpec(&p.rec)}
	if r.req.CleanFirst {
		c.Removed = r.old.Workspace
	}
	return late(ctx, p.maker.Name, p.maker.Workspace.CheckCreate(ctx, c))
}

// late says that a plugin has not answered a check in time.
func late(ctx context.Context, plugin string, err error) error {
	if ranOut(ctx, err) {
		return fmt.Errorf("%w: plugin '%s' did not find out within %s whether the worker can be started", swarm.ErrUnavailable, plugin, foreseeLimit)
	}
	return err
}

// engineAnswers returns an error if the engine that shows the screen of the old worker does not
// answer, such as a tmux server that hangs: it would not start the new worker either. It
// does not ask an engine that the new worker does not use, or whose backend was asked whether it
// could start the worker.
func (r *respawnRun) engineAnswers(ctx context.Context) error {
	owner := r.plan.owner
	if r.old.Backend != r.plan.rec.Backend || !maps.Equal(r.old.Options, r.plan.rec.Options) || !owner.Has(swarm.CapScreen) ||
		owner.Has(swarm.CapCheckSpawn) {
		return nil
	}
	ctx, cancel := owner.Within(ctx, foreseeLimit)
	defer cancel()
	_, err := owner.Backend.Screen(ctx, r.old.Handle, swarm.ScreenOptions{})
	if errors.Is(err, swarm.ErrUnavailable) {
		return fmt.Errorf("backend '%s': %s", r.old.Backend, errtext.Without(err, swarm.ErrUnavailable))
	}
	return nil // all else is for the start to find out
}
